"""The law of what a turn asks of the store: what it starts from, to begin it, and to commit it."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from fabula.ports.errors import Conflict, NotFound, PlayMoved
from fabula.ports.models import CallOrigin, CallRecord, Usage
from fabula.ports.plays import Finished, Turn
from fabula.ports.store import Reference, Store, TurnQuestion
from fabula.ports.work import Lease, NewWork, Work
from fabula.testing.plays_kit import BROKEN, finished, new_turn, opened, played, said, says


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

    async def test_the_work_on_what_follows_a_turn_is_begun_when_it_is_committed_and_only_then(
        self, store: Store
    ) -> None:
        await opened(store)
        follow = NewWork(work_id="f1", kind="followers", key="t1", subject="s", input={"turn_id": "t1"}, trace_id="t1")
        _, work = await _begin(store, "t1", "t0")
        done = replace(finished("t1"), follow=follow)
        assert not await store.commit_turn(done, work=replace(work, owner="another"))
        async with store.reading() as unit:
            assert await unit.work.get("f1") is None
        assert await store.commit_turn(done, work=work)
        assert not await store.commit_turn(done, work=work)
        async with store.reading() as unit:
            begun = await unit.work.get("f1")
        assert begun is not None
        assert (begun.kind, begun.key, begun.subject, begun.status) == ("followers", "t1", "s", "waiting")
        assert (begun.input, begun.trace_id, begun.attempt) == ({"turn_id": "t1"}, "t1", 0)

    async def test_begin_turn_and_commit_turn_do_what_the_plays_do(self, store: Store) -> None:
        await opened(store)
        begun, work = await _begin(store, "t1", "t0")
        with pytest.raises(Conflict) as refused:
            await _begin(store, "t2", "t0")
        assert refused.value.data["active_turn_id"] == "t1"
        assert await store.commit_turn(finished("t1", says(said("t1", 1, "one"))), work=work)
        assert not await store.commit_turn(finished("t1"), work=work)
        async with store.reading() as unit:
            play, turn = await unit.plays.get("s"), await unit.plays.turn("t1")
            lines = await unit.plays.transcript("t1")
        assert play is not None and (play.head_turn_id, play.active_turn_id) == ("t1", None)
        assert turn is not None and (turn.status, turn.created_at_ms) == ("committed", begun.created_at_ms)
        assert [line.text for line in lines] == ["one"]

    async def test_a_turn_that_was_cut_says_so_and_is_committed_like_any_other(self, store: Store) -> None:
        await opened(store)
        _, work = await _begin(store, "t1", "t0")
        assert await store.commit_turn(replace(finished("t1"), cut=True), work=work)
        _, work = await _begin(store, "t2", "t1")
        assert await store.commit_turn(finished("t2"), work=work)
        async with store.reading() as unit:
            turns = [await unit.plays.turn(turn_id) for turn_id in ("t1", "t2")]
        assert [(one.status, one.cut, one.shown_status) for one in turns if one is not None] == [
            ("committed", True, "cut"),
            ("committed", False, "committed"),
        ]

    async def test_begin_turn_is_refused_when_the_head_is_not_the_expected_one(self, store: Store) -> None:
        await _standing_at_t1(store)
        with pytest.raises(PlayMoved) as refused:
            await _begin(store, "t2", "t0")
        assert refused.value.data["head_turn_id"] == "t1"
        # A turn beside the head is begun as long as the head is where it was.
        await _begin(store, "t3", "t0", head="t1")

    async def test_begin_turn_of_an_unknown_session_is_refused(self, store: Store) -> None:
        with pytest.raises(NotFound):
            await _begin(store, "t1", "t0", session_id="nobody")

    async def test_of_many_who_begin_at_once_one_succeeds(self, store: Store) -> None:
        await opened(store)
        turns = (_begin(store, f"t{number}", "t0") for number in range(1, 9))
        outcomes = await asyncio.gather(*turns, return_exceptions=True)
        assert sum(not isinstance(one, Conflict) for one in outcomes) == 1

    async def test_of_many_who_begin_at_once_with_one_key_one_succeeds_for_ever(self, store: Store) -> None:
        await opened(store)

        async def begin_and_fail(number: int) -> None:
            _, work = await _begin(store, f"t{number}", "t0", key="k")
            async with store.writing() as unit:
                await unit.plays.fail(f"t{number}", status="failed", error=BROKEN)
                await unit.work.fail(work, BROKEN)

        outcomes = await asyncio.gather(*(begin_and_fail(number) for number in range(1, 9)), return_exceptions=True)
        assert sum(one is None for one in outcomes) == 1
        assert all(one is None or isinstance(one, Conflict) for one in outcomes)
        with pytest.raises(Conflict) as refused:
            await _begin(store, "late", "t0", key="k")
        assert refused.value.data["turn_id"] == f"t{outcomes.index(None) + 1}"
        async with store.reading() as unit:
            assert await unit.work.get("late") is None

    async def test_the_work_on_the_turn_is_begun_and_finished_in_the_same_transactions(self, store: Store) -> None:
        await opened(store)
        _, held = await _begin(store, "t1", "t0")
        async with store.reading() as unit:
            running = await unit.work.get("t1")
        assert running == held and held.status == "running"
        assert await store.commit_turn(finished("t1"), work=held)
        async with store.reading() as unit:
            done = await unit.work.get("t1")
        assert done is not None and done.status == "done"

    async def test_work_on_a_turn_that_was_refused_was_never_begun(self, store: Store) -> None:
        await _standing_at_t1(store)
        with pytest.raises(PlayMoved):
            await _begin(store, "t2", "t0")
        async with store.reading() as unit:
            assert await unit.work.get("t2") is None

    async def test_a_turn_whose_work_is_anothers_by_now_is_not_committed(self, store: Store) -> None:
        await opened(store)
        _, held = await _begin(store, "t1", "t0")
        async with store.writing() as unit:
            await unit.work.hold("t1", Lease(owner="other", until_ms=FOREVER_MS), gone=["me"])
        assert not await store.commit_turn(finished("t1"), work=held)
        async with store.reading() as unit:
            turn, play = await unit.plays.turn("t1"), await unit.plays.get("s")
        assert turn is not None and turn.status == "running"
        assert play is not None and play.head_turn_id == "t0"

    async def test_who_was_invited_is_told_apart_from_who_was_not(self, store: Store) -> None:
        await opened(store)
        async with store.writing() as unit:
            await unit.plays.invite("s", "guest")
        answers = [await store.read_turn_basis(TurnQuestion(session_id="s", token_id=id)) for id in ("guest", "other")]
        assert [one is not None and one.invited for one in answers] == [True, False]

    async def test_any_ancestor_is_found_of_turns_that_were_begun_so(self, store: Store) -> None:
        await opened(store)
        for number in range(1, 40):
            _, work = await _begin(store, f"t{number}", f"t{number - 1}", turn_index=number)
            await store.commit_turn(finished(f"t{number}"), work=work)
        async with store.reading() as unit:
            found = [(await unit.plays.ancestor("t39", number)).turn_id for number in range(40)]
            turns = [await unit.plays.turn(f"t{number}") for number in range(1, 40)]
        assert found == [f"t{number}" for number in range(40)]
        assert any(turn is not None and turn.jump_id != turn.parent_id for turn in turns)

    async def test_what_was_said_is_kept_letter_for_letter(self, store: Store) -> None:
        await opened(store)
        _, work = await _begin(store, "t1", "t0")
        texts = [
            "\"quoted\" \\ and 'quoted'",
            "zero\x01one",
            "snow \N{SNOWMAN} \U0001f3ad",
            "",
            "two\nlines\tand $1 :name",
        ]
        lines = [said("t1", place, text) for place, text in enumerate(texts)]
        assert await store.commit_turn(finished("t1", says(*lines)), work=work)
        async with store.reading() as unit:
            assert await unit.plays.transcript("t1") == lines

    async def test_if_the_caller_is_cancelled_a_turn_is_committed_whole_or_not_at_all(self, store: Store) -> None:
        await opened(store)
        for number in range(6):
            async with store.reading() as unit:
                play = await unit.plays.get("s")
            assert play is not None
            turn = new_turn(f"c{number}", play.head_turn_id, turn_index=play.turn_index + 1)
            _, held = await _begin(store, turn.turn_id, play.head_turn_id, turn_index=turn.turn_index)
            lines = [said(turn.turn_id, place, "line") for place in range(5)]
            committing = asyncio.create_task(store.commit_turn(finished(turn.turn_id, says(*lines)), work=held))
            await asyncio.sleep(0.001 * number)
            committing.cancel()
            await asyncio.gather(committing, return_exceptions=True)
            async with store.writing() as unit:
                # A statement that was cancelled may still run: who has the play sees the time before it, or after.
                await unit.plays.get("s")
                ended = await unit.plays.turn(turn.turn_id)
                said_then = [line for line in await unit.plays.transcript(turn.turn_id) if line.turn_id == turn.turn_id]
                assert ended is not None and len(said_then) == (5 if ended.status == "committed" else 0)
                await unit.plays.commit(Finished(turn_id=turn.turn_id, state={}, state_hash="h"))


async def _standing_at_t1(store: Store) -> None:
    await opened(store)
    await played(store, "t1", "t0", messages=says(*(said("t1", n, text) for n, text in enumerate(LINES))))
    async with store.writing() as unit:
        await unit.resources.add("schema", "there", {})


async def _begin(
    store: Store, turn_id: str, parent_id: str, *, head: str | None = None, **more: Any
) -> tuple[Turn, Work]:
    work = NewWork(work_id=turn_id, kind="turn", held=Lease(owner="me", until_ms=FOREVER_MS))
    return await store.begin_turn(new_turn(turn_id, parent_id, **more), expected_head=head or parent_id, work=work)


LINES = ("one", "two", "three")
FOREVER_MS = 2**50


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
