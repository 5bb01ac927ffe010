"""The conformance kit of plays: each sentence of the law in `fabula.ports.plays` is a test with the same words.

An adapter's test module says `class TestMyPlays(PlaysKit)` and gives the fixtures `store`, one that is open, and
`clock`, the FixedClock that this store reads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from fabula.ports.errors import Conflict, InvalidRequest, NotFound
from fabula.ports.plays import Finished, MessageChange, NewTurn, Play, SpokenMessage, Turn, TurnMark
from fabula.ports.store import Store
from fabula.story.error_values import ErrorValue, Hint
from fabula.story.values import JsonObject
from fabula.testing.world import FixedClock

BROKEN = ErrorValue(name="backend", message="no", hint=Hint.RETRY_TURN, data={"step": "narrator"})


def said(turn_id: str, place: int, text: str, *, message_id: str = "", turn_index: int = 1) -> SpokenMessage:
    """One line of a transcript."""
    return SpokenMessage(
        message_id=message_id or f"{turn_id}-{place}",
        turn_id=turn_id,
        turn_index=turn_index,
        sequence=place,
        kind="dialogue",
        speaker_id="mara",
        speaker_name="Mara",
        text=text,
        recorded_at_ms=1,
        created_at_ms=1,
        updated_at_ms=1,
        heard_by=("mara", "orr") if place else None,
    )


def says(*lines: SpokenMessage) -> list[MessageChange]:
    return [MessageChange(op="say", message=line) for line in lines]


def new_turn(
    turn_id: str, parent_id: str | None, *, session_id: str = "s", turn_index: int = 1, **more: Any
) -> NewTurn:
    return NewTurn(
        **{
            "turn_id": turn_id,
            "session_id": session_id,
            "parent_id": parent_id,
            "turn_index": turn_index,
            "kind": "start" if parent_id is None else "play",
            "player_input": f"words of {turn_id}",
            **more,
        }
    )


def finished(turn_id: str, messages: Sequence[MessageChange] = (), *, ended: bool = False) -> Finished:
    return Finished(
        turn_id=turn_id,
        state={"after": turn_id},
        state_hash=f"hash of {turn_id}",
        result={"told": turn_id},
        messages=messages,
        ended=ended,
    )


async def opened(store: Store, session_id: str = "s", start: str = "t0") -> Play:
    async with store.writing() as unit:
        return await unit.plays.add(
            session_id, new_turn(start, None, session_id=session_id, turn_index=0), finished(start)
        )


async def played(
    store: Store, turn_id: str, parent_id: str, *, session_id: str = "s", messages: Sequence[MessageChange] = ()
) -> None:
    """A turn that was begun and committed; its index is one more than its parent's."""
    async with store.writing() as unit:
        parent = await unit.plays.turn(parent_id)
        assert parent is not None
        await unit.plays.begin(new_turn(turn_id, parent_id, session_id=session_id, turn_index=parent.turn_index + 1))
        assert await unit.plays.commit(finished(turn_id, messages))


async def begun(store: Store, turn_id: str, parent_id: str, **more: Any) -> Turn:
    async with store.writing() as unit:
        return await unit.plays.begin(new_turn(turn_id, parent_id, **more))


async def play_of(store: Store, session_id: str = "s") -> Play:
    async with store.reading() as unit:
        play = await unit.plays.get(session_id)
    assert play is not None
    return play


async def texts(store: Store, turn_id: str, last: int | None = None) -> list[str]:
    async with store.reading() as unit:
        return [line.text for line in await unit.plays.transcript(turn_id, last=last)]


class PlaysKit:
    """The whole law."""

    async def test_begin_is_refused_with_conflict_naming_the_active_turn_while_the_session_has_one_in_flight(
        self, store: Store
    ) -> None:
        await opened(store)
        await begun(store, "t1", "t0")
        with pytest.raises(Conflict) as refused:
            await begun(store, "t2", "t0")
        assert refused.value.data["active_turn_id"] == "t1"
        async with store.reading() as unit:
            assert await unit.plays.turn("t2") is None

    async def test_so_is_amend_which_is_begun_and_committed_at_once(self, store: Store) -> None:
        await opened(store)
        async with store.writing() as unit:
            await unit.plays.amend(new_turn("a1", "t0", turn_index=0, kind="amend"), finished("a1"))
        play = await play_of(store)
        assert (play.head_turn_id, play.turn_index, play.active_turn_id) == ("a1", 0, None)
        await begun(store, "t1", "a1")
        with pytest.raises(Conflict) as refused:
            async with store.writing() as unit:
                await unit.plays.amend(new_turn("a2", "a1", turn_index=0, kind="amend"), finished("a2"))
        assert refused.value.data["active_turn_id"] == "t1"
        assert (await play_of(store)).head_turn_id == "a1"

    async def test_a_key_names_one_turn_of_a_session_for_ever(self, store: Store) -> None:
        await opened(store)
        await opened(store, "other", "o0")
        first = await begun(store, "t1", "t0", key="k", asked="these words")
        for ends in (lambda unit: unit.plays.fail("t1", status="failed", error=BROKEN), None):
            with pytest.raises(Conflict) as refused:
                await begun(store, "t2", "t0", key="k")
            assert refused.value.data["turn_id"] == "t1"
            if ends is not None:
                async with store.writing() as unit:
                    await ends(unit)
        await begun(store, "o1", "o0", session_id="other", key="k")
        async with store.reading() as unit:
            found = await unit.plays.by_key("s", "k")
            assert found is not None and (found.turn_id, found.status, found.key) == ("t1", "failed", "k")
            assert found.asked == first.asked == "these words"
            elsewhere = await unit.plays.by_key("other", "k")
            assert elsewhere is not None and elsewhere.turn_id == "o1"
            assert await unit.plays.by_key("s", "another") is None
            assert await unit.plays.turn("t2") is None

    async def test_largest_seed_is_that_of_the_turns_below_a_turn_in_which_these_words_were_said(
        self, store: Store
    ) -> None:
        await opened(store)
        for number, words, seed in ((1, "I knock.", 3), (2, "I knock.", 7), (3, "I wait.", 9)):
            await begun(store, f"t{number}", "t0", player_input=words, seed=seed, wish="shorter")
            async with store.writing() as unit:
                await unit.plays.fail(f"t{number}", status="failed", error=BROKEN)
        async with store.reading() as unit:
            found = [await unit.plays.largest_seed("t0", words) for words in ("I knock.", "I wait.", "I sing.")]
            assert found == [7, 9, 0]
            turn = await unit.plays.turn("t1")
            assert turn is not None and turn.wish == "shorter"

    async def test_without_a_key_nothing_is_a_repeat(self, store: Store) -> None:
        await opened(store)
        for number in (1, 2):
            await begun(store, f"t{number}", "t0")
            async with store.writing() as unit:
                await unit.plays.fail(f"t{number}", status="failed", error=BROKEN)
        async with store.reading() as unit:
            assert await unit.plays.by_key("s", "") is None

    async def test_commit_makes_turn_state_messages_and_head_true_together(self, store: Store) -> None:
        await opened(store)
        await begun(store, "t1", "t0")
        async with store.writing() as unit:
            assert await unit.plays.commit(finished("t1", says(said("t1", 0, "Who goes there?")), ended=True))
            async with store.reading() as other:
                assert await other.plays.state("t1") is None
                assert await other.plays.transcript("t1") == []
        async with store.reading() as unit:
            turn = await unit.plays.turn("t1")
            assert turn is not None and (turn.status, turn.state_hash) == ("committed", "hash of t1")
            assert await unit.plays.state("t1") == {"after": "t1"}
            assert await unit.plays.result("t1") == {"told": "t1"}
        play = await play_of(store)
        assert (play.head_turn_id, play.turn_index, play.active_turn_id, play.status) == ("t1", 1, None, "ended")
        assert await texts(store, "t1") == ["Who goes there?"]

    async def test_commit_of_a_turn_that_is_no_longer_running_answers_false_and_changes_nothing(
        self, store: Store
    ) -> None:
        await opened(store)
        await played(store, "t1", "t0", messages=says(said("t1", 0, "Once.")))
        await begun(store, "t2", "t1", turn_index=2)
        async with store.writing() as unit:
            await unit.plays.fail("t2", status="cancelled", error=BROKEN)
        for turn_id in ("t1", "t2", "never"):
            async with store.writing() as unit:
                assert not await unit.plays.commit(finished(turn_id, says(said(turn_id, 1, "Twice."))))
        assert (await play_of(store)).head_turn_id == "t1"
        assert await texts(store, "t1") == ["Once."]

    async def test_fail_ends_a_running_turn_keeps_its_input_and_moves_no_head(self, store: Store) -> None:
        await opened(store)
        await begun(store, "t1", "t0")
        async with store.writing() as unit:
            assert await unit.plays.fail("t1", status="failed", error=BROKEN)
            assert not await unit.plays.fail("t1", status="cancelled", error=BROKEN)
        async with store.reading() as unit:
            turn, last = await unit.plays.turn("t1"), await unit.plays.last_failed("s", "t0")
        assert turn is not None and turn == last
        assert (turn.status, turn.player_input, turn.error) == ("failed", "words of t1", BROKEN)
        play = await play_of(store)
        assert (play.head_turn_id, play.active_turn_id) == ("t0", None)

    async def test_move_head_to_a_turn_of_another_tree_or_one_that_is_not_committed_is_refused(
        self, store: Store
    ) -> None:
        await opened(store)
        await opened(store, "other", "o0")
        await begun(store, "t1", "t0")
        async with store.writing() as unit:
            await unit.plays.fail("t1", status="failed", error=BROKEN)
        for turn_id in ("o0", "t1"):
            with pytest.raises(InvalidRequest):
                async with store.writing() as unit:
                    await unit.plays.move_head("s", turn_id)
        with pytest.raises(NotFound):
            async with store.writing() as unit:
                await unit.plays.move_head("s", "never")
        assert (await play_of(store)).head_turn_id == "t0"

    async def test_a_head_is_not_moved_while_a_turn_is_in_flight(self, store: Store) -> None:
        await opened(store)
        await played(store, "t1", "t0")
        await begun(store, "t2", "t1", turn_index=2)
        with pytest.raises(Conflict):
            async with store.writing() as unit:
                await unit.plays.move_head("s", "t0")

    async def test_a_play_is_ended_where_it_stands_at_a_turn_that_ended_it_also_after_move_head_and_fork(
        self, store: Store
    ) -> None:
        await opened(store)
        await begun(store, "t1", "t0")
        async with store.writing() as unit:
            await unit.plays.commit(finished("t1", ended=True))
            assert (await unit.plays.move_head("s", "t0", ended=False)).status == "open"
            assert (await unit.plays.move_head("s", "t1", ended=True)).status == "ended"
            assert (await unit.plays.fork("forked", "t1", ended=True)).status == "ended"
        assert (await play_of(store, "forked")).status == "ended"

    async def test_profiles_finds_the_player_profile_that_the_state_at_a_head_names(self, store: Store) -> None:
        states: dict[str, JsonObject] = {
            "a": {"player_profile_id": 'an"n', "told": "a NUL \0 and more"},
            "b": {"player_profile_id": None},
            "c": {"snapshot": {"player_profile_id": "not this one"}},
        }
        async with store.writing() as unit:
            for name, state in states.items():
                start = new_turn(f"{name}0", None, session_id=name, turn_index=0)
                await unit.plays.add(name, start, replace(finished(f"{name}0"), state=state))
        async with store.reading() as unit:
            assert await unit.plays.profiles([*states, "nobody"]) == {"a": 'an"n'}
            assert await unit.plays.profiles([]) == {}

    async def test_ancestor_finds_the_nearest_turn_whose_turn_index_is_at_most_the_one_asked_for(
        self, store: Store
    ) -> None:
        await opened(store)
        async with store.writing() as unit:
            for number in range(1, 70):
                await unit.plays.begin(new_turn(f"t{number}", f"t{number - 1}", turn_index=number))
                await unit.plays.commit(finished(f"t{number}"))
            # A change by hand has the index of its parent; who goes back to that index finds the change.
            await unit.plays.amend(new_turn("a69", "t69", turn_index=69, kind="amend"), finished("a69"))
        async with store.reading() as unit:
            for asked in (0, 1, 33, 68):
                assert (await unit.plays.ancestor("a69", asked)).turn_id == f"t{asked}"
            assert (await unit.plays.ancestor("a69", 69)).turn_id == "a69"

    async def test_nearest_summary_finds_the_one_of_the_nearest_turn_at_or_above_and_never_that_of_another_branch(
        self, store: Store
    ) -> None:
        await opened(store)
        for turn_id, parent in (("t1", "t0"), ("t2", "t1"), ("t3", "t2"), ("other", "t1")):
            await played(store, turn_id, parent)
            if turn_id == "t3":
                async with store.writing() as unit:
                    await unit.plays.move_head("s", "t1")
        async with store.writing() as unit:
            await unit.plays.keep_summary("t1", {"story": "old"})
            await unit.plays.keep_summary("t1", {"story": "at t1"})
            await unit.plays.keep_summary("other", {"story": "at other"})
        async with store.reading() as unit:
            found = {name: await unit.plays.nearest_summary(name, within=5) for name in ("t0", "t1", "t3", "other")}
            near = [await unit.plays.nearest_summary("t3", within=steps) for steps in (1, 2)]
        assert found == {
            "t0": None,
            "t1": {"story": "at t1"},
            "t3": {"story": "at t1"},
            "other": {"story": "at other"},
        }
        assert near == [None, {"story": "at t1"}]

    async def test_nearest_world_finds_what_was_kept_first_and_within_no_steps_only_that_of_the_turn_itself(
        self, store: Store
    ) -> None:
        await opened(store)
        await played(store, "t1", "t0")
        await played(store, "t2", "t1")
        async with store.writing() as unit:
            await unit.plays.keep_world("t1", {"version": 1})
            await unit.plays.keep_world("t1", {"version": 7})
        async with store.reading() as unit:
            found = {name: await unit.plays.nearest_world(name, within=5) for name in ("t0", "t1", "t2")}
            own = [await unit.plays.nearest_world(name, within=0) for name in ("t1", "t2")]
        assert found == {"t0": None, "t1": {"version": 1}, "t2": {"version": 1}}
        assert own == [{"version": 1}, None]

    async def test_ancestors_are_a_logarithmic_number_of_reads_away(self, store: Store) -> None:
        await opened(store)
        async with store.writing() as unit:
            for number in range(1, 257):
                await unit.plays.begin(new_turn(f"t{number}", f"t{number - 1}", turn_index=number))
                await unit.plays.commit(finished(f"t{number}"))
            turns = {turn.turn_id: turn for turn in await unit.plays.tree("t0")}
        for depth in (0, 1, 100, 200, 255):
            turn, steps = turns["t256"], 0
            while turn.depth > depth:
                far = turns[turn.jump_id or ""]
                turn, steps = far if far.depth >= depth else turns[turn.parent_id or ""], steps + 1
            assert steps <= 3 * 8

    async def test_transcript_reads_a_heads_own_line_only(self, store: Store) -> None:
        await opened(store)
        await played(store, "t1", "t0", messages=says(said("t1", 0, "First."), said("t1", 1, "Second.")))
        await played(store, "t2", "t1", messages=says(said("t2", 2, "Left.")))
        async with store.writing() as unit:
            await unit.plays.move_head("s", "t1")
        edit = MessageChange(op="edit", message=said("t1", 0, "First, edited."))
        strike = MessageChange(op="strike", message=said("t1", 1, ""))
        await played(store, "t3", "t1", messages=[edit, strike, *says(said("t3", 2, "Right."))])
        assert await texts(store, "t3") == ["First, edited.", "Right."]
        assert await texts(store, "t2") == ["First.", "Second.", "Left."]
        assert await texts(store, "t1") == ["First.", "Second."]
        assert await texts(store, "t2", last=1) == ["Left."]

    async def test_lines_before_and_lines_after_read_the_lines_next_to_a_message(self, store: Store) -> None:
        await opened(store)
        await played(store, "t1", "t0", messages=says(*(said("t1", n, f"Line {n}.") for n in range(4))))
        edit = MessageChange(op="edit", message=said("t1", 1, "Edited."))
        strike = MessageChange(op="strike", message=said("t1", 2, ""))
        await played(store, "t2", "t1", messages=[edit, strike, *says(said("t2", 4, "On."))])
        async with store.writing() as unit:
            await unit.plays.move_head("s", "t1")
        await played(store, "t3", "t1", messages=says(said("t3", 4, "Elsewhere.")))
        async with store.reading() as unit:

            async def read(turn_id: str, message_id: str | None, limit: int, *, back: bool) -> list[str] | None:
                if back:
                    found = await unit.plays.lines_before(turn_id, message_id or "", limit=limit)
                else:
                    found = await unit.plays.lines_after(turn_id, message_id, limit=limit)
                return None if found is None else [line.text for line in found]

            assert await read("t2", "t2-4", 2, back=True) == ["Edited.", "Line 3."]
            assert await read("t2", "t1-0", 2, back=False) == ["Edited.", "Line 3."]
            assert await read("t2", None, 9, back=False) == ["Line 0.", "Edited.", "Line 3.", "On."]
            assert await read("t2", "t1-2", 9, back=False) == ["Line 3.", "On."]
            assert await read("t2", "t1-2", 9, back=True) == ["Line 0.", "Edited."]
            assert await read("t1", "t1-1", 9, back=False) == ["Line 2.", "Line 3."]
            assert await read("t2", "t1-0", 1, back=True) == []
            assert await read("t2", "t2-4", 1, back=False) == []
            for elsewhere in ("t3-4", "never"):
                assert await read("t2", elsewhere, 9, back=True) is None
                assert await read("t2", elsewhere, 9, back=False) is None

    async def test_lines_far_from_the_end_of_a_long_line_are_found_with_all_that_became_of_them(
        self, store: Store
    ) -> None:
        await opened(store)
        async with store.writing() as unit:
            for number in range(1, 120):
                turn_id = f"t{number}"
                await unit.plays.begin(new_turn(turn_id, f"t{number - 1}", turn_index=number))
                line = said(turn_id, number, f"Line {number}.", message_id=f"m{number}", turn_index=number)
                await unit.plays.commit(finished(turn_id, says(line) if number % 10 else ()))
            changes = [MessageChange(op="strike", message=said("t50", n, "", message_id=f"m{n}")) for n in (45, 46, 47)]
            edit = MessageChange(op="edit", message=said("t44", 44, "Edited.", message_id="m44", turn_index=44))
            await unit.plays.amend(
                new_turn("a1", "t119", turn_index=119, kind="amend"), finished("a1", [edit, *changes])
            )
        async with store.reading() as unit:
            before = await unit.plays.lines_before("a1", "m48", limit=3)
            assert before is not None and [line.text for line in before] == ["Line 42.", "Line 43.", "Edited."]
            assert [line.edited for line in before] == [False, False, True]
            after = await unit.plays.lines_after("a1", "m44", limit=3)
            assert after is not None and [line.text for line in after] == ["Line 48.", "Line 49.", "Line 51."]
            every = await unit.plays.lines_before("a1", "m119", limit=1000)
            assert every is not None and every == (await unit.plays.transcript("a1"))[:-1]
            rest = await unit.plays.lines_after("a1", None, limit=1000)
            assert rest == await unit.plays.transcript("a1")

    async def test_wordings_are_all_that_a_line_said_the_first_one_first(self, store: Store) -> None:
        await opened(store)
        line = said("t1", 0, "First.")
        await played(store, "t1", "t0", messages=says(line))
        await played(store, "t2", "t1", messages=[MessageChange(op="edit", message=replace(line, text="Second."))])
        await played(store, "t3", "t2", messages=[MessageChange(op="edit", message=replace(line, text="Third."))])
        await played(store, "t4", "t3", messages=[MessageChange(op="strike", message=line)])
        async with store.reading() as unit:
            for turn_id, wanted in {"t1": 1, "t2": 2, "t3": 3, "t4": 0}.items():
                found = await unit.plays.wordings(turn_id, line.message_id)
                assert [one.text for one in found] == ["First.", "Second.", "Third."][:wanted]
                assert [one.edited for one in found] == [False, True, True][:wanted]
            assert await unit.plays.wordings("t3", "never") == []

    async def test_on_line_names_those_of_the_wanted_turns_that_are_on_the_line(self, store: Store) -> None:
        await opened(store)
        await opened(store, "other", "o0")
        async with store.writing() as unit:
            for number in range(1, 40):
                await unit.plays.begin(new_turn(f"t{number}", f"t{number - 1}", turn_index=number))
                await unit.plays.commit(finished(f"t{number}"))
            await unit.plays.move_head("s", "t7")
            await unit.plays.begin(new_turn("b8", "t7", turn_index=8))
            await unit.plays.commit(finished("b8"))
        async with store.reading() as unit:
            every = [f"t{number}" for number in range(40)]
            assert await unit.plays.on_line("t39", [*every, "b8", "o0", "never"]) == frozenset(every)
            assert await unit.plays.on_line("b8", [*every, "b8"]) == frozenset([*every[:8], "b8"])
            assert await unit.plays.on_line("b8", []) == frozenset()

    async def test_message_finds_a_line_by_its_id_as_it_reads_at_the_head(self, store: Store) -> None:
        await opened(store)
        first, second = said("t1", 0, "First."), said("t1", 1, "Second.")
        await played(store, "t1", "t0", messages=says(first, second))
        edit = MessageChange(op="edit", message=said("t1", 0, "Edited."))
        await played(store, "t2", "t1", messages=[edit, MessageChange(op="strike", message=second)])
        async with store.reading() as unit:
            found = [await unit.plays.message(turn, first.message_id) for turn in ("t0", "t1", "t2")]
            assert [None if one is None else one.text for one in found] == [None, "First.", "Edited."]
            assert await unit.plays.message("t2", second.message_id) is None

    async def test_shape_lists_the_finished_turns_of_a_tree_in_short(self, store: Store) -> None:
        await opened(store)
        await opened(store, "other", "o0")
        await played(store, "t1", "t0")
        await begun(store, "t2", "t1", turn_index=2)
        async with store.writing() as unit:
            await unit.plays.fail("t2", status="failed", error=BROKEN)
        await begun(store, "t3", "t1", turn_index=2)
        async with store.reading() as unit:
            assert [tuple(place) for place in await unit.plays.shape("t0")] == [
                ("t0", None, "s", "start", "committed"),
                ("t1", "t0", "s", "play", "committed"),
                ("t2", "t1", "s", "play", "failed"),
            ]
            assert sorted(await unit.plays.turns(["t3", "o0", "never"])) == ["o0", "t3"]
            assert await unit.plays.turns([]) == {}

    async def test_tellings_are_the_completed_turns_of_play_directly_below_some_turns(self, store: Store) -> None:
        await opened(store)
        for turn_id in ("t1", "t2"):
            await played(store, turn_id, "t0")
            async with store.writing() as unit:
                await unit.plays.move_head("s", "t0")
        await begun(store, "t3", "t0")
        async with store.writing() as unit:
            await unit.plays.fail("t3", status="cancelled", error=BROKEN)
            await unit.plays.amend(new_turn("a1", "t0", turn_index=0, kind="amend"), finished("a1"))
            await unit.plays.begin(new_turn("t4", "a1"))
            await unit.plays.commit(finished("t4"))
        async with store.reading() as unit:
            assert [turn.turn_id for turn in await unit.plays.tellings(["t0"])] == ["t1", "t2"]
            assert [turn.turn_id for turn in await unit.plays.tellings(["a1", "t0", "t4"])] == ["t1", "t2", "t4"]

    async def test_beginnings_are_the_first_words_that_were_told_in_a_turn(self, store: Store) -> None:
        await opened(store)
        asked = replace(said("t1", 0, "What the player said."), kind="player_input")
        told = said("t1", 1, "What was told, at length.")
        await played(store, "t1", "t0", messages=says(asked, told, said("t1", 2, "And more.")))
        await played(store, "t2", "t1", messages=says(replace(said("t2", 3, "Only words."), kind="player_input")))
        edit = MessageChange(op="edit", message=replace(told, text="Corrected."))
        await played(store, "t3", "t2", messages=[edit, *says(said("t3", 4, "At last."))])
        async with store.reading() as unit:
            found = await unit.plays.beginnings(["t0", "t1", "t2", "t3"], letters=8)
            assert found == {"t1": "What was", "t3": "At last."}
            assert await unit.plays.messages_of("t3") == ["t1-1", "t3-4"]
            assert await unit.plays.messages_of("t0") == []

    async def test_mark_writes_a_name_or_a_bookmark_beside_a_turn_in_place_of_what_stood_there(
        self, store: Store
    ) -> None:
        await opened(store)
        await played(store, "t1", "t0")
        async with store.writing() as unit:
            await unit.plays.mark(TurnMark(turn_id="t1", name="The cellar"))
            await unit.plays.mark(TurnMark(turn_id="t0", bookmarked=True))
            await unit.plays.mark(TurnMark(turn_id="t1", name="The cellar door", bookmarked=True))
        async with store.reading() as unit:
            every = await unit.plays.marks("t0")
            assert every == [
                TurnMark(turn_id="t0", bookmarked=True),
                TurnMark(turn_id="t1", name="The cellar door", bookmarked=True),
            ]
            assert await unit.plays.marks("t0", limit=1) == every[:1]
            assert await unit.plays.marks("t0", after="t0") == every[1:]
            assert await unit.plays.marks_of(["t1", "never"]) == {"t1": every[1]}
        with pytest.raises(NotFound):
            async with store.writing() as unit:
                await unit.plays.mark(TurnMark(turn_id="never", bookmarked=True))

    async def test_marks_without_name_and_bookmark_are_removed_and_all_go_with_the_tree(self, store: Store) -> None:
        await opened(store)
        await played(store, "t1", "t0")
        async with store.writing() as unit:
            await unit.plays.mark(TurnMark(turn_id="t0", name="Here"))
            await unit.plays.mark(TurnMark(turn_id="t1", bookmarked=True))
            await unit.plays.mark(TurnMark(turn_id="t0"))
            assert [mark.turn_id for mark in await unit.plays.marks("t0")] == ["t1"]
            await unit.plays.remove("s")
            assert await unit.plays.marks("t0") == []

    async def test_remove_of_a_play_keeps_the_tree_while_another_play_stands_on_it(self, store: Store) -> None:
        await opened(store)
        await played(store, "t1", "t0", messages=says(said("t1", 0, "Kept.")))
        async with store.writing() as unit:
            fork = await unit.plays.fork("forked", "t1")
            assert (fork.tree_id, fork.head_turn_id, fork.turn_index) == ("t0", "t1", 1)
            await unit.plays.remove("s")
            assert await unit.plays.get("s") is None
        assert await texts(store, "t1") == ["Kept."]
        async with store.reading() as unit:
            assert [play.session_id for play in await unit.plays.heads("t0")] == ["forked"]

    async def test_remove_of_the_last_play_removes_the_tree_with_it(self, store: Store) -> None:
        await opened(store)
        await played(store, "t1", "t0", messages=says(said("t1", 0, "Gone.")))
        await begun(store, "t2", "t1", turn_index=2)
        async with store.writing() as unit:
            await unit.plays.remove("s")
        async with store.reading() as unit:
            assert [await unit.plays.turn(id) for id in ("t0", "t1", "t2")] == [None] * 3
            assert await unit.plays.state("t1") is None
            assert await unit.plays.transcript("t1") == []

    async def test_the_turn_in_flight_of_a_play_that_is_removed_is_cancelled(self, store: Store) -> None:
        await opened(store)
        async with store.writing() as unit:
            await unit.plays.fork("forked", "t0")
        await begun(store, "t1", "t0")
        async with store.writing() as unit:
            await unit.plays.remove("s")
            turn = await unit.plays.turn("t1")
            assert turn is not None and turn.status == "cancelled"
            assert await unit.plays.running() == []
            assert not await unit.plays.commit(finished("t1"))

    async def test_recent_lists_the_plays_that_changed_last_newest_first(self, store: Store, clock: FixedClock) -> None:
        for name in ("a", "b", "c"):
            clock.advance(10)
            await opened(store, name, f"{name}0")
        clock.advance(10)
        await played(store, "a1", "a0", session_id="a")
        async with store.reading() as unit:
            assert [play.session_id for play in await unit.plays.recent(limit=2)] == ["a", "c"]

    async def test_running_lists_the_turns_in_flight_of_all_sessions(self, store: Store) -> None:
        for name in ("a", "b", "c"):
            await opened(store, name, f"{name}0")
            await begun(store, f"{name}1", f"{name}0", session_id=name)
        async with store.writing() as unit:
            await unit.plays.commit(finished("b1"))
        async with store.reading() as unit:
            found = await unit.plays.running()
        assert [turn.turn_id for turn in found] == ["a1", "c1"]

    async def test_a_token_reaches_the_plays_that_it_owns_and_those_it_was_invited_to(self, store: Store) -> None:
        async with store.writing() as unit:
            for session_id, owner in (("s2", "ada"), ("s1", "ada"), ("s3", "bea"), ("s4", None)):
                start = new_turn(f"t-{session_id}", None, session_id=session_id, turn_index=0)
                await unit.plays.add(session_id, start, finished(start.turn_id), owner_token_id=owner)
            for _ in range(2):
                await unit.plays.invite("s3", "ada")
            await unit.plays.invite("s1", "ada")
        async with store.reading() as unit:
            assert (await play_of(store, "s3")).owner_token_id == "bea"
            assert await unit.plays.reached_by("ada") == ["s1", "s2", "s3"]
            assert await unit.plays.reached_by("ada", after="s1", limit=1) == ["s2"]
            assert await unit.plays.reached_by("") == [] == await unit.plays.reached_by("nobody")
            assert await unit.plays.count_reached("ada") == 3
            recent = await unit.plays.recent(limit=9, token_id="ada")
            assert [play.session_id for play in recent] == ["s3", "s2", "s1"]

    async def test_an_invitation_ends_with_uninvite_or_with_the_play(self, store: Store) -> None:
        await opened(store)
        async with store.writing() as unit:
            await unit.plays.invite("s", "ada")
            assert await unit.plays.is_invited("s", "ada") and not await unit.plays.is_invited("s", "bea")
            await unit.plays.uninvite("s", "ada")
            assert not await unit.plays.is_invited("s", "ada")
            await unit.plays.invite("s", "ada")
            await unit.plays.remove("s")
            assert not await unit.plays.is_invited("s", "ada")
            with pytest.raises(NotFound):
                await unit.plays.invite("s", "ada")

    async def test_last_lines_finds_the_last_line_before_each_head_as_it_reads_there(self, store: Store) -> None:
        await opened(store)
        await played(store, "t1", "t0", messages=says(said("t1", 1, "first"), said("t1", 2, "second")))
        await played(store, "t2", "t1", messages=says(said("t2", 3, "third")))
        struck = [MessageChange(op="strike", message=said("t2", 3, "third"))]
        await played(store, "t3", "t2", messages=struck)
        edited = [MessageChange(op="edit", message=said("t1", 2, "second, but longer " + "x" * 900, message_id="t1-2"))]
        await played(store, "t4", "t3", messages=edited)
        parent = "t4"
        for number in range(5, 15):
            await played(store, f"t{number:02}", parent)
            parent = f"t{number:02}"
        async with store.reading() as unit:
            lines = await unit.plays.last_lines(["t0", "t1", "t2", "t3", "t14", "nobody"])
            assert await unit.plays.last_lines([]) == {}
        assert {head: line.text for head, line in lines.items() if head != "t14"} == {
            "t1": "second",
            "t2": "third",
            "t3": "second",
        }
        assert lines["t14"].text.startswith("second, but longer xxx") and len(lines["t14"].text) < 500
        assert (lines["t14"].speaker_name, lines["t14"].kind) == ("Mara", "dialogue")

    async def test_named_turns_lists_those_with_a_name_newest_first_of_a_token_only_those_it_reaches(
        self, store: Store
    ) -> None:
        for id, owner in (("a", "ann"), ("b", "bob")):
            start = new_turn(f"start-{id}", None, session_id=id, turn_index=0)
            async with store.writing() as unit:
                await unit.plays.add(id, start, finished(start.turn_id), owner_token_id=owner)
            await played(store, f"t1-{id}", f"start-{id}", session_id=id)
        async with store.writing() as unit:
            await unit.plays.fork("fork", "t1-a", owner_token_id="bob")
            for turn_id, name in (("start-a", "The quay"), ("t1-b", "The mill"), ("t1-a", "")):
                await unit.plays.mark(TurnMark(turn_id=turn_id, name=name, bookmarked=True))
        async with store.reading() as unit:
            everyones = await unit.plays.named_turns(limit=9)
            bobs = await unit.plays.named_turns(limit=9, token_id="bob")
            first = await unit.plays.named_turns(limit=1)
        assert [(one.turn_id, one.session_id, one.name) for one in everyones] == [
            ("t1-b", "b", "The mill"),
            ("start-a", "a", "The quay"),
        ]
        assert (bobs, first) == (everyones[:1], everyones[:1])
        async with store.writing() as unit:
            await unit.plays.remove("a")
        async with store.reading() as unit:
            assert await unit.plays.named_turns(limit=9) == everyones[:1]

    async def test_touch_makes_a_play_the_one_that_changed_last(self, store: Store, clock: FixedClock) -> None:
        for id in "ab":
            await opened(store, id, f"start-{id}")
            clock.advance(1)
        async with store.writing() as unit:
            await unit.plays.touch("a")
        async with store.reading() as unit:
            assert [play.session_id for play in await unit.plays.recent(limit=9)] == ["a", "b"]

    async def test_a_fork_has_its_own_owner_and_nobody_is_invited_to_it(self, store: Store) -> None:
        await opened(store)
        async with store.writing() as unit:
            await unit.plays.invite("s", "ada")
            await unit.plays.fork("s2", "t0", owner_token_id="bea")
            assert not await unit.plays.is_invited("s2", "ada")
        assert (await play_of(store, "s2")).owner_token_id == "bea"
        assert (await play_of(store, "s")).owner_token_id is None
