"""Consolidate what is remembered in a play, and let it fade: work of its own, begun now and then.

1. What happened is written down up to the head of the play, so that nothing is missing.
2. For each owner, in a transaction of its own, what `fabula.recall.consolidation` decides is kept at that turn.

It is keyed by the head: nothing is done twice, and one that was interrupted begins anew and finds what was kept.
"""

from __future__ import annotations

from collections.abc import Sequence

from fabula.actions.followers.memories import remember_line
from fabula.actions.house import House
from fabula.actions.memories.remember import findable
from fabula.actions.memories.story_time import story_minute
from fabula.actions.plays.play_states import known_state
from fabula.actions.work.work_kind import HeldWork, taken_over
from fabula.ports.memories import Memory, NewMemory, Owner, OwnerAt
from fabula.ports.plays import Play
from fabula.ports.store import Unit
from fabula.ports.threads import run_in_thread
from fabula.ports.work import NewWork, Work
from fabula.recall.consolidation import Consolidated, consolidate
from fabula.story.state import MemoryEntry, MemoryKind
from fabula.story.summaries import sum_up
from fabula.story.values import JsonObject

CONSOLIDATE = "memory.consolidate_decay"
MOST_PLAYS = 500
LEAST_TURNS = 32
"""A play of fewer turns has its past in its prompts."""
LOOKS_BACK = 512
"""So many observations of an owner are looked at, the newest but those of late."""
LATELY = 32
"""So many of the newest are left as they are."""


async def begin_consolidations(house: House) -> int:
    """Begins the consolidation of the plays that changed last; answers how many were begun."""
    plays = await house.store.read(lambda unit: unit.plays.recent(limit=MOST_PLAYS))
    begun: list[Work] = []
    for play in plays:
        if play.turn_index >= LEAST_TURNS:
            work = await _begin(house, play)
            begun += [work] if work.status == "waiting" else []
    house.work.announce(*begun)
    return len(begun)


async def _begin(house: House, play: Play) -> Work:
    new = NewWork(
        work_id=house.ids.new("work"),
        kind=CONSOLIDATE,
        key=play.head_turn_id,
        subject=play.session_id,
        input={"turn_id": play.head_turn_id},
        trace_id=play.head_turn_id,
    )
    return await house.store.write(lambda unit: unit.work.begin(new))


async def consolidate_play(house: House, held: HeldWork) -> JsonObject | None:
    """Consolidates what everybody remembers at a turn."""
    count = await consolidate_at(house, str(held.work.input["turn_id"]))

    async def end(unit: Unit) -> None:
        if not await unit.work.finish(held.work, {"count": count}):
            raise taken_over(held.work)

    await house.store.write(end)
    return None


async def consolidate_at(house: House, turn_id: str) -> int:
    """Consolidates what everybody remembers at a turn; answers how many summaries were kept."""
    await remember_line(house, turn_id)
    async with house.store.reading() as unit:
        turn = await unit.plays.turn(turn_id)
        if turn is None or turn.status != "committed":
            return 0
        minute = story_minute(await known_state(house, unit, turn_id))
        owners = await unit.memories.owners(turn.tree_id, turn_id)
    kept = 0
    for name in owners:
        owner = OwnerAt(owner=Owner(scope=turn.tree_id, name=name), turn_id=turn_id)
        kept += await _consolidate(house, owner, minute)
    return kept


async def _consolidate(house: House, owner: OwnerAt, minute: int) -> int:
    async def read(unit: Unit) -> list[Memory]:
        newest = await unit.memories.page(owner, kind="observation", limit=LOOKS_BACK + LATELY)
        covered = await unit.memories.covered(owner, [(one.space, one.place) for one in newest])
        return [one for one in reversed(newest[LATELY:]) if (one.space, one.place) not in covered]

    observations = await house.store.read(read)
    made = await run_in_thread(lambda: consolidate(observations, minute=minute, gist=_gist))
    if not made:
        return 0
    summaries = await findable(house, [one.summary for one in made])
    await house.store.write(lambda unit: _keep(unit, owner, summaries, made), durable=False)
    return len(made)


async def _keep(unit: Unit, owner: OwnerAt, summaries: Sequence[NewMemory], made: Sequence[Consolidated]) -> None:
    # The play may have been deleted meanwhile, with all its turns.
    if owner.turn_id is not None and await unit.plays.turn(owner.turn_id) is not None:
        await unit.memories.add(owner.owner.scope, owner.turn_id, summaries)
        for one in made:
            await unit.memories.cover(one.summary.memory_id, one.covers)


def _gist(memories: Sequence[Memory], words: int) -> str:
    return sum_up((_line(one) for one in memories), words)


def _line(memory: Memory) -> MemoryEntry:
    kind: MemoryKind = "dialogue" if memory.speaker else "narration"
    return MemoryEntry(speaker_id="", speaker_name=memory.speaker, kind=kind, text=memory.text)
