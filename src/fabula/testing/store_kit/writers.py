"""The law of writers: those of one play or one resource never interleave, and others need not wait for each other."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager

import pytest

from fabula.ports.errors import Conflict, InUse, NotFound
from fabula.ports.memories import NewMemory, Owner, OwnerAt
from fabula.ports.npcs import NpcKey
from fabula.ports.plays import Finished, NewTurn
from fabula.ports.store import Reference, Store, Unit, Upload
from fabula.story.error_values import ErrorValue
from fabula.story.npc import GameEvent
from fabula.testing.store_kit.places import StorePlace
from fabula.testing.world import FixedClock

PLAYS = 8
WRITERS = 16
TURNS_EACH = 4
CANCELLED = ErrorValue(name="cancelled", message="It was cancelled.")


class WritersLaw:
    async def test_two_writers_of_one_resource_never_interleave_the_second_sees_all_that_the_first_committed(
        self, store: Store, place: StorePlace, clock: FixedClock
    ) -> None:
        async with store.writing() as unit:
            await unit.resources.add("schema", "counter", {"n": 0})
        async with _opened(place, clock) as other:
            await asyncio.gather(*(_count_up(one) for one in (store, other) * 10))
        async with store.reading() as unit:
            counter = await unit.resources.get("schema", "counter")
        assert counter is not None and (counter.doc["n"], counter.revision) == (20, 21)

    async def test_sixteen_writers_on_eight_plays_lose_no_update(
        self, store: Store, place: StorePlace, clock: FixedClock
    ) -> None:
        async with _opened(place, clock) as other:
            await _add_plays(store)
            stores = (store, other)
            await asyncio.gather(*(_play(stores[n % 2], f"s{n // 2}", f"w{n}", TURNS_EACH) for n in range(WRITERS)))
        async with store.reading() as unit:
            plays = [await unit.plays.get(f"s{number}") for number in range(PLAYS)]
            states = [None if play is None else await unit.plays.state(play.head_turn_id) for play in plays]
        assert states == [{"turns": 2 * TURNS_EACH}] * PLAYS
        assert [play and play.turn_index for play in plays] == [2 * TURNS_EACH] * PLAYS

    async def test_writers_of_different_plays_are_at_work_at_once_where_the_engine_can(self, store: Store) -> None:
        if (await store.status()).engine != "postgres":
            pytest.skip("SQLite has one writer at a time")
        await _add_plays(store)
        inside = asyncio.Barrier(PLAYS)

        async def meet(unit: Unit, session_id: str) -> None:
            assert await unit.plays.get(session_id) is not None
            await inside.wait()

        async with asyncio.timeout(30):
            await asyncio.gather(*(_with_unit(store, meet, f"s{number}") for number in range(PLAYS)))

    async def test_those_who_write_down_memories_of_different_plays_are_at_work_at_once_where_the_engine_can(
        self, store: Store
    ) -> None:
        if (await store.status()).engine != "postgres":
            pytest.skip("SQLite has one writer at a time")
        inside = asyncio.Barrier(PLAYS)

        async def remember(unit: Unit, scope: str) -> None:
            await unit.memories.add(scope, None, [NewMemory(memory_id=scope, owner="mara", text="It rains.")])

        async def remember_more(unit: Unit, scope: str) -> None:
            more = NewMemory(memory_id=f"{scope} more", owner="mara", text="It stopped.")
            await unit.memories.add(scope, None, [more])
            await inside.wait()

        scopes = [f"game:{number}" for number in range(PLAYS)]
        # At first they give out numbers to lines and spaces, which are of all plays.
        await asyncio.gather(*(_with_unit(store, remember, scope) for scope in scopes))
        async with asyncio.timeout(30):
            await asyncio.gather(*(_with_unit(store, remember_more, scope) for scope in scopes))
        async with store.reading() as unit:
            owners = [OwnerAt(owner=Owner(scope=scope, name="mara"), turn_id=None) for scope in scopes]
            texts = [[one.text for one in await unit.memories.page(owner, order="oldest")] for owner in owners]
        assert texts == [["It rains.", "It stopped."]] * PLAYS

    async def test_many_writers_of_different_plays_are_faster_than_one_where_the_engine_can(self, store: Store) -> None:
        if (await store.status()).engine != "postgres":
            pytest.skip("SQLite has one writer at a time")
        await _add_plays(store)

        async def one_after_the_other(round: int) -> None:
            for number in range(PLAYS):
                await _play(store, f"s{number}", f"one-{round}", TURNS_EACH, pause_s=0.01)

        async def at_once(round: int) -> None:
            names = range(PLAYS)
            await asyncio.gather(*(_play(store, f"s{n}", f"all-{round}", TURNS_EACH, pause_s=0.01) for n in names))

        alone = [await _seconds(one_after_the_other(round)) for round in range(3)]
        together = [await _seconds(at_once(round)) for round in range(3)]
        assert min(together) < min(alone)

    async def test_what_is_looked_at_in_a_writing_unit_keeps_no_other_writer_waiting(self, store: Store) -> None:
        if (await store.status()).engine != "postgres":
            pytest.skip("SQLite has one writer at a time")
        async with store.writing() as unit:
            for name in ("a", "b"):
                await unit.resources.add("schema", name, {"n": 0})
        inside = asyncio.Barrier(2)

        async def change_one_and_look_at_the_other(own: str, other: str) -> None:
            async with store.writing() as unit:
                await unit.resources.put("schema", own, {"n": 1})
                await inside.wait()
                assert await unit.looking.resources.get("schema", "none") is None
                for name, number in ((own, 1), (other, 0)):
                    found = await unit.looking.resources.get("schema", name)
                    assert found is not None and found.doc == {"n": number}
                await inside.wait()

        await asyncio.gather(change_one_and_look_at_the_other("a", "b"), change_one_and_look_at_the_other("b", "a"))

    async def test_writers_that_wait_for_each_other_in_a_circle_all_succeed_in_write(
        self, store: Store, place: StorePlace, clock: FixedClock
    ) -> None:
        async with store.writing() as unit:
            for name in ("a", "b"):
                await unit.resources.add("schema", name, {"n": 0})

        def both(first: str, second: str) -> Callable[[Unit], Awaitable[None]]:
            async def count_both(unit: Unit) -> None:
                for name in (first, second):
                    found = await unit.resources.get("schema", name)
                    assert found is not None
                    await unit.resources.put("schema", name, {"n": found.doc["n"] + 1})  # type: ignore[operator]

            return count_both

        async with _opened(place, clock) as other:
            ways = [store.write(both("a", "b")), other.write(both("b", "a"))]
            ways += [store.write(both("b", "a")), other.write(both("a", "b"))]
            await asyncio.gather(*ways)
        async with store.reading() as unit:
            found = await unit.resources.get_many("schema", ["a", "b"])
        assert {name: one.doc for name, one in found.items()} == {"a": {"n": 4}, "b": {"n": 4}}

    async def test_of_many_who_add_the_same_one_succeeds_and_the_others_are_told(self, store: Store) -> None:
        async def add() -> str:
            try:
                async with store.writing() as unit:
                    await unit.resources.add("schema", "same", {})
            except Conflict:
                return "refused"
            return "added"

        assert sorted(await asyncio.gather(*(add() for _ in range(8)))) == ["added"] + ["refused"] * 7

    async def test_who_finds_nothing_and_adds_it_is_alone_with_it(
        self, store: Store, place: StorePlace, clock: FixedClock
    ) -> None:
        async def add_if_missing(unit: Unit) -> int:
            if await unit.resources.get("schema", "same") is not None:
                return 0
            await asyncio.sleep(0)
            await unit.resources.add("schema", "same", {})
            return 1

        async def add(one: Store) -> int:
            async with one.writing() as unit:
                return await add_if_missing(unit)

        async with _opened(place, clock) as other:
            assert sum(await asyncio.gather(*(add(one) for one in (store, other) * 6))) == 1

    async def test_who_finds_no_upload_and_puts_it_is_alone_with_it(
        self, store: Store, place: StorePlace, clock: FixedClock
    ) -> None:
        async def take(one: Store) -> int:
            async with one.writing() as unit:
                if await unit.uploads.get("held") is not None:
                    return 0
                await asyncio.sleep(0)
                later = clock.now_ms() + 60_000
                upload = Upload(upload_id="held", purpose="package_import", blob=None, expires_at_ms=later)
                await unit.uploads.put(upload)
                return 1

        async with _opened(place, clock) as other:
            assert sum(await asyncio.gather(*(take(one) for one in (store, other) * 6))) == 1

    async def test_a_reference_and_the_removal_of_what_it_names_never_both_succeed(self, store: Store) -> None:
        for number in range(10):
            async with store.writing() as unit:
                await unit.resources.add("schema", f"used{number}", {})
            outcomes = await asyncio.gather(_refer(store, number), _remove(store, number))
            assert sorted(outcomes) in (["in use", "referred"], ["missing", "removed"])

    async def test_bytes_that_many_put_at_once_are_kept_until_the_last_use_is_given_back(self, store: Store) -> None:
        async def put(unit: Unit) -> str:
            return await unit.blobs.put(b"the same picture")

        (hash,) = set(await asyncio.gather(*(store.write(put) for _ in range(6))))
        await asyncio.gather(*(store.write(lambda unit: unit.blobs.remove(hash)) for _ in range(5)))
        assert await store.read(lambda unit: unit.blobs.get(hash)) == b"the same picture"
        await store.write(lambda unit: unit.blobs.remove(hash))
        assert await store.read(lambda unit: unit.blobs.get(hash)) is None

    async def test_answers_that_many_put_at_once_under_one_key_are_one_answer(self, store: Store) -> None:
        await asyncio.gather(*(store.write(_answering(number)) for number in range(8)))
        answers = [await store.read(lambda unit: unit.memo.get("same")) for _ in range(2)]
        assert answers[0] == answers[1] and answers[0] is not None

    async def test_entries_that_many_add_to_one_npc_at_once_are_all_there(self, store: Store) -> None:
        npc = NpcKey(game_id="g", agent_id="mara")

        async def notice(number: int) -> None:
            event = GameEvent(event_id=f"e{number}", event_type="noticed")
            async with store.writing() as unit:
                await unit.npcs.notice(npc, connection_id="c", event=event)

        await asyncio.gather(*(notice(number) for number in range(12)))
        async with store.reading() as unit:
            lived = await unit.npcs.recent(npc, limit=50)
        assert [one.number for one in lived] == list(range(1, 13))

    async def test_a_fork_and_the_removal_of_the_last_play_of_its_tree_leave_no_play_without_turns(
        self, store: Store
    ) -> None:
        for number in range(8):
            await _add_play(store, f"s{number}")
            outcomes = await asyncio.gather(_fork(store, f"s{number}"), _remove_play(store, f"s{number}"))
            async with store.reading() as unit:
                forked = await unit.plays.get(f"s{number}-fork")
                head = await unit.plays.turn(f"s{number}-start")
            assert (forked is not None) == (head is not None) == (outcomes[0] == "forked")

    async def test_of_many_who_begin_a_turn_of_one_play_one_succeeds(
        self, store: Store, place: StorePlace, clock: FixedClock
    ) -> None:
        await _add_play(store, "s")

        async def begin(one: Store, number: int) -> str:
            try:
                async with one.writing() as unit:
                    await unit.plays.begin(_turn(f"t{number}", "s", "s-start", 1, kind="play"))
            except Conflict as refused:
                return str(refused.data["active_turn_id"])
            return f"t{number}"

        async with _opened(place, clock) as other:
            begun = await asyncio.gather(*(begin(one, n) for n, one in enumerate((store, other) * 5)))
        assert len(set(begun)) == 1

    async def test_of_a_commit_and_a_failure_at_once_one_counts(self, store: Store) -> None:
        for number in range(8):
            name = f"s{number}"
            await _add_play(store, name)
            async with store.writing() as unit:
                await unit.plays.begin(_turn(f"{name}-t", name, f"{name}-start", 1, kind="play"))
            committed, failed = await asyncio.gather(_commit(store, f"{name}-t"), _fail(store, f"{name}-t"))
            async with store.reading() as unit:
                play = await unit.plays.get(name)
            assert committed is not failed
            assert play is not None and play.active_turn_id is None
            assert play.head_turn_id == (f"{name}-t" if committed else f"{name}-start")


@asynccontextmanager
async def _opened(place: StorePlace, clock: FixedClock) -> AsyncIterator[Store]:
    """The same store as another process would open it."""
    other = place.store(clock)
    await other.open()
    try:
        yield other
    finally:
        await other.close()


async def _with_unit(store: Store, work: Callable[[Unit, str], Awaitable[None]], name: str) -> None:
    async with store.writing() as unit:
        await work(unit, name)


async def _count_up(store: Store) -> None:
    async with store.writing() as unit:
        counter = await unit.resources.get("schema", "counter")
        assert counter is not None
        number = counter.doc["n"]
        assert isinstance(number, int)
        await asyncio.sleep(0)
        await unit.resources.put("schema", "counter", {"n": number + 1})


def _turn(turn_id: str, session_id: str, parent_id: str | None, index: int, *, kind: str = "amend") -> NewTurn:
    return NewTurn(
        turn_id=turn_id,
        session_id=session_id,
        parent_id=parent_id,
        turn_index=index,
        kind="start" if parent_id is None else kind,  # type: ignore[arg-type]
    )


async def _add_plays(store: Store) -> None:
    for number in range(PLAYS):
        await _add_play(store, f"s{number}")


async def _add_play(store: Store, session_id: str) -> None:
    start = _turn(f"{session_id}-start", session_id, None, 0)
    async with store.writing() as unit:
        await unit.plays.add(session_id, start, Finished(turn_id=start.turn_id, state={"turns": 0}, state_hash="h"))


async def _play(store: Store, session_id: str, writer: str, turns: int, *, pause_s: float = 0) -> None:
    """Adds turns to a play, each below the head as it is then, and counts them in the state."""
    for number in range(turns):
        async with store.writing() as unit:
            play = await unit.plays.get(session_id)
            assert play is not None
            state = await unit.plays.state(play.head_turn_id)
            assert state is not None and isinstance(state["turns"], int)
            await asyncio.sleep(pause_s)
            turn = _turn(f"{session_id}-{writer}-{number}", session_id, play.head_turn_id, play.turn_index + 1)
            after = Finished(turn_id=turn.turn_id, state={"turns": state["turns"] + 1}, state_hash="h")
            await unit.plays.amend(turn, after)


async def _seconds(work: Awaitable[None]) -> float:
    began = time.monotonic()
    await work
    return time.monotonic() - began


async def _refer(store: Store, number: int) -> str:
    used: Sequence[Reference] = [Reference(kind="schema", id=f"used{number}")]
    try:
        async with store.writing() as unit:
            await unit.resources.add("character", f"user{number}", {}, references=used)
    except NotFound:
        return "missing"
    return "referred"


async def _remove(store: Store, number: int) -> str:
    try:
        async with store.writing() as unit:
            await unit.resources.remove("schema", f"used{number}")
    except InUse:
        return "in use"
    return "removed"


async def _fork(store: Store, session_id: str) -> str:
    try:
        async with store.writing() as unit:
            await unit.plays.fork(f"{session_id}-fork", f"{session_id}-start")
    except NotFound:
        return "missing"
    return "forked"


async def _remove_play(store: Store, session_id: str) -> None:
    async with store.writing() as unit:
        await unit.plays.remove(session_id)


async def _commit(store: Store, turn_id: str) -> bool:
    async with store.writing() as unit:
        return await unit.plays.commit(Finished(turn_id=turn_id, state={}, state_hash="h"))


async def _fail(store: Store, turn_id: str) -> bool:
    async with store.writing() as unit:
        return await unit.plays.fail(turn_id, status="cancelled", error=CANCELLED)


def _answering(number: int) -> Callable[[Unit], Awaitable[None]]:
    return lambda unit: unit.memo.put("same", {"n": number})
