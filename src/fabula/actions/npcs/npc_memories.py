"""What NPCs remember: written down after their turns, and brought back when an event calls for it.

No turn waits for the writing: what is not written yet is new, and stands in the prompt anyway. What a process could not
write before it died, the next one writes when the NPC is spoken to again.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence

from fabula.actions.house import House
from fabula.actions.memories.recall_memories import gather_past, is_telling, rank_past
from fabula.actions.memories.remember import findable
from fabula.ports.errors import FabulaError
from fabula.ports.memories import MemoryChange, NewMemory, OwnerAt
from fabula.ports.npcs import NpcKey, Remembered
from fabula.ports.store import Unit
from fabula.ports.threads import run_in_thread
from fabula.recall.npc import npc_memory, npc_owner, speaker_of
from fabula.recall.ranking import Moment
from fabula.story.npc import GameEvent

log = logging.getLogger("fabula.npc")

AT_ONCE = 64
MOST_RECALLED = 6
IN_PROMPT = 32
"""So many of the newest entries may stand in the prompt already."""
READ_WHOLE = 200
"""An NPC answers within a moment: of more memories only the likeliest scenes are looked at."""
HALF_LIFE = 200
"""After so many entries newness counts half."""


class NpcMemories:
    """The memories of the NPCs of one connection. Whoever writes them down holds `alone`, among all of a token."""

    def __init__(self, house: House, alone: asyncio.Lock) -> None:
        self._house, self._alone = house, alone
        self._waiting: dict[NpcKey, set[str]] = {}
        self._met: set[NpcKey] = set()
        self._writing: asyncio.Task[None] | None = None

    def remember(self, npc: NpcKey, turn_id: str | None) -> None:
        """Has what is new written down, and a turn whose word came late; nobody waits for it."""
        self._waiting.setdefault(npc, set()).update([] if turn_id is None else [turn_id])
        if self._writing is None or self._writing.done():
            self._writing = asyncio.create_task(self._write_all())

    async def recall(self, npc: NpcKey, event: GameEvent, before: int) -> Sequence[int]:
        """The numbers of the entries before this one that an event brings back, in their order."""
        if npc not in self._met:
            self._met.add(npc)
            self.remember(npc, None)
        moment = Moment(minute=before, people=frozenset([speaker_of(event)]), half_life=HALF_LIFE)
        owner = OwnerAt(owner=npc_owner(npc))
        most = MOST_RECALLED + IN_PROMPT
        past = await self._house.store.read(lambda unit: gather_past(unit, owner, event.text, whole=READ_WHOLE))
        ranked = await rank_past(self._house, past, moment=moment, most=most)
        numbers = [row.minute for row, one in ranked if row.minute < before and is_telling(one.reasons)]
        return sorted(numbers[:MOST_RECALLED])

    async def close(self) -> None:
        """Waits until everything is written."""
        while self._writing is not None and not self._writing.done():
            await asyncio.wait([self._writing])

    async def _write_all(self) -> None:
        while self._waiting:
            npc, turns = self._waiting.popitem()
            try:
                async with self._alone:
                    await remember_npc(self._house, npc, turns)
            except FabulaError as error:
                log.warning("What an NPC lived through could not be remembered: %s", error.message)


async def remember_npc(house: House, npc: NpcKey, turns: set[str]) -> None:
    """Writes down what an NPC lived through since the last time, and again what turned out otherwise in these turns."""
    owner = OwnerAt(owner=npc_owner(npc))
    async with house.store.reading() as unit:
        known = await unit.memories.page(owner, limit=IN_PROMPT)
        numbers = [number for turn_id in turns if (number := await unit.npcs.number_of(npc, turn_id)) is not None]
        late = await unit.npcs.entries(npc, numbers) if numbers else []
    last = max((one.minute for one in known), default=0)
    await _write(house, npc, [one for one in late if one.number <= last])
    while True:
        async with house.store.reading() as unit:
            news = await unit.npcs.after(npc, last, limit=AT_ONCE)
        await _write(house, npc, news)
        if len(news) < AT_ONCE:
            return
        last = news[-1].number


async def _write(house: House, npc: NpcKey, entries: Sequence[Remembered]) -> None:
    if not entries:
        return
    # Long texts with many words that nobody said before take milliseconds each.
    read = await run_in_thread(lambda: [npc_memory(npc, one) for one in entries])
    memories = await findable(house, read)

    async def keep(unit: Unit) -> None:
        await unit.memories.add(npc_owner(npc).scope, None, memories)
        for memory in memories:
            await _correct(unit, memory)

    await house.store.write(keep, durable=False)


async def _correct(unit: Unit, memory: NewMemory) -> None:
    """The game's word may come after what was sent was remembered."""
    kept = await unit.memories.get(memory.memory_id)
    if kept is not None and kept.shown != memory.text:
        await unit.memories.change(memory.memory_id, MemoryChange(text=memory.text, findable=memory.findable))
