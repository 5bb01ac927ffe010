"""Endless and hostile stories end in typed errors, and the story stays usable."""

from __future__ import annotations

import pytest
from tests.unit.ink.runtime.ink_support import compiled, play, start

from fabula.ink import InkBudgetExceeded, InkDepthExceeded, InkError, Story

ENDLESS = {
    "a loop without text": "Start.\n* [Go]\n- -> loop\n=== loop\n-> again\n=== again\n-> loop\n",
    "a recursion of functions": "Start.\n* [Go]\n- {f(1)}\n-> END\n=== function f(x)\n~ return f(x + 1)\n",
    "a recursion of tunnels": "Start.\n* [Go]\n- -> t ->\n-> END\n=== t\n-> t ->\n->->\n",
    "a recursion of threads": "Start.\n* [Go]\n- -> t\n=== t\n<- t\n-> END\n",
    "a string that doubles": 'VAR s = "ab"\nStart.\n* [Go]\n- -> d\n=== d\n~ s = s + s\n-> d\n',
    "a search in a long string": 'VAR s = "ab"\nStart.\n* [Go]\n- -> d\n=== d\n{s ? "zz": -> END}\n~ s = s + s\n-> d\n',
    "a deep nest entered for ever": "Start.\n* [Go]\n- -> d\n=== d\n" + "{true:\n" * 30 + "-> d\n" + "}\n" * 30,
    "a line without an end": "Start.\n* [Go]\n- -> l\n=== l\nla <>\n-> l\n",
    "blanks without an end": 'Start.\n* [Go]\n- -> l\n=== l\n<> {" "}\n-> l\n',
    "functions calling": "Start.\n* [Go]\n- ~ f()\n-> END\n=== function f()\n~ g()\n=== function g()\n~ f()\n",
}


@pytest.mark.parametrize("name", ENDLESS)
def test_it_ends_in_a_typed_error_and_the_story_stays_usable(name: str) -> None:
    story = start(ENDLESS[name])
    story.continue_maximally()
    saved = story.state_json()
    story.choose(0)
    with pytest.raises((InkBudgetExceeded, InkDepthExceeded)):
        story.continue_maximally()
    story.load_state(saved)
    assert [choice.text for choice in story.current_choices] == ["Go"]
    assert story.state_json() == saved


def test_a_story_that_never_stops_talking_ends_by_its_budget() -> None:
    story = start("-> k\n=== k\nBla.\n-> k\n")
    with pytest.raises(InkBudgetExceeded):
        story.continue_maximally()
    assert story.state_json() == start("-> k\n=== k\nBla.\n-> k\n").state_json()
    assert story.continue_() == "Bla.\n"


def test_the_budget_can_be_set() -> None:
    story = start("VAR n = 0\n-> k\n=== k\n~ n++\n{n < 1000:\n-> k\n}\nDone.\n-> END\n")
    story.step_budget = 100
    with pytest.raises(InkBudgetExceeded):
        story.continue_()
    assert story.variables["n"] == 0
    story.step_budget = 100_000
    assert story.continue_() == "Done.\n"


def test_an_error_says_where_it_happened() -> None:
    story = start("-> k\n=== k\n~ temp x = 0\n{1 / x}\n-> END\n")
    with pytest.raises(InkError, match=r"divide by zero.*\(at k\.") as error:
        story.continue_()
    assert error.value.code == "ink_runtime"


def test_deep_recursion_that_ends_is_fine() -> None:
    source = "{count(1000)}\n-> END\n=== function count(n)\n{n == 0:\n~ return 0\n}\n~ return 1 + count(n - 1)\n"
    assert play(start(source)) == "1000\n"


def test_deep_tunnels_with_choices_are_cheap_to_fork() -> None:
    source = "-> t(300) ->\n-> END\n=== t(n)\n{n > 0:\n-> t(n - 1) ->\n}\n+ [Up {n}] {n}\n- ->->\n"
    story = start(source)
    said = ""
    for _ in range(301):
        said += story.continue_maximally()
        story.choose(0)
    said += story.continue_maximally()
    assert said.split() == [str(n) for n in range(301)]


def test_an_error_while_looking_ahead_comes_with_the_next_line() -> None:
    story = start("VAR zero = 0\nOne.\n{1 / zero}\n-> END\n")
    assert story.continue_() == "One.\n"
    with pytest.raises(InkError):
        story.continue_()
    with pytest.raises(InkError):
        story.continue_()


def test_forks_never_touch_the_original() -> None:
    knot = "=== k\n~ n++\nVisit {k}, {n}. {L}{&x|y}\n~ L += LIST_RANDOM(LIST_ALL(a))\n+ [On]\n- -> k\n"
    source = "VAR n = 0\nLIST L = a, b\n-> k\n" + knot
    story = Story(compiled(source))
    story.continue_maximally()
    before = story.state_json()
    for number in range(5):
        twin = story.fork()
        for _ in range(number):
            twin.choose(0)
            twin.continue_maximally()
        twin.variables["n"] = 100
        twin.switch_flow("other")
        assert story.state_json() == before
    story.choose(0)
    assert story.continue_maximally() == "Visit 1, 2. ay\n"


def test_a_fork_goes_on_exactly_as_the_original_would() -> None:
    source = "-> k\n=== k\n{~a|b|c|d|e} {RANDOM(1, 1000)}\n+ [On]\n+ [Off]\n- -> k\n"
    story = start(source, seed=5)
    for _ in range(10):
        story.continue_maximally()
        twin = story.fork()
        twin.choose(0)
        story.choose(0)
        assert twin.continue_maximally() == story.continue_maximally()
        assert twin.state_json() == story.state_json()


def test_a_fork_can_have_dice_of_its_own() -> None:
    story = start("{RANDOM(1, 1000000)}\n-> END\n")
    assert story.fork(seed=1).continue_() == story.fork(seed=1).continue_()
    assert story.fork(seed=1).continue_() != story.fork(seed=2).continue_()
