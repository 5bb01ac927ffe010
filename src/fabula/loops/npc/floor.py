"""Who has the floor: the one place that decides when an NPC's turn begins, is cut off and ends.

A pure machine: something happens, and it answers what is to be done, in order. It holds no clock, task or socket.

    idle --event--> fetching --state--> preparing --ready--> speaking --end--> idle
             a newer event replaces the older one up to here | and interrupts it from here

1. At most one turn is under way. Events that do not interrupt queue up, first in, first out.
2. The model is stopped before the game hears of an interruption, and nothing of that turn is told after it.
3. Each turn that started is settled: by the game's word, or, two seconds after its end, as it was sent.
   What the game said first stays; the store keeps that promise across connections.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, assert_never

from fabula.loops.guardrails import NO_GUARDRAILS, Guardrails
from fabula.loops.npc.delivery import Delivery
from fabula.loops.npc.repetition import old_lines
from fabula.loops.npc.signals import (
    Addressed,
    Begin,
    CancelAsked,
    Drop,
    Effect,
    Gone,
    Happening,
    NoLongerWaitFor,
    Note,
    Notice,
    PieceCame,
    ReplyEnded,
    ReplyFailed,
    ResultCame,
    ResultOverdue,
    Settle,
    StateArrived,
    StateOverdue,
    Stop,
    Tell,
    ToolsAnswered,
    TurnReady,
    WaitFor,
)
from fabula.loops.npc.tools import tool_event
from fabula.story.npc import GameEvent, Lived, NpcState
from fabula.story.npc_events import (
    InterruptReason,
    NpcEvent,
    NpcProblem,
    NpcTurnFinished,
    NpcTurnInterrupted,
    NpcTurnStarted,
    ProblemName,
    StateAsked,
)
from fabula.story.sizes import memory_size, text_weight

STATE_S: Final = 5.0
RESULT_S: Final = 2.0
LONGEST_QUEUE: Final = 16
REMEMBERED: Final = 1000
NPC_WEIGHT: Final = 4 * 1024
TURN_WEIGHT: Final = 128 * 1024
"""About what a turn takes beside its event and the NPC's state: so much of its past, and the prompt."""


@dataclass(kw_only=True)
class _Fetching:
    event: GameEvent
    weight: int
    request_id: str


@dataclass(kw_only=True)
class _Preparing:
    event: GameEvent
    weight: int
    turn_id: str
    state: NpcState


@dataclass(kw_only=True)
class _Speaking:
    event: GameEvent
    weight: int
    turn_id: str
    state: NpcState
    delivery: Delivery
    attempt: int = 1
    confirmed: bool = False


class Floor:
    """The floor of one NPC. `new_id` makes names of requests and turns; `guardrails` are what the game wants kept."""

    def __init__(
        self,
        agent_id: str,
        *,
        new_id: Callable[[str], str],
        guardrails: Callable[[], Guardrails] = lambda: NO_GUARDRAILS,
    ) -> None:
        self._agent_id, self._new_id, self._guardrails = agent_id, new_id, guardrails
        self._phase: _Fetching | _Preparing | _Speaking | None = None
        self._queue: deque[tuple[GameEvent, int]] = deque()
        self._state: NpcState | None = None
        self._unsettled: dict[str, Lived] = {}
        self._turns: OrderedDict[str, None] = OrderedDict()
        self._answered: OrderedDict[str, None] = OrderedDict()
        self._gone = False

    def handle(self, happening: Happening) -> list[Effect]:
        """What is to be done about it, in order."""
        if self._gone:
            return []
        match happening:
            case Addressed():
                return self._address(happening.event)
            case StateArrived():
                return self._state_arrived(happening)
            case StateOverdue():
                return self._state_overdue(happening.request_id)
            case TurnReady():
                return self._ready(happening)
            case PieceCame():
                return self._piece(happening)
            case ReplyEnded():
                return self._ended(happening)
            case ReplyFailed():
                return self._failed(happening)
            case CancelAsked():
                return self._cancel(happening.turn_id)
            case ResultCame():
                return self._result(happening)
            case ResultOverdue():
                return self._overdue(happening.turn_id)
            case ToolsAnswered():
                return self._tools(happening)
            case Gone():
                return self._leave()
            case _:
                assert_never(happening)

    @property
    def waiting(self) -> int:
        """How many events wait for their turn."""
        return len(self._queue)

    @property
    def weight(self) -> int:
        """About the bytes that this NPC takes, with the events that wait for their turn and the one in its turn."""
        if self._gone:
            return 0
        current = NPC_WEIGHT if self._phase is None else NPC_WEIGHT + self._phase.weight
        return current + sum(weight for _, weight in self._queue) if self._queue else current

    def recognise(self, turn_id: str) -> None:
        """A turn of an earlier connection that the game may still speak of."""
        _remember(self._turns, turn_id)

    def _address(self, event: GameEvent) -> list[Effect]:
        weight = event_weight(event)
        if self._phase is None:
            return self._fetch(event, weight)
        if event.interrupt:
            return [*self._clear("newer_event", by_event_id=event.event_id or None), *self._fetch(event, weight)]
        if self._is_full():
            return [self._full()]
        self._queue.append((event, weight))
        return []

    def _fetch(self, event: GameEvent, weight: int) -> list[Effect]:
        event = event if event.event_id else event.model_copy(update={"event_id": self._new_id("event")})
        request_id = self._new_id("state")
        self._phase = _Fetching(event=event, weight=weight, request_id=request_id)
        asked = StateAsked(agent_id=self._agent_id, request_id=request_id, event_id=event.event_id)
        return [
            Tell(event=asked),
            WaitFor(name=request_id, seconds=STATE_S, then=StateOverdue(request_id=request_id)),
        ]

    def _state_arrived(self, arrived: StateArrived) -> list[Effect]:
        self._state = arrived.state
        phase = self._phase
        if not isinstance(phase, _Fetching) or arrived.request_id not in ("", phase.request_id):
            return []
        return [NoLongerWaitFor(name=phase.request_id), self._prepare(phase, arrived.state)]

    def _state_overdue(self, request_id: str) -> list[Effect]:
        phase = self._phase
        if not isinstance(phase, _Fetching) or phase.request_id != request_id:
            return []
        if self._state is not None:
            return [self._prepare(phase, self._state)]
        self._phase = None
        sentence = "No state of this agent came within 5 seconds, and none is known. Answer when it is asked for."
        return [self._problem("agent_state_timeout", sentence, request_id=request_id), *self._next()]

    def _prepare(self, asked: _Fetching, state: NpcState) -> Begin:
        turn_id = self._new_id("turn")
        self._phase = _Preparing(event=asked.event, weight=asked.weight, turn_id=turn_id, state=state)
        return Begin(turn_id=turn_id, event=asked.event, state=state, pending=tuple(self._unsettled.values()))

    def _ready(self, ready: TurnReady) -> list[Effect]:
        phase = self._phase
        if not isinstance(phase, _Preparing) or phase.turn_id != ready.turn_id:
            return []
        says = (*ready.last_says, *(lived.said() for lived in self._unsettled.values()))
        delivery = Delivery(
            agent_id=self._agent_id,
            turn_id=ready.turn_id,
            state=phase.state,
            old_lines=old_lines([*filter(None, says)]),
            guardrails=self._guardrails(),
        )
        self._phase = _Speaking(
            event=phase.event, weight=phase.weight, turn_id=ready.turn_id, state=phase.state, delivery=delivery
        )
        _remember(self._turns, ready.turn_id)
        started = NpcTurnStarted(
            agent_id=self._agent_id, turn_id=ready.turn_id, event_id=phase.event.event_id, model=ready.model
        )
        return [Tell(event=started)]

    def _piece(self, piece: PieceCame) -> list[Effect]:
        speaking = self._speaking(piece.turn_id, piece.attempt)
        if speaking is None:
            return []
        told = _told(speaking, speaking.delivery.feed(piece.text))
        return [*told, *self._once_more(speaking)] if speaking.delivery.stops else told

    def _once_more(self, speaking: _Speaking) -> list[Effect]:
        """An NPC that says the same again is asked once more, and then stays silent. One that crosses a line is asked
        once more, too; what crosses a line then is left out."""
        stop = Stop(turn_id=speaking.turn_id)
        if speaking.attempt > 1:
            silence = [Tell(event=event) for event in speaking.delivery.stay_silent()]
            return [stop, *silence, *self._finish(speaking, ReplyEnded(turn_id=speaking.turn_id))]
        speaking.attempt += 1
        again = Begin(
            turn_id=speaking.turn_id,
            event=speaking.event,
            state=speaking.state,
            attempt=speaking.attempt,
            pending=tuple(self._unsettled.values()),
            crossed=speaking.delivery.crossed,
        )
        return [stop, *(Tell(event=event) for event in speaking.delivery.begin_again()), again]

    def _ended(self, ended: ReplyEnded) -> list[Effect]:
        speaking = self._speaking(ended.turn_id, ended.attempt)
        if speaking is None:
            return []
        told = _told(speaking, speaking.delivery.close())
        if speaking.delivery.stops:
            return [*told, *self._once_more(speaking)]
        return [*told, *self._finish(speaking, ended)]

    def _finish(self, speaking: _Speaking, ended: ReplyEnded) -> list[Effect]:
        finished = NpcTurnFinished(
            agent_id=self._agent_id,
            turn_id=speaking.turn_id,
            reason=ended.reason,
            usage=ended.usage,
            tag_count=speaking.delivery.tag_count,
        )
        self._phase = None
        return [Tell(event=finished), *self._await_result(speaking), *self._next()]

    def _failed(self, failed: ReplyFailed) -> list[Effect]:
        phase = self._phase
        if isinstance(phase, _Preparing) and phase.turn_id == failed.turn_id:
            self._phase = None
            return [self._problem("model_error", failed.message), Drop(turn_id=phase.turn_id), *self._next()]
        speaking = self._speaking(failed.turn_id, failed.attempt)
        if speaking is None:
            return []
        problem = self._problem("model_error", failed.message, turn_id=speaking.turn_id)
        return [problem, *self._clear("error"), *self._next()]

    def _cancel(self, turn_id: str) -> list[Effect]:
        phase = self._phase
        current = phase.turn_id if isinstance(phase, _Speaking) else ""
        if phase is None or (turn_id and turn_id != current):
            sentence = "That turn is not under way; it may have ended already."
            return [self._problem("unknown_turn", sentence, turn_id=turn_id or None)]
        return [*self._clear("client_cancel"), *self._next()]

    def _clear(self, reason: InterruptReason, *, by_event_id: str | None = None) -> list[Effect]:
        """Ends what is under way; a turn that has not started leaves no trace."""
        phase, self._phase = self._phase, None
        match phase:
            case None:
                return []
            case _Fetching():
                return [NoLongerWaitFor(name=phase.request_id)]
            case _Preparing():
                return [Stop(turn_id=phase.turn_id), Drop(turn_id=phase.turn_id)]
            case _Speaking():
                interrupted = NpcTurnInterrupted(
                    agent_id=self._agent_id,
                    turn_id=phase.turn_id,
                    reason=reason,
                    by_event_id=by_event_id,
                    open_tag_id=phase.delivery.open_tag_id,
                )
                return [Stop(turn_id=phase.turn_id), Tell(event=interrupted), *self._await_result(phase)]
            case _:
                assert_never(phase)

    def _await_result(self, speaking: _Speaking) -> list[Effect]:
        if speaking.confirmed:
            return []
        turn_id = speaking.turn_id
        self._unsettled[turn_id] = Lived(
            kind="turn", event=speaking.event, played=speaking.delivery.played(), unconfirmed=True
        )
        return [WaitFor(name=turn_id, seconds=RESULT_S, then=ResultOverdue(turn_id=turn_id))]

    def _result(self, result: ResultCame) -> list[Effect]:
        confirmed = Settle(turn_id=result.turn_id, played=result.tags, confirmed=True)
        if self._unsettled.pop(result.turn_id, None) is not None:
            return [NoLongerWaitFor(name=result.turn_id), confirmed]
        phase = self._phase
        if not isinstance(phase, _Speaking) or phase.turn_id != result.turn_id:
            return [confirmed]
        phase.confirmed = True
        if result.status == "completed":
            return [confirmed]
        # The game has stopped playing this turn: there is nobody left to speak to.
        return [*self._clear("client_cancel"), confirmed, *self._next()]

    def _overdue(self, turn_id: str) -> list[Effect]:
        lived = self._unsettled.pop(turn_id, None)
        return [] if lived is None else [Settle(turn_id=turn_id, played=tuple(lived.played), confirmed=False)]

    def _tools(self, answered: ToolsAnswered) -> list[Effect]:
        if answered.turn_id not in self._turns:
            sentence = "No turn of this agent has that id. Send the turn_id of the turn that used the tool."
            return [self._problem("unknown_turn", sentence, turn_id=answered.turn_id)]
        fresh = [result for result in answered.results if result.call_id not in self._answered]
        if answered.results and not fresh:
            return []
        if answered.goes_on and self._is_full():
            # The game sends them again, and must not be taken for having sent them already.
            return [self._full()]
        for result in fresh:
            _remember(self._answered, result.call_id)
        event = tool_event(fresh, turn_id=answered.turn_id)
        return self._address(event) if answered.goes_on else [Notice(event=event)] if fresh else []

    def _is_full(self) -> bool:
        return self._phase is not None and len(self._queue) >= LONGEST_QUEUE

    def _full(self) -> Tell:
        return self._problem("busy", "This agent has 16 events waiting. Send again when it has taken a turn.")

    def _leave(self) -> list[Effect]:
        self._queue.clear()
        effects = self._clear("disconnect")
        for turn_id, lived in self._unsettled.items():
            effects += [
                NoLongerWaitFor(name=turn_id),
                Settle(turn_id=turn_id, played=tuple(lived.played), confirmed=False),
            ]
        self._unsettled.clear()
        self._gone = True
        return effects

    def _next(self) -> list[Effect]:
        return self._fetch(*self._queue.popleft()) if self._queue and self._phase is None else []

    def _speaking(self, turn_id: str, attempt: int) -> _Speaking | None:
        """The turn under way, if it is that one: late pieces of another find nobody."""
        phase = self._phase
        is_it = isinstance(phase, _Speaking) and phase.turn_id == turn_id and phase.attempt == attempt
        return phase if is_it and isinstance(phase, _Speaking) else None

    def _problem(
        self, name: ProblemName, message: str, *, turn_id: str | None = None, request_id: str | None = None
    ) -> Tell:
        return Tell(
            event=NpcProblem(
                name=name, message=message, agent_id=self._agent_id, turn_id=turn_id, request_id=request_id
            )
        )


def event_weight(event: GameEvent) -> int:
    """About the bytes that an event takes until its turn is over."""
    source = event.source
    texts = sum(map(text_weight, (event.text, event.event_type, source.name, source.id, source.kind)))
    return TURN_WEIGHT + texts + (0 if event.data is None else memory_size(event.data))


def _told(speaking: _Speaking, events: list[NpcEvent]) -> list[Effect]:
    """What a piece of a reply brings about, and what was left out of it."""
    told: list[Effect] = [Tell(event=event) for event in events]
    found = speaking.delivery.objections()
    return [*told, Note(objections=tuple(found))] if found else told


def _remember(names: OrderedDict[str, None], name: str) -> None:
    names[name] = None
    if len(names) > REMEMBERED:
        names.popitem(last=False)
