"""The names of AI knots belong to the author first: whatever a story calls `agent` or `continue` is its own."""

from __future__ import annotations

import pytest

from fabula.agents.knots.published import publish

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
