"""Host functions: bound, missing, failing, called ahead of time, and answering later."""

from __future__ import annotations

import pytest
from tests.unit.ink.runtime.ink_support import compiled, play, start, texts

from fabula.ink import DivertTarget, InkExternalError, InkRuntimeError, InkUsageError, Story, Suspend

ASKS = """
EXTERNAL ask(question)
VAR answer = ""
Before.
The answer is {ask("why")}, he said.
~ answer = ask("how")
And {answer}.
* [Go] gone
- -> END
"""


def test_a_bound_function_gets_values_and_gives_one() -> None:
    story = start("EXTERNAL f(a, b, c)\n{f(1, 2.0, -> k)}\n-> END\n=== k\n-> END\n")
    calls: list[tuple[object, ...]] = []
    story.bind_external("f", lambda *args: calls.append(args) or "told")  # type: ignore[func-returns-value]
    assert story.continue_() == "told\n"
    assert calls == [(1, 2.0, DivertTarget("k"))]


def test_a_function_may_give_nothing() -> None:
    story = start("EXTERNAL f()\n~ f()\nText.\n-> END\n")
    story.bind_external("f", lambda: None)
    assert story.continue_maximally() == "Text.\n"


def test_an_unbound_function_is_named_before_the_story_starts() -> None:
    with pytest.raises(InkExternalError, match="ask"):
        start(ASKS).continue_()


def test_an_ink_function_is_the_fallback() -> None:
    source = "EXTERNAL f(x)\n{f(2)}\n-> END\n=== function f(x)\n~ return x * 10\n"
    assert start(source).continue_() == "20\n"
    with pytest.raises(InkExternalError):
        Story(compiled(source), allow_external_fallbacks=False).continue_()


def test_a_failing_function_leaves_the_story_before_that_line() -> None:
    story = start("EXTERNAL f()\nVAR n = 0\nOne.\n~ n = 1\n{f()}\n-> END\n")
    story.bind_external("f", lambda: 1 // 0)
    assert story.continue_() == "One.\n"
    before = story.state_json()
    with pytest.raises(InkExternalError) as failure:
        story.continue_()
    assert isinstance(failure.value.__cause__, ZeroDivisionError)
    assert story.state_json() == before
    story.unbind_external("f")
    story.bind_external("f", lambda: "better")
    assert story.continue_() == "better\n"


def test_a_foreign_answer_is_refused() -> None:
    story = start("EXTERNAL f()\n{f()}\n-> END\n")
    story.bind_external("f", lambda: object())
    with pytest.raises(InkExternalError, match="object"):
        story.continue_()


def test_an_unsafe_function_is_not_called_ahead_of_its_line() -> None:
    calls: list[int] = []
    for safe, after_first_line in ((False, 0), (True, 1)):
        calls.clear()
        story = start("EXTERNAL f()\nOne.\n~ f()\nTwo.\n-> END\n")
        story.bind_external("f", lambda: calls.append(1), lookahead_safe=safe)
        story.continue_()
        assert len(calls) == after_first_line
        assert story.continue_() == "Two.\n"


def test_an_unsafe_function_is_refused_inside_a_string() -> None:
    story = start('EXTERNAL f()\n~ temp x = "a {f()}"\n{x}\n-> END\n')
    story.bind_external("f", lambda: 1)
    with pytest.raises(InkRuntimeError, match="lookahead_safe"):
        story.continue_()


def test_a_function_is_bound_once_and_unbound_once() -> None:
    story = start("Hi\n")
    story.bind_external("f", print)
    with pytest.raises(InkUsageError):
        story.bind_external("f", print)
    story.unbind_external("f")
    with pytest.raises(InkUsageError):
        story.unbind_external("f")


def test_a_function_may_use_variables_but_not_drive_the_story() -> None:
    story = start("EXTERNAL f()\nVAR n = 1\n{f()} {n}\n-> END\n=== function twice(x)\n~ return x * 2\n")

    def host() -> object:
        story.variables["n"] = 5
        with pytest.raises(InkUsageError):
            story.continue_()
        number = story.variables["n"]
        assert number is not None
        return story.evaluate_function("twice", number)

    story.bind_external("f", host)
    assert story.continue_() == "10 5\n"


def suspending() -> Story:
    story = start(ASKS)
    story.bind_external("ask", lambda question: Suspend({"ask": question}))
    return story


def test_a_function_may_answer_later() -> None:
    story = suspending()
    assert story.continue_() == "Before.\n"
    assert story.continue_() == ""
    assert story.pending_request == {"ask": "why"}
    assert not story.can_continue
    assert story.current_choices == []
    assert story.resume("42") == "The answer is 42, he said.\n"
    assert story.pending_request is None
    assert story.continue_() == ""
    assert story.resume("so") == "And so.\n"
    assert texts(story) == ["Go"]


def test_a_waiting_story_can_be_saved_and_loaded() -> None:
    story = suspending()
    story.continue_()
    story.continue_()
    again = suspending()
    again.load_state(story.state_json())
    assert again.pending_request == {"ask": "why"}
    assert again.state_json() == story.state_json()
    assert again.resume("later") == "The answer is later, he said.\n"


def test_a_waiting_story_can_be_forked() -> None:
    story = suspending()
    story.continue_maximally()
    assert [story.fork().resume(text) for text in "ab"] == [f"The answer is {text}, he said.\n" for text in "ab"]
    assert story.pending_request == {"ask": "why"}


def test_a_bad_answer_can_be_given_again() -> None:
    story = suspending()
    story.continue_maximally()
    before = story.state_json()
    with pytest.raises(InkExternalError):
        story.resume(object())
    assert story.state_json() == before
    assert story.resume("better") == "The answer is better, he said.\n"


def test_a_waiting_story_refuses_to_go_on_without_an_answer() -> None:
    story = suspending()
    story.continue_maximally()
    with pytest.raises(InkUsageError):
        story.continue_()
    with pytest.raises(InkUsageError):
        story.choose(0)


def test_nothing_can_be_resumed_that_does_not_wait() -> None:
    with pytest.raises(InkUsageError):
        start("Hi\n").resume(1)


def test_a_request_that_is_not_plain_data_cannot_be_saved() -> None:
    story = start(ASKS)
    story.bind_external("ask", lambda question: Suspend(object()))
    story.continue_maximally()
    with pytest.raises(InkUsageError, match="JSON"):
        story.state_json()


def test_going_to_another_path_drops_the_request() -> None:
    source = ASKS + "=== k\nElsewhere.\n-> END\n"
    story = start(source)
    story.bind_external("ask", lambda question: Suspend(question))
    story.continue_maximally()
    story.choose_path("k")
    assert story.pending_request is None
    assert play(story) == "Elsewhere.\n"


def test_a_function_cannot_wait_inside_one_that_the_host_called() -> None:
    story = start("EXTERNAL ask(x)\nHi.\n-> END\n=== function f()\n~ return ask(1)\n")
    story.bind_external("ask", lambda question: Suspend(question))
    with pytest.raises(InkExternalError, match="wait"):
        story.evaluate_function("f")
    assert story.continue_() == "Hi.\n"


def test_a_suspended_call_inside_a_function_keeps_its_white_space_rules_over_a_save() -> None:
    source = "EXTERNAL ask(x)\nHe said {quote()} twice.\n-> END\n=== function quote()\n{ask(1)}\n"
    story = start(source)
    story.bind_external("ask", lambda question: Suspend(question))
    story.continue_()
    again = start(source)
    again.bind_external("ask", print)
    again.load_state(story.state_json())
    assert again.resume("no") == story.resume("no") == "He said no twice.\n"


def test_a_request_may_be_raised_from_deep_inside_the_host() -> None:
    def ask(question: str) -> str:
        raise Suspend(question)

    story = start(ASKS)
    story.bind_external("ask", ask)
    story.continue_maximally()
    assert story.pending_request == "why"
