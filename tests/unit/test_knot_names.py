"""The names of AI knots belong to the author first: whatever a story calls `agent` or `continue` is its own."""

from __future__ import annotations

import pytest

from fabula.knots.published import publish
from fabula.knots.talk_context import introduction_of

OWN = {
    "a variable": ('VAR agent = "Smith"\nHello {agent}.\n-> END', "Hello Smith."),
    "a constant": ('CONST agent = "Smith"\nHello {agent}.\n-> END', "Hello Smith."),
    "a list": ("LIST agent = smith, (jones)\nHello {agent}.\n-> END", "Hello jones."),
    "a label": ("Hello.\n-> here\n=== here\n- (continue) Again.\n* [x] -> continue", "Hello."),
    "a stitch": ("-> k\n=== k\n-> continue\n= continue\nHello.\n-> END", "Hello."),
    "a parameter": ('-> k("Smith")\n=== k(agent)\nHello {agent}.\n-> END', "Hello Smith."),
    "a temporary variable": ("-> k\n=== k\n~ temp continue = -> m\n-> continue\n=== m\nHello.\n-> END", "Hello."),
    "a knot": ("-> agent\n=== agent\nHello.\n-> END", "Hello."),
}


@pytest.mark.parametrize("what", OWN)
def test_a_storys_own_name_is_kept_with_a_warning(what: str) -> None:
    source, told = OWN[what]
    published = publish(source, {})
    assert [problem.message.partition(",")[0] for problem in published.problems] in (
        ["'agent' is built in here"],
        ["'continue' is built in here"],
    )
    assert published.fresh(seed=1).continue_().strip() == told


def test_a_variable_may_be_called_like_a_function_of_the_host() -> None:
    published = publish('VAR input = ""\n~ input = input("Your name")\nHello {input}.\n-> END', {})
    assert published.problems == ()


@pytest.mark.parametrize(
    "opening",
    ["The inn is warm.", "~ SEED_AI(7)\nThe inn is warm.", '~ temp x = generate("rain")\nThe inn is warm. {x}'],
)
def test_a_story_is_introduced_by_the_first_words_that_a_reader_sees(opening: str) -> None:
    source = f"-> inn\n=== inn\nNobody knows this. # context\n{opening}\n* [Go] -> END"
    assert introduction_of(publish(source, {})) == "The inn is warm."
    assert introduction_of(publish("-> inn\n=== inn\n-> inn", {})) == ""
