"""The law of the audit."""

from __future__ import annotations

from fabula.ports.audit import Violation
from fabula.ports.store import Store, Unit


def _violation(at_ms: int, caller: str = "player", what: str = "decide_change", about: str = "") -> Violation:
    return Violation(
        at_ms=at_ms, caller=caller, token_id="token_1", what=what, why="not_listed", about=about, sentence="No."
    )


async def _times(unit: Unit, about: str | None = None, since_ms: int = 0) -> list[int]:
    return [one.at_ms for _, one in await unit.audit.find(about=about, since_ms=since_ms)]


class AuditLaw:
    async def test_violations_are_kept_in_order_and_found_newest_first_in_parts(self, store: Store) -> None:
        async with store.writing() as unit:
            for at_ms in (10, 20, 30):
                await unit.audit.note(_violation(at_ms))
        async with store.reading() as unit:
            first = await unit.audit.find(limit=2)
            assert [one.at_ms for _, one in first] == [30, 20] and first[0][1] == _violation(30)
            assert [one.at_ms for _, one in await unit.audit.find(before=first[-1][0])] == [10]

    async def test_violations_are_found_by_caller_token_tool_subject_and_moment(self, store: Store) -> None:
        async with store.writing() as unit:
            await unit.audit.note(_violation(10, caller="narrator"))
            await unit.audit.note(_violation(20, what="undo_change"))
            await unit.audit.note(_violation(30, about="session_1"))
            assert await _times(unit, "narrator") == [10] and await _times(unit, "undo_change") == [20]
            assert await _times(unit, "session_1") == [30] and await _times(unit, "token_1") == [30, 20, 10]
            assert await _times(unit, "nobody") == [] and await _times(unit, since_ms=20) == [30, 20]

    async def test_a_prune_removes_what_is_old_and_the_oldest_beyond_so_many(self, store: Store) -> None:
        async with store.writing() as unit:
            for at_ms in range(1, 7):
                await unit.audit.note(_violation(at_ms))
            assert await unit.audit.prune(before_ms=2, keep=100) == 1
            assert await unit.audit.prune(before_ms=0, keep=3) == 2
            assert await _times(unit) == [6, 5, 4]
            assert await unit.audit.prune(before_ms=0, keep=3) == 0
