"""What NPCs of games remember: each entry of a history as a memory, which is found like those of plays."""

from __future__ import annotations

from fabula.ports.memories import NewMemory, Owner
from fabula.ports.npcs import NpcKey, Remembered
from fabula.recall.feelings import feeling_in, importance_of
from fabula.story.npc import GameEvent

SCENE_PART = 16
"""So many entries in a row count as one scene."""
LONGEST_TEXT = 4_000
LONGEST_NAME = 200
"""Each look at a past reads the names of 64 whom it tells of."""


def npc_owner(npc: NpcKey) -> Owner:
    """Whose memories those of an NPC are. No play has a name like this scope, whatever a game calls itself."""
    return Owner(scope=f"game:{npc.game_id}", name=npc.agent_id)


def npc_memory(npc: NpcKey, one: Remembered) -> NewMemory:
    """An entry as a memory. It is as old as its number: games have no clock that we know of."""
    event = one.lived.event
    played = [tag.text for tag in one.lived.played if tag.status != "skipped"]
    text = "\n".join(part for part in (event.text, *played) if part.strip())[:LONGEST_TEXT]
    feeling, speaker = feeling_in(text), speaker_of(event)
    return NewMemory(
        memory_id=npc_memory_id(npc, one.number),
        owner=npc.agent_id,
        text=text,
        speaker=speaker,
        people=[speaker] if speaker else [],
        scene=str(one.number // SCENE_PART),
        minute=one.number,
        importance=importance_of(text, feeling),
        feeling=feeling,
        evidence=[str(one.number)],
    )


def speaker_of(event: GameEvent) -> str:
    """By which name whoever did something is remembered."""
    return event.source.name[:LONGEST_NAME]


def npc_memory_id(npc: NpcKey, number: int) -> str:
    """The name under which an entry is remembered, once."""
    return f"npc/{npc.game_id}/{npc.agent_id}/{number}"
