"""Forms that real stories use and that were once compiled otherwise: each is what the reference makes of it."""

import json
from typing import Any

import pytest

from fabula.ink import compile_ink

END = ["done", {"#n": "g-0"}]


def root(source: str, **files: str) -> Any:
    """The compiled story, without its list definitions."""
    result = compile_ink(source, include={f"{name}.ink": text for name, text in files.items()}.get)
    assert result.story_json is not None, [str(one) for one in result.errors]
    return json.loads(result.story_json)["root"]


def test_a_todo_with_nothing_behind_it_is_told_to_nobody() -> None:
    told = ["^Hello.", "\n", "^World.", "\n", "end", END, None]
    assert root("Hello.\nTODO\nTODO:\nWorld.\n-> END\n") == [told, "done", None]


def test_a_variable_that_a_knot_declares_may_hold_its_stitch() -> None:
    knot = [{"->": "x", "var": True}, {"s": ["^In s.", "\n", "end", {"#f": 3}]}]
    declared = ["ev", {"^->": "k.s"}, {"VAR=": "x"}, "/ev", "end", None]
    assert root("=== k ===\nVAR x = -> s\n-> x\n= s\nIn s.\n-> END\n") == [
        [END, None],
        "done",
        {"k": knot, "global decl": declared},
    ]


def test_an_inline_condition_with_an_empty_else_has_one_branch() -> None:
    branch = [{"->": ".^.b", "c": True}, {"b": ["^x", {"->": "0.4"}, None]}]
    told = ["ev", {"VAR?": "a"}, "/ev", branch, "nop", "^ end", "\n", "end", END, None]
    declared = {"global decl": ["ev", True, {"VAR=": "a"}, "/ev", "end", None]}
    assert root("VAR a = true\n{a:x|} end\n-> END\n") == [told, "done", declared]


def test_a_tag_in_a_sequence_stays_open_until_the_next_tag_or_the_end_of_the_braces() -> None:
    sequence, *rest = root("{one #tag1|two #tag2|three} more\n-> END\n")[0]
    assert sequence[-1]["s0"] == ["pop", "^one ", "#", "^tag1", {"->": "0.0.23"}, None]
    assert sequence[-1]["s1"] == ["pop", "^two ", "/#", "#", "^tag2", {"->": "0.0.23"}, None]
    assert sequence[-1]["s2"] == ["pop", "^three", {"->": "0.0.23"}, None]
    assert rest == ["/#", "^ more", "\n", "end", END, None]


@pytest.mark.parametrize("empty", ["", "\n\n", "   ", "// nothing\n/* at all */\n", "INCLUDE nothing.ink\n"])
def test_an_include_of_an_empty_file_adds_nothing(empty: str) -> None:
    told = ["^Hi", "\n", "^There", "\n", "end", END, None]
    assert root("Hi\nINCLUDE more.ink\nThere\n-> END\n", more=empty, nothing="") == [told, "done", None]


@pytest.mark.parametrize("more", ["TODO: later\n", "VAR q = 1\n", "=== k\n-> END\n"])
def test_an_include_of_a_file_that_holds_anything_ends_the_line(more: str) -> None:
    assert root("Hi\nINCLUDE more.ink\nThere\n-> END\n", more=more)[0][:4] == ["^Hi", "\n", "\n", "^There"]


REFUSED = {
    "{lamp.<>|b}": "Expected right side of '<' expression but saw '>|b}'",
    "{lamp <> more|b}": "Expected right side of '<' expression but saw '> more|b}'",
    "{lamp - |b}": "Expected right side of '-' expression but saw '|b}'",
    "{lamp?|b}": "Expected right side of '?' expression but saw '|b}'",
    "{lamp % |b}": "Expected right side of '%' expression but saw '|b}'",
    "{lamp && |b}": "Expected right side of '&&' expression but saw '|b}'",
    "{lamp - :x|y}": "Expected right side of '-' expression but saw ':x|y}'",
    '{"x|y}': "Expected close quote for string expression but saw '|y}'",
    "{lamp(1|b}": "Expected closing ')' for function call but saw '|b}'",
    "{(lamp|b}": "Expected closing parenthesis ')' for expression but saw '|b}'",
    "{lamp++|b}": "Can't use increment/decrement here. It can only be used on a ~ line",
    "{lamp:|y}": "Expected conditional content following query but saw '|y}'",
    "{lamp:}": "Expected conditional content following query but saw '}'",
}
"""Alternatives that begin like an expression and break off: the reference reads them as one first, and says so."""


@pytest.mark.parametrize("line", REFUSED)
def test_alternatives_that_break_off_as_an_expression_are_refused(line: str) -> None:
    source = f"VAR lamp = 1\n{line}\n-> END\n"
    assert [error.message for error in compile_ink(source).errors] == [REFUSED[line]]
    assert compile_ink(source, forgiving=True).story_json is not None, "published stories are still played"


TAKEN = (
    *("{lamp.|b}", "{Hello - there|b}", "{50% off|b}", "{a/b|c}", "{lamp. Next|b}", "{lamp!|b}", '{"x"|y}'),
    *("{not lamp|b}", "{|a}", "{||}", "{lamp =|b}", "{lamp,|b}"),
)


@pytest.mark.parametrize("line", TAKEN)
def test_alternatives_that_only_look_like_an_expression_are_text(line: str) -> None:
    assert not compile_ink(f"VAR lamp = 1\n{line}\n-> END\n").errors
