"""The law of traces: parts by their turn, texts once, and both for a while only."""

from __future__ import annotations

from fabula.ports.store import Store
from fabula.ports.traces import StoredPart
from fabula.testing.plays_kit import opened
from fabula.testing.world import FixedClock

DAY_MS = 24 * 3600 * 1000


def _part(turn_id: str, number: int, *, at_ms: int = 0) -> StoredPart:
    return StoredPart(turn_id=turn_id, kind="call", at_ms=at_ms, doc={"number": number, "text": "\0 and é"})


class TracesLaw:
    async def test_keep_keeps_the_parts_of_turns_that_exist_in_their_order_and_of_others_nothing(
        self, store: Store
    ) -> None:
        await opened(store, "s1", "t1")
        parts = [_part("t1", 1), _part("nobody", 2), _part("t1", 3)]
        async with store.writing() as unit:
            await unit.traces.keep(parts, {"a": b"one"})
            await unit.traces.keep([_part("t1", 4)], {})
            await unit.traces.keep([_part("nobody", 5)], {"b": b"two"})
        async with store.reading() as unit:
            assert await unit.traces.of_turn("t1") == [parts[0], parts[2], _part("t1", 4)]
            assert await unit.traces.of_turn("t1", limit=1) == [parts[0]]
            assert await unit.traces.of_turn("nobody") == []
            assert await unit.traces.texts(["a", "b"]) == {"a": b"one"}

    async def test_each_text_is_kept_once_and_those_that_are_not_kept_are_not_answered(self, store: Store) -> None:
        await opened(store, "s1", "t1")
        async with store.writing() as unit:
            await unit.traces.keep([_part("t1", 1)], {"a": b"one", "b": b"two"})
            await unit.traces.keep([_part("t1", 2)], {"a": b"one"})
            assert await unit.traces.texts(["a", "c"]) == {"a": b"one"}
            assert await unit.traces.texts([]) == {}

    async def test_the_parts_of_a_turn_go_when_the_turn_does(self, store: Store) -> None:
        await opened(store, "s1", "t1")
        await opened(store, "s2", "t2")
        async with store.writing() as unit:
            await unit.traces.keep([_part("t1", 1), _part("t2", 2)], {})
        async with store.writing() as unit:
            await unit.plays.remove("s1")
        async with store.reading() as unit:
            assert await unit.traces.of_turn("t1") == []
            assert await unit.traces.of_turn("t2") == [_part("t2", 2)]

    async def test_prune_removes_parts_from_before_a_time_and_texts_that_no_later_part_named(
        self, store: Store, clock: FixedClock
    ) -> None:
        await opened(store, "s1", "t1")
        before = clock.now_ms()
        old = [_part("t1", number, at_ms=before) for number in range(3)]
        async with store.writing() as unit:
            await unit.traces.keep(old, {"old": b"old", "both": b"both"})
        clock.advance(DAY_MS)
        new = _part("t1", 9, at_ms=clock.now_ms())
        async with store.writing() as unit:
            await unit.traces.keep([new], {"both": b"both", "new": b"new"})
            assert await unit.traces.prune(before_ms=clock.now_ms(), limit=2) == 3
            assert await unit.traces.prune(before_ms=clock.now_ms(), limit=100) == 1
            assert await unit.traces.prune(before_ms=clock.now_ms(), limit=100) == 0
            assert await unit.traces.of_turn("t1") == [new]
            assert await unit.traces.texts(["old", "both", "new"]) == {"both": b"both", "new": b"new"}
