"""What NPCs lived through: each NPC of each game has its own history, which nobody else reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from fabula.story.npc import GameEvent, Lived, PlayedTag

Settled = Literal["kept", "same", "different", "unknown"]
"""How a word on a turn was taken: kept, known already, refused because another word came first, or of no turn here."""


@dataclass(frozen=True, kw_only=True)
class NpcKey:
    """An NPC: the game it lives in, and its name there."""

    game_id: str
    agent_id: str


@dataclass(frozen=True, kw_only=True)
class OpenTurn:
    """A turn that the game has not confirmed."""

    agent_id: str
    turn_id: str
    event_id: str


@dataclass(frozen=True, kw_only=True)
class LeftTurn:
    """A turn of which nobody said how it ended."""

    npc: NpcKey
    turn_id: str


@dataclass(frozen=True, kw_only=True)
class Remembered:
    """An entry of a history; `number` grows with time."""

    number: int
    lived: Lived


class Npcs(Protocol):
    """Law:

    - `begin` keeps a turn with its event; it is no part of the history before it is settled. A second `begin` of the
      same turn changes nothing.
    - `settle` with the game's word is kept once: the first word stays, a repeat answers `same`, another `different`,
      one on a turn that never began `unknown`.
    - `settle` without the game's word marks the turn unconfirmed; a later word of the game replaces it, and it never
      replaces the game's word.
    - `drop` forgets a turn that is not settled, and no other.
    - `notice` adds an entry that is part of the history at once.
    - `recent` answers the newest entries of this NPC alone, oldest first; entries keep the order in which they began.
    - `entries` answers those of up to 64 numbers that are part of the history, in the order of their numbers; `after`
      the oldest ones after a number; `number_of` the number of a turn.
    - `unconfirmed` lists the first 200 turns of a connection that the game has not confirmed, oldest first.
    - `left_open` lists the turns of all NPCs that began before a moment and are not settled, oldest first.
    """

    async def begin(self, npc: NpcKey, *, turn_id: str, connection_id: str, event: GameEvent) -> None: ...

    async def settle(
        self,
        npc: NpcKey,
        *,
        turn_id: str,
        played: Sequence[PlayedTag],
        confirmed: bool,
    ) -> Settled: ...

    async def drop(self, npc: NpcKey, *, turn_id: str) -> None: ...

    async def notice(self, npc: NpcKey, *, connection_id: str, event: GameEvent) -> None: ...

    async def recent(self, npc: NpcKey, *, limit: int) -> list[Remembered]: ...

    async def entries(self, npc: NpcKey, numbers: Sequence[int]) -> list[Remembered]: ...

    async def after(self, npc: NpcKey, number: int, *, limit: int) -> list[Remembered]: ...

    async def number_of(self, npc: NpcKey, turn_id: str) -> int | None: ...

    async def unconfirmed(self, game_id: str, connection_id: str) -> list[OpenTurn]: ...

    async def left_open(self, *, begun_before_ms: int, limit: int) -> list[LeftTurn]: ...
