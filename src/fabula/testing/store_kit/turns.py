"""The law of what a turn asks of the store: what it starts from, to begin it, and to commit it."""

from __future__ import annotations

import asyncio

import pytest

from fabula.ports.errors import Conflict, NotFound, PlayMoved
from fabula.ports.models import CallOrigin, CallRecord, Usage
from fabula.ports.plays import Finished
from fabula.ports.store import Reference, Store, TurnQuestion
from fabula.ports.work import Lease, NewWork
from fabula.testing.plays_kit import finished, new_turn, opened, played, said, says
from fabula.testing.world import FixedClock


class TurnsLaw:
    async def test_read_turn_basis_answers_what_a_turn_starts_from(self, store: Store) -> None:
        await _standing_at_t1(store)
        names = [Reference(kind="schema", id="there"), Reference(kind="schema", id="missing")]
        basis = await store.read_turn_basis(TurnQuestion(session_id="s", lines=2, names=names))
        assert basis is not None
        assert (basis.play.head_turn_id, basis.play.turn_index, basis.state) == ("t1", 1, {"after": "t1"})
        assert [line.text for line in basis.past] == ["two", "three"]
        assert basis.revisions == {names[0]: 1}

    async def test_what_is_at_hand_after_the_known_turn_is_not_read_again(self, store: Store) -> None:
        await _standing_at_t1(store)
        known = await store.read_turn_basis(TurnQuestion(session_id="s", known_turn_id="t1", lines=2))
        other = await store.read_turn_basis(TurnQuestion(session_id="s", known_turn_id="t0", lines=2))
        assert known is not None and (known.state, known.past) == (None, ())
        assert other is not None and other.state == {"after": "t1"}

    async def test_read_turn_basis_answers_none_for_an_unknown_session(self, store: Store) -> None:
        assert await store.read_turn_basis(TurnQuestion(session_id="nobody")) is None

    async def test_tokens_are_counted_for_a_play_with_a_budget(self, store: Store) -> None:
        await opened(store)
        async with store.writing() as unit:
            await unit.calls.add(_call(10), _call(32))
        without = await store.read_turn_basis(TurnQuestion(session_id="s"))
        async with store.writing() as unit:
            await unit.plays.set_budget("s", 100)
        within = await store.read_turn_basis(TurnQuestion(session_id="s"))
        assert without is not None and without.tokens_used == 0
        assert within is not None and within.tokens_used == 42

    async def test_begin_turn_and_commit_turn_do_what_the_plays_do(self, store: Store) -> None:
        await opened(store)
        begun = await store.begin_turn(new_turn("t1", "t0"), expected_head="t0")
        with pytest.raises(Conflict) as refused:
            await store.begin_turn(new_turn("t2", "t0"), expected_head="t0")
        assert refused.value.data["active_turn_id"] == "t1"
        assert await store.commit_turn(finished("t1", says(said("t1", 1, "one"))))
        assert not await store.commit_turn(finished("t1"))
        async with store.reading() as unit:
            play, turn = await unit.plays.get("s"), await unit.plays.turn("t1")
            lines = await unit.plays.transcript("t1")
        assert play is not None and (play.head_turn_id, play.active_turn_id) == ("t1", None)
        assert turn is not None and (turn.status, turn.created_at_ms) == ("committed", begun.created_at_ms)
        assert [line.text for line in lines] == ["one"]

    async def test_begin_turn_is_refused_when_the_head_is_not_the_expected_one(self, store: Store) -> None:
        await _standing_at_t1(store)
        with pytest.raises(PlayMoved) as refused:
            await store.begin_turn(new_turn("t2", "t0"), expected_head="t0")
        assert refused.value.data["head_turn_id"] == "t1"
        # A turn beside the head is begun as long as the head is where it was.
        await store.begin_turn(new_turn("t3", "t0"), expected_head="t1")

    async def test_begin_turn_of_an_unknown_session_is_refused(self, store: Store) -> None:
        with pytest.raises(NotFound):
            await store.begin_turn(new_turn("t1", "t0", session_id="nobody"), expected_head="t0")

    async def test_of_many_who_begin_at_once_one_succeeds(self, store: Store) -> None:
        await opened(store)
        turns = (store.begin_turn(new_turn(f"t{number}", "t0"), expected_head="t0") for number in range(1, 9))
        outcomes = await asyncio.gather(*turns, return_exceptions=True)
        assert sum(not isinstance(one, Conflict) for one in outcomes) == 1

    async def test_work_is_begun_and_finished_in_the_same_transaction(self, store: Store, clock: FixedClock) -> None:
        await opened(store)
        work = NewWork(work_id="w1", kind="turn", held=Lease(owner="me", until_ms=clock.now_ms() + 1000))
        await store.begin_turn(new_turn("t1", "t0"), expected_head="t0", work=work)
        async with store.reading() as unit:
            held = await unit.work.get("w1")
        assert held is not None and held.status == "running"
        assert await store.commit_turn(finished("t1"), work=held)
        async with store.reading() as unit:
            done = await unit.work.get("w1")
        assert done is not None and done.status == "done"

    async def test_work_of_a_turn_that_was_refused_was_never_begun(self, store: Store) -> None:
        await _standing_at_t1(store)
        with pytest.raises(PlayMoved):
            await store.begin_turn(new_turn("t2", "t0"), expected_head="t0", work=NewWork(work_id="w1", kind="turn"))
        async with store.reading() as unit:
            assert await unit.work.get("w1") is None

    async def test_a_turn_whose_work_is_anothers_by_now_is_not_committed(self, store: Store, clock: FixedClock) -> None:
        await opened(store)
        mine = Lease(owner="me", until_ms=clock.now_ms() + 1000)
        await store.begin_turn(
            new_turn("t1", "t0"), expected_head="t0", work=NewWork(work_id="w1", kind="turn", held=mine)
        )
        async with store.writing() as unit:
            held = await unit.work.get("w1")
            await unit.work.hold("w1", Lease(owner="other", until_ms=clock.now_ms() + 1000), gone=["me"])
        assert held is not None
        assert not await store.commit_turn(finished("t1"), work=held)
        async with store.reading() as unit:
            turn, play = await unit.plays.turn("t1"), await unit.plays.get("s")
        assert turn is not None and turn.status == "running"
        assert play is not None and play.head_turn_id == "t0"

    async def test_if_the_caller_is_cancelled_a_turn_is_committed_whole_or_not_at_all(self, store: Store) -> None:
        await opened(store)
        for number in range(6):
            async with store.reading() as unit:
                play = await unit.plays.get("s")
            assert play is not None
            turn = new_turn(f"c{number}", play.head_turn_id, turn_index=play.turn_index + 1)
            await store.begin_turn(turn, expected_head=play.head_turn_id)
            lines = [said(turn.turn_id, place, "line") for place in range(5)]
            committing = asyncio.create_task(store.commit_turn(finished(turn.turn_id, says(*lines))))
            await asyncio.sleep(0.001 * number)
            committing.cancel()
            await asyncio.gather(committing, return_exceptions=True)
            async with store.writing() as unit:
                ended = await unit.plays.turn(turn.turn_id)
                said_then = [line for line in await unit.plays.transcript(turn.turn_id) if line.turn_id == turn.turn_id]
                assert ended is not None and len(said_then) == (5 if ended.status == "committed" else 0)
                await unit.plays.commit(Finished(turn_id=turn.turn_id, state={}, state_hash="h"))


async def _standing_at_t1(store: Store) -> None:
    await opened(store)
    await played(store, "t1", "t0", messages=says(*(said("t1", n, text) for n, text in enumerate(LINES))))
    async with store.writing() as unit:
        await unit.resources.add("schema", "there", {})


LINES = ("one", "two", "three")


def _call(tokens: int) -> CallRecord:
    return CallRecord(
        origin=CallOrigin(agent="narrator", session_id="s"),
        model="m",
        usage=Usage(prompt_tokens=tokens, completion_tokens=0),
        latency_ms=1,
        first_piece_ms=None,
        memo_hit=False,
        outcome="ok",
        recorded_at_ms=1,
    )
