"""A tree of turns in outline: nothing is lost in runs, forks and marks stand by themselves, and leaves are found."""

from __future__ import annotations

from collections import Counter

import hypothesis.strategies as st
import pytest
from hypothesis import given
from tests.mass import examples

from fabula.story.turn_tree import Outline, TurnPlace, TurnTree, newest_leaves, outline, reached

PARENTS = st.lists(st.integers(0, 1000), max_size=60)


def tree_of(parents: list[int]) -> list[TurnPlace]:
    """A tree of which turn n + 1 stands below some earlier turn; small numbers make long lines."""
    places = [TurnPlace("t0000", None, "s", "start", "committed")]
    for number, choice in enumerate(parents, start=1):
        above = number - 1 if choice % 4 else choice % number
        places.append(TurnPlace(f"t{number:04}", f"t{above:04}", "s", "play", "committed"))
    return places


def line(length: int, *, first: int = 1, below: str = "t0000") -> list[TurnPlace]:
    places = []
    for number in range(first, first + length):
        places.append(TurnPlace(f"t{number:04}", below, "s", "play", "committed"))
        below = f"t{number:04}"
    return places


def whole(places: list[TurnPlace], *marked: str) -> Outline:
    return outline(TurnTree(places), marked=set(marked), collapse=True, around="t0000", limit=10_000)


def test_a_line_without_forks_is_its_ends_and_one_run() -> None:
    drawn = whole([TurnPlace("t0000", None, "s", "start", "committed"), *line(10)])
    assert list(drawn.turn_ids) == ["t0000", "t0010"]
    (run,) = drawn.runs
    assert (run.first_turn_id, run.last_turn_id, run.count, run.parent_id) == ("t0001", "t0009", 9, "t0000")
    assert drawn.left_out == 0


@pytest.mark.parametrize("around", ["t0000", "t0003", "t0006", "t0008"])
def test_a_tree_that_leads_round_in_a_circle_is_drawn_with_each_turn_once(around: str) -> None:
    places = [TurnPlace("t0000", None, "s", "start", "committed"), *line(8)]
    places[3] = TurnPlace("t0003", "t0006", "s", "play", "committed")
    tree = TurnTree(places)
    assert sorted(tree.downwards()) == [place.turn_id for place in places]
    assert newest_leaves(tree) == {
        **dict.fromkeys(("t0000", "t0001", "t0002"), "t0002"),
        **{f"t000{n}": "t0008" for n in range(3, 9)},
    }
    drawn = outline(tree, marked=(), collapse=True, around=around, limit=10_000)
    assert len(drawn.turn_ids) + sum(run.count for run in drawn.runs) == (3 if around == "t0000" else 6)


def test_a_run_of_one_is_a_turn() -> None:
    drawn = whole([TurnPlace("t0000", None, "s", "start", "committed"), *line(2)])
    assert list(drawn.turn_ids) == ["t0000", "t0001", "t0002"] and not drawn.runs


def test_marked_turns_stand_by_themselves() -> None:
    drawn = whole([TurnPlace("t0000", None, "s", "start", "committed"), *line(10)], "t0005")
    assert list(drawn.turn_ids) == ["t0000", "t0005", "t0010"]
    assert [(run.first_turn_id, run.count) for run in drawn.runs] == [("t0001", 4), ("t0006", 4)]


def test_ten_thousand_turns_with_twelve_forks_are_some_dozens_of_items() -> None:
    places = [TurnPlace("t0000", None, "s", "start", "committed"), *line(9_000)]
    for fork in range(12):
        places += line(83, first=9_001 + 83 * fork, below=f"t{700 * fork + 350:04}")
    drawn = whole(places)
    assert len(places) == 9_997
    assert len(drawn.runs) == 25
    assert len(drawn.turn_ids) == 1 + 12 + 24 + 13
    assert len(drawn.turn_ids) + sum(run.count for run in drawn.runs) == len(places)


@examples(300)
@given(parents=PARENTS, marks=st.sets(st.integers(0, 60), max_size=6))
def test_an_outline_holds_every_turn_once_and_hangs_together(parents: list[int], marks: set[int]) -> None:
    places = tree_of(parents)
    marked = {f"t{number:04}" for number in marks}
    tree, drawn = TurnTree(places), whole(places, *marked)
    above = {place.turn_id: place.parent_id for place in places}
    told = Counter(drawn.turn_ids)
    for run in drawn.runs:
        step: str | None = run.last_turn_id
        for _ in range(run.count - 1):
            assert step is not None and step not in marked and len(tree.children[step]) == 1
            told[step] += 1
            step = above[step]
        assert step == run.first_turn_id and above[step] == run.parent_id
        told[step] += 1
    assert told == Counter(list(above))
    ends = {*drawn.turn_ids, *(run.last_turn_id for run in drawn.runs)}
    assert {above[id] for id in drawn.turn_ids} | {run.parent_id for run in drawn.runs} <= ends | {None}


@examples(300)
@given(parents=PARENTS, around=st.integers(0, 1000), limit=st.integers(1, 20), collapse=st.booleans())
def test_a_part_of_an_outline_is_whole_around_its_turn(
    parents: list[int], around: int, limit: int, collapse: bool
) -> None:
    places = tree_of(parents)
    middle = places[around % len(places)].turn_id
    part = outline(TurnTree(places), marked={middle}, collapse=collapse, around=middle, limit=limit)
    assert middle in part.turn_ids
    shown = len(part.turn_ids) + len(part.runs)
    assert shown <= limit and (part.left_out == 0 or shown == limit)
    ends = {*part.turn_ids, *(run.last_turn_id for run in part.runs)}
    above = {place.turn_id: place.parent_id for place in places}
    loose = [id for id in part.turn_ids if above[id] not in ends] + [
        run.first_turn_id for run in part.runs if run.parent_id not in ends
    ]
    assert len(loose) == 1


@examples(200)
@given(parents=PARENTS)
def test_the_newest_leaf_is_the_newest_end_of_a_line_through_a_turn(parents: list[int]) -> None:
    places = tree_of(parents)
    above = {place.turn_id: place.parent_id for place in places}
    ends = [id for id in above if id not in above.values()]
    found = newest_leaves(TurnTree(places))
    for turn_id in above:
        below = []
        for end in ends:
            step: str | None = end
            while step is not None and step != turn_id:
                step = above[step]
            below += [end] if step == turn_id else []
        assert found[turn_id] == max(below)


def test_one_reaches_what_one_played_and_what_led_there() -> None:
    places = [
        TurnPlace("t0", None, "a", "start", "committed"),
        TurnPlace("t1", "t0", "a", "play", "committed"),
        TurnPlace("t2", "t1", "a", "play", "committed"),
        TurnPlace("t3", "t1", "b", "play", "committed"),
    ]
    assert reached(places, {"b"}, []) == {"t0", "t1", "t3"}
    assert reached(places, set(), ["t2"]) == {"t0", "t1", "t2"}
    assert reached(places, {"nobody"}, ["never"]) == frozenset()
