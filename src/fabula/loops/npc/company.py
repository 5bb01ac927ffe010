"""All NPCs of one connection: each message finds the NPC that it is for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import assert_never

from fabula.loops.npc.driver import Npc
from fabula.loops.npc.floor import Floor
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
from fabula.story.game_messages import (
    EVERYBODY,
    AgentStateSnapshot,
    AgentTurnResult,
    CancelTurn,
    InteractionEvent,
    NotificationEvent,
    Problem,
    Told,
    ToolResults,
)

MOST_AGENTS = 1000

NpcMessage = InteractionEvent | NotificationEvent | AgentStateSnapshot | AgentTurnResult | ToolResults | CancelTurn


class Company:
    """The NPCs that a connection has spoken of. `send` passes a message to the game."""

    def __init__(self, run: NpcRun, *, new_id: Callable[[str], str], send: Callable[[Told], None]) -> None:
        self._desk, self._new_id, self._send = run, new_id, send
        self._npcs: dict[str, Npc] = {}

    @property
    def is_empty(self) -> bool:
        return not self._npcs

    def hear(self, message: NpcMessage) -> None:
        """Passes a message of the game on."""
        match message:
            case InteractionEvent():
                if (npc := self._member(message.agent_id)) is not None:
                    npc.tell(Addressed(event=message.event()))
            case AgentStateSnapshot():
                if (npc := self._member(message.agent_id)) is not None:
                    npc.tell(StateArrived(request_id=message.request_id, state=message.state()))
            case NotificationEvent():
                self._notify(message)
            case AgentTurnResult():
                if (npc := self._known(message.agent_id, message.turn_id)) is not None:
                    npc.tell(ResultCame(turn_id=message.turn_id, status=message.status, tags=tuple(message.tags)))
            case ToolResults():
                if (npc := self._known(message.agent_id, message.turn_id)) is not None:
                    results = tuple(message.results)
                    npc.tell(ToolsAnswered(turn_id=message.turn_id, results=results, goes_on=message.continue_))
            case CancelTurn():
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
        await self._desk.ledger.close()

    def _notify(self, message: NotificationEvent) -> None:
        names = [EVERYBODY] if message.agent_ids == EVERYBODY else [*message.agent_ids]
        names += [message.agent_id] if message.agent_id else []
        if not names:
            sentence = 'Name the agents that notice this: `agent_id`, `agent_ids`, or "*" for all.'
            self._send(Problem(code="missing_field", message=sentence, details={"field": "agent_id"}))
        everybody = [*self._npcs] if EVERYBODY in names else []
        for name in dict.fromkeys([*everybody, *(name for name in names if name != EVERYBODY)]):
            if (npc := self._member(name)) is not None:
                npc.notice(Notice(event=message.event()))

    def _member(self, agent_id: str) -> Npc | None:
        """The NPC of that name; a new one joins."""
        if agent_id not in self._npcs:
            if len(self._npcs) >= MOST_AGENTS:
                sentence = f"A connection may speak of {MOST_AGENTS} agents. Open another one for more."
                self._send(Problem(code="busy", message=sentence, agent_id=agent_id))
                return None
            floor = Floor(agent_id, new_id=self._new_id)
            self._npcs[agent_id] = Npc(self._desk, agent_id, floor=floor, send=self._send)
        return self._npcs[agent_id]

    def _known(self, agent_id: str, turn_id: str | None) -> Npc | None:
        if agent_id in self._npcs:
            return self._npcs[agent_id]
        sentence = "This connection has not spoken of that agent. Send it an interaction_event, or resume."
        self._send(Problem(code="unknown_agent", message=sentence, agent_id=agent_id, turn_id=turn_id))
        return None
