"""The law of the store as a whole: opening, units of work, snapshots."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from fabula.ports.errors import StoreError
from fabula.ports.store import Reference, Store, Unit
from fabula.testing.store_kit.places import StorePlace
from fabula.testing.world import FixedClock


class Interrupted(Exception):
    """What a test throws in the middle of a unit."""


class UnitsLaw:
    async def test_open_brings_the_database_to_the_newest_revision(self, store: Store) -> None:
        status = await store.status()
        assert status.revision == status.newest_revision

    async def test_opening_twice_at_once_migrates_once(self, place: StorePlace, clock: FixedClock) -> None:
        stores = [place.store(clock) for _ in range(4)]
        try:
            await asyncio.gather(*(store.open() for store in stores))
            for number, store in enumerate(stores):
                async with store.writing() as unit:
                    await unit.resources.add("schema", f"s{number}", {})
            async with stores[0].reading() as unit:
                assert await unit.resources.count("schema") == 4
        finally:
            await asyncio.gather(*(store.close() for store in stores))

    async def test_what_was_committed_is_there_after_opening_again(
        self, store: Store, place: StorePlace, clock: FixedClock
    ) -> None:
        async with store.writing() as unit:
            await unit.resources.add("schema", "a", {"n": 1})
        await store.close()
        again = place.store(clock)
        await again.open()
        try:
            async with again.reading() as unit:
                assert await unit.resources.get("schema", "a") is not None
        finally:
            await again.close()

    async def test_writing_commits_when_its_block_ends(self, store: Store) -> None:
        async with store.writing() as unit:
            await unit.resources.add("schema", "a", {})
            async with store.reading() as reader:
                assert await reader.resources.count("schema") == 0
        async with store.reading() as reader:
            assert await reader.resources.count("schema") == 1

    async def test_writing_rolls_everything_back_when_its_block_raises(self, store: Store) -> None:
        with pytest.raises(Interrupted):
            async with store.writing() as unit:
                await unit.resources.add("schema", "a", {})
                hash = await unit.blobs.put(b"cover")
                await unit.secrets.put("api:one", "sk-first")
                await unit.memo.put("k", {})
                raise Interrupted
        async with store.reading() as unit:
            assert await unit.resources.count("schema") == 0
            assert await unit.blobs.get(hash) is None
            assert await unit.secrets.get("api:one") is None
            assert await unit.memo.get("k") is None

    async def test_a_cancelled_unit_leaves_nothing_and_the_next_writer_goes_on(self, store: Store) -> None:
        started = asyncio.Event()

        async def never_ends() -> None:
            async with store.writing() as unit:
                await unit.resources.add("schema", "a", {})
                started.set()
                while True:
                    await unit.resources.get("schema", "a")

        task = asyncio.create_task(never_ends())
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        async with store.writing() as unit:
            assert await unit.resources.count("schema") == 0
            await unit.resources.add("schema", "b", {})
        async with store.reading() as unit:
            assert [stored.id for stored in await unit.resources.page("schema")] == ["b"]

    async def test_write_commits_whole_or_not_at_all(self, store: Store) -> None:
        async def add(unit: Unit) -> int:
            return (await unit.resources.add("schema", "one", {"name": "one"})).revision

        async def add_and_stumble(unit: Unit) -> None:
            await unit.resources.add("schema", "two", {"name": "two"})
            raise Interrupted

        assert await store.write(add) == 1
        with pytest.raises(Interrupted):
            await store.write(add_and_stumble)
        found = await store.read(lambda unit: unit.resources.get("schema", "one"))
        assert found is not None and found.doc == {"name": "one"}
        assert await store.read(lambda unit: unit.resources.get("schema", "two")) is None

    async def test_what_need_not_last_is_there_for_everyone_at_once_and_so_is_what_lasts(self, store: Store) -> None:
        for number in range(6):
            await store.write(_putting(number), durable=number % 2 == 0)
        async with store.writing() as unit:
            await unit.memo.put("last", {})
        async with store.reading() as unit:
            assert [await unit.memo.get(f"k{number}") for number in range(6)] == [{"n": n} for n in range(6)]
        with pytest.raises(Interrupted):
            await store.write(_put_and_stumble, durable=False)
        assert await store.read(lambda unit: unit.memo.get("stumbled")) is None

    async def test_read_cannot_change_anything(self, store: Store) -> None:
        with pytest.raises(StoreError):
            await store.read(lambda unit: unit.resources.add("schema", "one", {}))
        assert await store.read(lambda unit: unit.resources.get("schema", "one")) is None

    async def test_if_the_caller_is_cancelled_the_work_is_never_partial(self, store: Store) -> None:
        async def add_many(unit: Unit) -> None:
            for number in range(50):
                await unit.resources.add("schema", f"many-{number}", {})

        for _ in range(5):
            writing = asyncio.create_task(store.write(add_many))
            await asyncio.sleep(0.002)
            writing.cancel()
            await asyncio.gather(writing, return_exceptions=True)
        there = await store.read(lambda unit: unit.resources.revisions([Reference(kind="schema", id="many-49")]))
        first = await store.read(lambda unit: unit.resources.revisions([Reference(kind="schema", id="many-0")]))
        assert len(there) == len(first)
        await store.write(lambda unit: unit.resources.add("schema", "after", {}))

    async def test_many_functions_at_once_all_get_their_turn(self, store: Store) -> None:
        await store.write(lambda unit: unit.resources.add("schema", "counter", {"n": 0}))

        async def count_up(unit: Unit) -> None:
            found = await unit.resources.get("schema", "counter")
            assert found is not None
            await unit.resources.put("schema", "counter", {"n": found.doc["n"] + 1})  # type: ignore[operator]

        reads = [store.read(lambda unit: unit.resources.get("schema", "counter")) for _ in range(40)]
        await asyncio.gather(*(store.write(count_up) for _ in range(40)), *reads)
        counted = await store.read(lambda unit: unit.resources.get("schema", "counter"))
        assert counted is not None and counted.doc == {"n": 40}

    async def test_reading_sees_one_consistent_state(self, store: Store) -> None:
        async with store.reading() as reader:
            assert await reader.resources.count("schema") == 0
            async with store.writing() as unit:
                await unit.resources.add("schema", "a", {})
            assert await reader.resources.get("schema", "a") is None
            assert await reader.resources.count("schema") == 0

    async def test_reading_cannot_change_it(self, store: Store) -> None:
        with pytest.raises(StoreError):
            async with store.reading() as unit:
                await unit.resources.add("schema", "a", {})
        async with store.reading() as unit:
            assert await unit.resources.count("schema") == 0

    async def test_many_readers_and_writers_at_once_all_get_their_turn(self, store: Store) -> None:
        async def read() -> None:
            async with store.reading() as unit:
                await unit.resources.page("schema")

        async def write(number: int) -> None:
            async with store.writing() as unit:
                await unit.resources.add("schema", f"s{number}", {})

        await asyncio.gather(*(read() for _ in range(60)), *(write(number) for number in range(60)))
        async with store.reading() as unit:
            assert await unit.resources.count("schema") == 60


def _putting(number: int) -> Callable[[Unit], Awaitable[None]]:
    return lambda unit: unit.memo.put(f"k{number}", {"n": number})


async def _put_and_stumble(unit: Unit) -> None:
    await unit.memo.put("stumbled", {})
    raise Interrupted
