"""The story as a program sees it: lines, tags, choices, variables, functions, flows."""

from __future__ import annotations

import pytest
from tests.unit.ink.runtime.ink_support import compiled, play, start, texts

from fabula.ink import DivertTarget, InkFormatError, InkList, InkRuntimeError, InkUsageError, Story


def test_lines_come_one_by_one() -> None:
    story = start("One.\nTwo.\n-> END\n")
    assert [story.continue_(), story.continue_()] == ["One.\n", "Two.\n"]
    assert not story.can_continue
    assert story.current_text == "Two.\n"


def test_glue_joins_lines_and_is_waited_for() -> None:
    assert start("One <>\nTwo.\n-> END\n").continue_() == "One Two.\n"


def test_continuing_past_the_end_is_refused() -> None:
    story = start("One.\n-> END\n")
    story.continue_()
    with pytest.raises(InkUsageError):
        story.continue_()


def test_tags_stand_beside_their_line() -> None:
    story = start("# top\nOne. # a # b {1 + 1}\nTwo.\n-> END\n=== k\n# kt\nText\n-> END\n")
    story.continue_()
    assert story.current_tags == ["top", "a", "b 2"]
    story.continue_()
    assert story.current_tags == []
    assert story.global_tags == ["top"]
    assert story.tags_for_path("k") == ["kt"]


def test_tags_of_an_unknown_path_are_refused() -> None:
    with pytest.raises(InkUsageError):
        start("Hi\n").tags_for_path("nowhere")


def test_choices_have_text_index_and_tags() -> None:
    story = start("* A # x\n* [B]\n- -> END\n")
    story.continue_maximally()
    assert [(choice.index, choice.text, choice.tags) for choice in story.current_choices] == [
        (0, "A", ("x",)),
        (1, "B", ()),
    ]


@pytest.mark.parametrize("index", [-1, 2, 99])
def test_a_choice_that_is_not_there_is_refused(index: int) -> None:
    story = start("* A\n* B\n- -> END\n")
    story.continue_maximally()
    with pytest.raises(InkUsageError, match="2 are on offer"):
        story.choose(index)


def test_choices_are_not_shown_while_there_is_text_to_come() -> None:
    story = start("One.\nTwo.\n* A\n- -> END\n")
    story.continue_()
    assert story.current_choices == []


def test_fallback_choices_are_followed_by_themselves() -> None:
    story = start("-> k\n=== k\n* [A] a\n  -> k\n* -> \n  none left\n  -> END\n")
    assert play(story, "A") == "a\nnone left\n"


def test_a_path_can_be_chosen_with_arguments() -> None:
    story = start("Start.\n-> END\n=== k(x, y)\n{x} and {y}\n-> END\n= s\nStitch.\n-> END\n")
    story.choose_path("k", [1, "two"])
    assert story.continue_maximally() == "1 and two\n"
    story.choose_path("k.s")
    assert story.continue_maximally() == "Stitch.\n"


def test_an_unknown_path_is_refused_and_nothing_changes() -> None:
    story = start("* A\n- -> END\n")
    story.continue_maximally()
    with pytest.raises(InkUsageError):
        story.choose_path("nowhere")
    assert texts(story) == ["A"]


def test_variables_are_a_mapping() -> None:
    story = start(
        'VAR n = 1\nVAR f = 1.0\nVAR s = "x"\nVAR b = true\nVAR d = -> k\nLIST L = (a)\n-> k\n=== k\n-> END\n'
    )
    assert dict(story.variables) == {
        "n": 1,
        "f": 1.0,
        "s": "x",
        "b": True,
        "d": DivertTarget("k"),
        "L": InkList({("L", "a"): 1}),
    }
    assert type(story.variables["f"]) is float
    assert type(story.variables["b"]) is bool
    story.variables["n"] = 5
    assert story.variables["n"] == 5
    assert len(story.variables) == 6


def test_variables_refuse_foreign_values_and_names() -> None:
    story = start("VAR n = 1\n")
    with pytest.raises(InkUsageError):
        story.variables["n"] = 2**40
    with pytest.raises(InkUsageError):
        story.variables["n"] = object()  # type: ignore[assignment]
    with pytest.raises(InkUsageError):
        story.variables["m"] = 1
    with pytest.raises(InkUsageError):
        del story.variables["n"]
    with pytest.raises(KeyError):
        story.variables["m"]


def test_observers_hear_of_changes_once_a_line() -> None:
    story = start("VAR n = 1\nVAR m = 1\n~ n = 2\n~ n = 3\nOne.\n~ m = 1\nTwo.\n-> END\n")
    heard: list[object] = []
    stop = story.observe_variable("n", lambda name, value: heard.append((name, value)))
    story.observe_variable("m", lambda name, value: heard.append((name, value)))
    story.continue_maximally()
    assert heard == [("n", 3)]
    story.variables["n"] = 9
    stop()
    story.variables["n"] = 10
    assert heard == [("n", 3), ("n", 9)]


def test_an_unknown_variable_cannot_be_observed() -> None:
    with pytest.raises(InkUsageError):
        start("Hi\n").observe_variable("n", lambda name, value: None)


def test_functions_can_be_called_from_outside() -> None:
    story = start(
        "Text.\n* A\n- -> END\n=== function f(x, y)\nSaid.\n~ return x * y\n=== function none\n~ temp z = 1\n"
    )
    story.continue_maximally()
    assert story.evaluate_function("f", 6, 7) == 42
    assert story.call_function("f", 2, 2.5).text == "Said.\n"
    assert story.evaluate_function("none") is None
    assert story.current_text == "Text.\n"
    assert texts(story) == ["A"]
    assert story.has_function("f")
    assert not story.has_function("g")


def test_a_function_that_fails_leaves_the_story_as_it_was() -> None:
    story = start("VAR n = 0\nText.\n* A\n- -> END\n=== function f()\n~ n = 1\n~ return 1 / n - n / (n - 1)\n")
    story.continue_maximally()
    before = story.state_json()
    with pytest.raises(InkRuntimeError):
        story.evaluate_function("f")
    assert story.state_json() == before


def test_an_unknown_function_is_refused() -> None:
    with pytest.raises(InkUsageError):
        start("Hi\n").evaluate_function("f")


def test_a_temporary_can_be_passed_by_reference() -> None:
    functions = "=== function add(ref y)\n~ inner(y)\n=== function inner(ref z)\n~ z = z + 5\n"
    source = "~ temp x = 1\n~ add(x)\n{x}\n-> END\n" + functions
    assert play(start(source)) == "6\n"


def test_running_out_of_content_is_a_notice_and_no_failure() -> None:
    story = start("-> k\n=== k\nText.\n")
    assert story.continue_maximally() == "Text.\n"
    assert [(notice.severity, notice.message[:18]) for notice in story.notices] == [("error", "ran out of content")]
    assert story.warnings


def test_flows_run_side_by_side() -> None:
    story = start("Main.\n* [A] a\n- -> END\n=== other\nOther.\n* [B] b\n- -> END\n")
    story.continue_maximally()
    story.switch_flow("side")
    story.choose_path("other")
    assert story.continue_maximally() == "Other.\n"
    assert (story.current_flow_name, story.alive_flow_names, texts(story)) == ("side", ["side"], ["B"])
    story.switch_to_default_flow()
    assert texts(story) == ["A"]
    saved = story.state_json()
    again = Story(compiled("Main.\n* [A] a\n- -> END\n=== other\nOther.\n* [B] b\n- -> END\n"))
    again.load_state(saved)
    again.switch_flow("side")
    assert play(again, "B") == "b\n"
    story.switch_flow("side")
    story.remove_flow("side")
    assert story.current_flow_name == "DEFAULT_FLOW"
    for name in ("side", "DEFAULT_FLOW"):
        with pytest.raises(InkUsageError):
            story.remove_flow(name)


def test_a_story_can_start_again() -> None:
    story = start("VAR n = 1\n~ n++\n{n}\n* [A] a\n- -> END\n")
    play(story, "A")
    story.reset()
    assert story.continue_() == "2\n"
    assert texts(story) == ["A"]


def test_source_with_errors_makes_no_story() -> None:
    with pytest.raises(InkFormatError, match="nowhere"):
        Story.from_source("-> nowhere\n")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "[]",
        "{}",
        '{"inkVersion": 99, "root": []}',
        '{"inkVersion": 3, "root": []}',
        '{"inkVersion": 21}',
        '{"inkVersion": 21, "root": [1, 2]}',
        '{"inkVersion": 21, "root": ["unknown", null]}',
        '{"inkVersion": 21, "root": [99999999999, null]}',
        '{"inkVersion": 21, "root": [NaN, null]}',
        '{"inkVersion": 21, "root": ["^x", null], "listDefs": {"L": 1}}',
        '{"inkVersion": 21, "root": ' + "[" * 100_000 + "]" * 100_000 + "}",
        '{"inkVersion": ' + "9" * 5000 + "}",
    ],
    ids=range(14),
)
def test_what_is_not_a_compiled_story_is_a_typed_error(text: str) -> None:
    with pytest.raises(InkFormatError):
        Story(text)


def test_a_divert_to_nowhere_is_an_error_only_when_it_is_taken() -> None:
    story = Story('{"inkVersion": 21, "root": [["^One.", "\\n", {"->": "nowhere"}, null], "done", null]}')
    assert story.continue_() == "One.\n"
    with pytest.raises(InkRuntimeError, match="nowhere"):
        story.continue_()
