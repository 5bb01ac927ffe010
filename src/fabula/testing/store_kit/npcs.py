"""The law of what NPCs lived through."""

from __future__ import annotations

from fabula.ports.npcs import NpcKey, Settled
from fabula.ports.store import Store, Unit
from fabula.story.npc import GameEvent, PlayedTag
from fabula.testing.world import FixedClock

MARA, ORR = NpcKey(game_id="g", agent_id="mara"), NpcKey(game_id="g", agent_id="orr")


def _event(text: str) -> GameEvent:
    return GameEvent(event_id=f"e-{text}", text=text)


async def _begin(unit: Unit, npc: NpcKey, turn_id: str, connection_id: str = "c1") -> None:
    await unit.npcs.begin(npc, turn_id=turn_id, connection_id=connection_id, event=_event(turn_id))


async def _settle(unit: Unit, npc: NpcKey, turn_id: str, text: str, *, confirmed: bool = True) -> Settled:
    return await unit.npcs.settle(npc, turn_id=turn_id, played=[PlayedTag(text=text)], confirmed=confirmed)


async def _said(unit: Unit, npc: NpcKey, limit: int = 50) -> list[str]:
    return [one.lived.said() or one.lived.event.text for one in await unit.npcs.recent(npc, limit=limit)]


class NpcsLaw:
    async def test_left_open_lists_the_turns_of_all_npcs_that_began_before_a_moment_and_are_not_settled(
        self, store: Store, clock: FixedClock
    ) -> None:
        async with store.writing() as unit:
            for npc, turn_id in ((MARA, "t1"), (ORR, "t2"), (MARA, "t3"), (MARA, "t4")):
                await _begin(unit, npc, turn_id)
                clock.advance(10)
            await _settle(unit, MARA, "t3", "Hello.", confirmed=False)
            await unit.npcs.notice(MARA, connection_id="c1", event=_event("A bell rings."))
            left = await unit.npcs.left_open(begun_before_ms=clock.now_ms() - 5, limit=9)
            assert [(one.npc, one.turn_id) for one in left] == [(MARA, "t1"), (ORR, "t2"), (MARA, "t4")]
            assert await unit.npcs.left_open(begun_before_ms=clock.now_ms() - 35, limit=9) == left[:1]
            assert await unit.npcs.left_open(begun_before_ms=clock.now_ms(), limit=2) == left[:2]

    async def test_a_turn_is_no_part_of_the_history_before_it_is_settled(self, store: Store) -> None:
        async with store.writing() as unit:
            await _begin(unit, MARA, "t1")
            await _begin(unit, MARA, "t1")
            assert await _said(unit, MARA) == []
            assert await _settle(unit, MARA, "t1", "Hello.") == "kept"
            assert await _said(unit, MARA) == ["Hello."]

    async def test_settle_with_the_games_word_is_kept_once(self, store: Store) -> None:
        async with store.writing() as unit:
            await _begin(unit, MARA, "t1")
            assert await _settle(unit, MARA, "t1", "Hello.") == "kept"
            assert await _settle(unit, MARA, "t1", "Hello.") == "same"
            assert await _settle(unit, MARA, "t1", "Goodbye.") == "different"
            assert await _settle(unit, MARA, "t2", "Hello.") == "unknown"
            assert await _settle(unit, ORR, "t1", "Hello.") == "unknown"
            assert await _said(unit, MARA) == ["Hello."]

    async def test_a_later_word_of_the_game_replaces_an_unconfirmed_turn_and_never_the_other_way(
        self, store: Store
    ) -> None:
        async with store.writing() as unit:
            await _begin(unit, MARA, "t1")
            assert await _settle(unit, MARA, "t1", "All of it.", confirmed=False) == "kept"
            [before] = await unit.npcs.recent(MARA, limit=5)
            assert before.lived.unconfirmed
            assert await _settle(unit, MARA, "t1", "Half.") == "kept"
            await _settle(unit, MARA, "t1", "All of it.", confirmed=False)
            [after] = await unit.npcs.recent(MARA, limit=5)
            assert (after.lived.said(), after.lived.unconfirmed) == ("Half.", False)

    async def test_drop_forgets_a_turn_that_is_not_settled_and_no_other(self, store: Store) -> None:
        async with store.writing() as unit:
            await _begin(unit, MARA, "t1")
            await _begin(unit, MARA, "t2")
            await _settle(unit, MARA, "t2", "Stay.")
            for turn_id in ("t1", "t2", "t3"):
                await unit.npcs.drop(MARA, turn_id=turn_id)
            assert await _settle(unit, MARA, "t1", "Hello.") == "unknown"
            assert await _said(unit, MARA) == ["Stay."]

    async def test_recent_answers_the_newest_entries_of_this_npc_alone_in_the_order_in_which_they_began(
        self, store: Store
    ) -> None:
        async with store.writing() as unit:
            for turn_id in ("t1", "t2"):
                await _begin(unit, MARA, turn_id)
            await unit.npcs.notice(MARA, connection_id="c1", event=_event("a bell"))
            await unit.npcs.notice(ORR, connection_id="c1", event=_event("a whisper"))
            await _settle(unit, MARA, "t2", "Two.")
            await _settle(unit, MARA, "t1", "One.")
        async with store.reading() as unit:
            assert await _said(unit, MARA) == ["One.", "Two.", "a bell"]
            assert await _said(unit, MARA, limit=2) == ["Two.", "a bell"]
            assert await _said(unit, ORR) == ["a whisper"]

    async def test_entries_are_found_by_their_numbers_and_after_one_once_they_are_part_of_the_history(
        self, store: Store
    ) -> None:
        async with store.writing() as unit:
            for number in range(1, 6):
                await _begin(unit, MARA, f"t{number}")
            for number in (1, 3, 4):
                await _settle(unit, MARA, f"t{number}", f"The king {number}")
            await unit.npcs.notice(ORR, connection_id="c1", event=_event("a bell"))
        async with store.reading() as unit:
            numbers = [await unit.npcs.number_of(MARA, f"t{number}") for number in (1, 2, 3)]
            assert await unit.npcs.number_of(ORR, "t1") is None
            found = await unit.npcs.entries(MARA, [number for number in reversed(numbers) if number is not None])
            assert [one.lived.event.text for one in found] == ["t1", "t3"]
            after = await unit.npcs.after(MARA, found[0].number, limit=1)
            assert [one.lived.event.text for one in after] == ["t3"]
            assert await unit.npcs.entries(ORR, [found[1].number]) == []

    async def test_unconfirmed_lists_the_turns_of_a_connection_that_the_game_has_not_confirmed(
        self, store: Store
    ) -> None:
        async with store.writing() as unit:
            for npc, turn_id, connection_id in (
                (MARA, "t1", "c1"),
                (ORR, "t2", "c1"),
                (MARA, "t3", "c1"),
                (MARA, "t4", "c2"),
            ):
                await _begin(unit, npc, turn_id, connection_id)
            await _settle(unit, MARA, "t1", "Hello.")
            await _settle(unit, ORR, "t2", "Hm.", confirmed=False)
            found = await unit.npcs.unconfirmed("g", "c1")
            assert [(one.agent_id, one.turn_id, one.event_id) for one in found] == [
                ("orr", "t2", "e-t2"),
                ("mara", "t3", "e-t3"),
            ]
            assert await unit.npcs.unconfirmed("elsewhere", "c1") == []

    async def test_unconfirmed_lists_the_first_200_turns_of_a_connection_oldest_first(self, store: Store) -> None:
        left = [f"t{number:03}" for number in range(230)]
        async with store.writing() as unit:
            for turn_id in left:
                await _begin(unit, MARA, turn_id, "c1")
            assert [one.turn_id for one in await unit.npcs.unconfirmed("g", "c1")] == left[:200]

    async def test_unconfirmed_tells_the_event_of_a_turn_also_where_it_is_long(self, store: Store) -> None:
        named = ["", "e1", 'a "b" \\', "\x01" * 1000, "\u6751" * 1000]
        async with store.writing() as unit:
            for number, event_id in enumerate([*named, *named]):
                text = "x" * (60_000 if number < len(named) else 1)
                event = GameEvent(event_id=event_id, text=text, data={"event_id": "another"})
                await unit.npcs.begin(MARA, turn_id=f"t{number}", connection_id="c1", event=event)
            assert [one.event_id for one in await unit.npcs.unconfirmed("g", "c1")] == [*named, *named]
