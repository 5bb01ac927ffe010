"""What a player may know of canon is found out in one reading, however much others know."""

from __future__ import annotations

from tests.growth import calls_of

from fabula.actions.canon.known_canon import _only_others_know_of
from fabula.ports.canon import ChangeRow
from fabula.story.canon import Change, FactContent


def fact(number: int) -> ChangeRow:
    content = FactContent(subject=f"who{number}", predicate="lore", object="It rains.")
    change = Change(change_id=f"c{number}", world_id="w", content=content, authority="source", proposer="ann")
    return ChangeRow(change=change, status="committed", created_at_ms=1, updated_at_ms=1)


def test_what_only_others_know_is_found_without_comparing_truths_with_each_other() -> None:
    rows = [fact(number) for number in range(60)]
    found = frozenset[str]()

    def look() -> None:
        nonlocal found
        found = _only_others_know_of(rows, rows[:30])

    assert calls_of(look)["__eq__"] == 0
    assert {f"who{number}" for number in range(30, 60)} <= found and "who1" not in found
