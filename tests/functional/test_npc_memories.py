"""NPCs of games remember through the same port as characters of plays."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest

from fabula.actions.npcs.npc_memories import NpcMemories, remember_npc
from fabula.adapters.embedders.wordllama import LETTERS_AT_ONCE, batches_of
from fabula.loops.npc.ledger import LedgerQueue
from fabula.ports.memories import Feeling, OwnerAt
from fabula.ports.npcs import NpcKey
from fabula.recall import npc as recall_npc
from fabula.recall.npc import npc_owner
from fabula.settings import Settings
from fabula.story.npc import GameEvent, PlayedTag, Someone
from fabula.wiring import open_house

MARA, ORR = NpcKey(game_id="g", agent_id="mara"), NpcKey(game_id="g", agent_id="orr")
ANN = Someone(id="p1", name="Ann")


async def test_an_event_brings_back_what_an_npc_lived_through_long_ago_and_nobody_else_did(tmp_path: Path) -> None:
    async with open_house(Settings(data_dir=tmp_path, samples=False)) as house:
        async with house.store.writing() as unit:
            await unit.npcs.notice(MARA, connection_id="c", event=GameEvent(text="The captain hid gold in the well."))
            await unit.npcs.notice(ORR, connection_id="c", event=GameEvent(text="The captain drowned in the well."))
            for number in range(60):
                event = GameEvent(text=f"A cart passes, number {number}.", source=ANN)
                await unit.npcs.notice(MARA, connection_id="c", event=event)
        await remember_npc(house, MARA, set())
        await remember_npc(house, ORR, set())
        memories = NpcMemories(house, asyncio.Lock())
        asked = GameEvent(text="What did the captain hide?", source=ANN)
        found = await memories.recall(MARA, asked, 48)
        lived = await house.store.read(lambda unit: unit.npcs.entries(MARA, found))
        assert lived[0].lived.event.text == "The captain hid gold in the well."
        assert all("drowned" not in one.lived.event.text for one in lived)
        await memories.close()


async def test_what_turned_out_otherwise_is_remembered_as_the_game_tells_it(tmp_path: Path) -> None:
    async with open_house(Settings(data_dir=tmp_path, samples=False)) as house:
        event = GameEvent(text="Where is the ferry?", source=ANN)
        async with house.store.writing() as unit:
            await unit.npcs.begin(MARA, turn_id="t1", connection_id="c", event=event)
            sent = [PlayedTag(text="It sank at the bridge.")]
            await unit.npcs.settle(MARA, turn_id="t1", played=sent, confirmed=False)
        for _ in range(2):
            await remember_npc(house, MARA, {"t1"})
        async with house.store.writing() as unit:
            await unit.npcs.settle(MARA, turn_id="t1", played=[PlayedTag(text="It sank.")], confirmed=True)
        await remember_npc(house, MARA, {"t1"})
        async with house.store.reading() as unit:
            [kept] = await unit.memories.page(OwnerAt(owner=npc_owner(MARA)))
        assert kept.shown == "Where is the ferry?\nIt sank."


async def test_of_the_games_of_a_token_one_remembers_at_a_time(tmp_path: Path) -> None:
    queue, mine = LedgerQueue(), OwnerAt(owner=npc_owner(MARA))
    async with open_house(Settings(data_dir=tmp_path, samples=False)) as house:
        async with house.store.writing() as unit:
            await unit.npcs.notice(MARA, connection_id="c", event=GameEvent(text="The captain hid gold in the well."))
        memories = NpcMemories(house, queue.remembering)
        async with queue.remembering:
            memories.remember(MARA, None)
            for _ in range(100):
                assert await house.store.read(lambda unit: unit.memories.page(mine)) == []
        await memories.close()
        assert len(await house.store.read(lambda unit: unit.memories.page(mine))) == 1


async def test_long_events_are_read_beside_the_event_loop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    threads: set[int] = set()

    def noted(text: str) -> Feeling:
        threads.add(threading.get_ident())
        return Feeling()

    monkeypatch.setattr(recall_npc, "feeling_in", noted)
    async with open_house(Settings(data_dir=tmp_path, samples=False)) as house:
        async with house.store.writing() as unit:
            await unit.npcs.notice(MARA, connection_id="c", event=GameEvent(text="a rare word " * 300))
        await remember_npc(house, MARA, set())
    assert threads and threading.get_ident() not in threads


@pytest.mark.parametrize(("letters", "count"), [(10, 1_000), (4_000, 64), (50_000, 3)])
def test_long_texts_are_embedded_few_at_once(letters: int, count: int) -> None:
    texts = [f"{number} " + "x" * letters for number in range(count)]
    batches = [*batches_of(texts)]
    assert [text for batch in batches for text in batch] == texts
    assert all(len(batch) == 1 or len(batch) * letters <= LETTERS_AT_ONCE for batch in batches)
    assert len(batches) < count or letters > LETTERS_AT_ONCE
