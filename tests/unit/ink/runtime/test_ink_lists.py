"""Lists compute as in the reference."""

from __future__ import annotations

import pytest
from tests.unit.ink.runtime.ink_support import play, start

from fabula.ink import InkList, InkRuntimeError
from fabula.ink.runtime.lists import item_name, parse_item

LISTS = """
LIST Small = one, two, three
LIST Big = ten = 10, twenty = 20, (thirty) = 30
VAR some = (one, three)
VAR none = ()
VAR mixed = (two, ten)
"""


def printed(expression: str) -> str:
    return play(start(LISTS + f"{{{expression}}}\n-> END\n")).strip()


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("some", "one, three"),
        ("none", ""),
        ("some + two", "one, two, three"),
        ("some - one", "three"),
        ("some ^ (one, two)", "one"),
        ("some ? one", "true"),
        ("some ? (one, two)", "false"),
        ("some !? two", "true"),
        ("some ? none", "false"),
        ("one + 1", "two"),
        ("three + 1", ""),
        ("two - 1", "one"),
        ("LIST_ALL(some)", "one, two, three"),
        ("LIST_INVERT(some)", "two"),
        ("LIST_MIN(mixed)", "two"),
        ("LIST_MAX(mixed)", "ten"),
        ("LIST_COUNT(mixed)", "2"),
        ("LIST_VALUE(mixed)", "10"),
        ("LIST_RANGE(LIST_ALL(mixed), 2, 15)", "two, three, ten"),
        ("LIST_RANGE(LIST_ALL(some), two, three)", "two, three"),
        ("Small(2)", "two"),
        ("Small(9)", ""),
        ("some == (three, one)", "true"),
        ("some != one", "true"),
        ("ten > some", "true"),
        ("some < ten", "true"),
        ("some >= one", "true"),
        ("some <= three", "true"),
        ("none < one", "true"),
        ("none > one", "false"),
        ("not none", "1"),
        ("some and mixed", "true"),
        ("none or 1", "true"),
        ("Big", "thirty"),
    ],
)
def test_a_list_expression(expression: str, text: str) -> None:
    assert printed(expression) == text


@pytest.mark.parametrize("expression", ['some + "x"', "some * 2", "LIST_COUNT(1)", "some > 1.5"])
def test_lists_refuse_what_does_not_fit(expression: str) -> None:
    with pytest.raises(InkRuntimeError):
        printed(expression)


def test_an_emptied_list_remembers_where_it_came_from() -> None:
    assert printed("LIST_ALL(some - (one, three))") == "one, two, three"


def test_an_assigned_empty_list_remembers_the_variable_s_lists() -> None:
    source = LISTS + "~ some = ()\n{LIST_ALL(some)}\n-> END\n"
    assert play(start(source)) == "one, two, three\n"


def test_lists_compare_by_their_items_and_hash_alike() -> None:
    one, other = InkList({("L", "a"): 1}), InkList({("L", "a"): 7})
    assert one == other
    assert hash(one) == hash(other)
    assert repr(one) == "InkList(L.a)"


def test_an_item_of_an_unknown_list_keeps_its_name() -> None:
    assert parse_item(item_name((None, "x"))) == (None, "x")
    assert parse_item("x") == (None, "x")
