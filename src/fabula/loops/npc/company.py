"""All NPCs of one connection: each message finds the NPC that it is for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import Protocol, assert_never

from fabula.loops.guardrails import Guardrails
from fabula.loops.npc.driver import Npc
from fabula.loops.npc.floor import NPC_WEIGHT, TURN_WEIGHT, Floor, event_weight
from fabula.loops.npc.signals import (
    Addressed,
    CancelAsked,
    Gone,
    Notice,
    ResultCame,
    StateArrived,
    ToolsAnswered,
)
from fabula.loops.npc.speech import NpcRun
from fabula.ports.npcs import OpenTurn
from fabula.story.npc_events import (
    EVERYBODY,
    CancelCame,
    EventCame,
    GameMessage,
    NoticeCame,
    NpcEvent,
    NpcProblem,
    StateCame,
    ToolsUsed,
    TurnPlayed,
)

MOST_AGENTS = 1000
MOST_WAITING = 256
"""Events that wait for their turn, of all NPCs of a connection together."""
MOST_UNWRITTEN = 10_000
"""What NPCs of all games of a token noticed and played that waits to be written: a database may be slow, or away."""
_TOO_HEAVY = (
    "All agents of this token, and what waits for them, are too much together. "
    "Send again when they have taken turns, or close a connection."
)


class Waiting(Protocol):
    """What NPCs weigh, with the events that wait for their turn or are in one: these NPCs, and those that are counted
    with them."""

    def has_room(self, weight: int) -> bool:
        """Whether so much more may wait."""
        ...

    def change(self, by: int) -> None:
        """So much more waits, or less."""
        ...


class Company:
    """The NPCs that a connection has spoken of. `send` tells the game of an event."""

    def __init__(
        self, run: NpcRun, *, new_id: Callable[[str], str], send: Callable[[NpcEvent], None], waiting: Waiting
    ) -> None:
        self._run, self._new_id, self._send, self._waiting = run, new_id, send, waiting
        self._npcs: dict[str, Npc] = {}

    @property
    def is_empty(self) -> bool:
        return not self._npcs

    @property
    def guardrails(self) -> Guardrails:
        """What the game wants kept, now."""
        return self._run.guardrails()

    @property
    def one_at_a_time(self) -> asyncio.Lock:
        """Whoever holds it is alone among all games of the token, also with those who write."""
        return self._run.ledger.alone

    def hear(self, message: GameMessage) -> None:
        """Passes a message of the game on."""
        match message:
            case EventCame():
                if (npc := self._member(message.agent_id)) is not None and self._has_room(message):
                    npc.tell(Addressed(event=message.event))
            case StateCame():
                if (npc := self._member(message.agent_id)) is not None:
                    npc.tell(StateArrived(request_id=message.request_id, state=message.state))
            case NoticeCame():
                if self._has_room_to_write(self.listeners(message), None):
                    self._notify(message)
            case TurnPlayed():
                if not self._has_room_to_write(1, message):
                    return
                if (npc := self._known(message.agent_id, message.turn_id)) is not None:
                    npc.tell(ResultCame(turn_id=message.turn_id, status=message.status, tags=message.tags))
            case ToolsUsed():
                if (npc := self._known(message.agent_id, message.turn_id)) is not None and self._may_go_on(message):
                    answered = ToolsAnswered(turn_id=message.turn_id, results=message.results, goes_on=message.goes_on)
                    npc.tell(answered)
            case CancelCame():
                if (npc := self._known(message.agent_id, message.turn_id or None)) is not None:
                    npc.tell(CancelAsked(turn_id=message.turn_id))
            case _:
                assert_never(message)

    def take_up(self, turns: Iterable[OpenTurn]) -> None:
        """The turns of an earlier connection, on which the game may still give its word."""
        for turn in turns:
            if (npc := self._member(turn.agent_id)) is not None:
                npc.recognise(turn.turn_id)

    async def leave(self) -> None:
        """The connection is gone: every call ends, and what was sent is kept as unconfirmed."""
        for npc in self._npcs.values():
            npc.tell(Gone())
        await asyncio.gather(*(npc.finish() for npc in self._npcs.values()))
        await self._run.ledger.close()
        await self._run.remembered()

    def listeners(self, message: NoticeCame) -> int:
        """How many NPCs would notice it."""
        return len(self._names(message))

    def _notify(self, message: NoticeCame) -> None:
        notice = Notice(event=message.event)
        for name in self._names(message):
            if (npc := self._member(name)) is not None:
                npc.notice(notice)

    def _names(self, message: NoticeCame) -> dict[str, None]:
        names = message.agent_ids
        everybody = [*self._npcs] if EVERYBODY in names else []
        return dict.fromkeys([*everybody, *(name for name in names if name != EVERYBODY)])

    def _has_room(self, message: EventCame) -> bool:
        """Whether an event may wait: each NPC has a bound of its own, and all of them together have one."""
        if not self._waiting.has_room(event_weight(message.event)):
            self._send(NpcProblem(name="busy", message=_TOO_HEAVY, agent_id=message.agent_id))
            return False
        if message.event.interrupt or sum(one.waiting for one in self._npcs.values()) < MOST_WAITING:
            return True
        sentence = f"{MOST_WAITING} events wait for agents of this connection. Send again when they have taken turns."
        self._send(NpcProblem(name="busy", message=sentence, agent_id=message.agent_id))
        return False

    def _has_room_to_write(self, entries: int, played: TurnPlayed | None) -> bool:
        if self._run.ledger.waiting + entries <= MOST_UNWRITTEN:
            return True
        agent_id, turn_id = (None, None) if played is None else (played.agent_id, played.turn_id)
        sentence = "What agents of this token noticed and played is still being written. Send it again later."
        self._send(NpcProblem(name="busy", message=sentence, agent_id=agent_id, turn_id=turn_id))
        return False

    def _may_go_on(self, message: ToolsUsed) -> bool:
        """Whether there is room for one more turn, where tools ask for one."""
        if not message.goes_on or self._waiting.has_room(TURN_WEIGHT):
            return True
        self._send(NpcProblem(name="busy", message=_TOO_HEAVY, agent_id=message.agent_id, turn_id=message.turn_id))
        return False

    def _member(self, agent_id: str) -> Npc | None:
        """The NPC of that name; a new one joins."""
        if agent_id not in self._npcs:
            if len(self._npcs) >= MOST_AGENTS:
                sentence = f"A connection may speak of {MOST_AGENTS} agents. Open another one for more."
                self._send(NpcProblem(name="busy", message=sentence, agent_id=agent_id))
                return None
            if not self._waiting.has_room(NPC_WEIGHT):
                self._send(NpcProblem(name="busy", message=_TOO_HEAVY, agent_id=agent_id))
                return None
            floor = Floor(agent_id, new_id=self._new_id, guardrails=self._run.guardrails)
            self._npcs[agent_id] = Npc(self._run, agent_id, floor=floor, send=self._send, waits=self._waiting.change)
        return self._npcs[agent_id]

    def _known(self, agent_id: str, turn_id: str | None) -> Npc | None:
        if agent_id in self._npcs:
            return self._npcs[agent_id]
        sentence = "This connection has not spoken of that agent. Send it an event first, or resume."
        self._send(NpcProblem(name="unknown_agent", message=sentence, agent_id=agent_id, turn_id=turn_id))
        return None
