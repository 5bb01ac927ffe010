"""A world in which anything may happen to an NPC at any moment, and that notices every broken promise.

One seed is one interleaving of events, states, pieces, cancels, results, timeouts and lost connections. The floor is
real; the driver around it, the model, the store and the game are played here, as simply as their laws allow.
"""

from __future__ import annotations

import itertools
import random
from collections import deque
from dataclasses import dataclass, field
from typing import Any

from fabula.loops.npc.floor import LONGEST_QUEUE, Floor
from fabula.loops.npc.signals import (
    Addressed,
    Begin,
    CancelAsked,
    Drop,
    Effect,
    Gone,
    Happening,
    NoLongerWaitFor,
    Notice,
    PieceCame,
    ReplyEnded,
    ReplyFailed,
    ResultCame,
    Settle,
    StateArrived,
    Stop,
    Tell,
    ToolsAnswered,
    TurnReady,
    WaitFor,
)
from fabula.story.npc import GameEvent, NpcSpec, NpcState, PlayedTag, TagSpec, ToolResult
from fabula.story.npc_events import (
    NpcEvent,
    NpcProblem,
    NpcTurnFinished,
    NpcTurnInterrupted,
    NpcTurnStarted,
    StateAsked,
    TagClosed,
    TagOpened,
    TagText,
)

STATES = (
    NpcState(spec=NpcSpec(name="Mara")),
    NpcState(tags=[TagSpec(name="say"), TagSpec(name="wave", mode="atomic"), TagSpec(name="plot", visible=False)]),
)
REPLIES = (
    "<say>Good day to you, traveller.</say>",
    "<think>Hm.</think><say>Go <b>away</b> now, please.</say><action name='point'>the door</action>",
    "stray words, then <say>more</say><silence/>",
    "<wave>both hands</wave><plot>secret</plot><say>Well met.</say>",
    '<say>One</say><tool name="open">{"door": 1}</tool>',
    "",
    "<say>never closed",
)


@dataclass
class Call:
    """A model call: what it has yet to say, and whether it has ended."""

    begin: Begin
    pieces: deque[str]
    ready: bool = False
    ended: bool = False


@dataclass
class Watch:
    """What the game has seen of a turn."""

    tags: list[PlayedTag] = field(default_factory=list)
    open_tag: str | None = None
    ended: bool = False
    text: str = ""


class FloorWorld:
    """One life of one NPC over several connections."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self._numbers = itertools.count(1)
        self.store: dict[str, tuple[str, list[PlayedTag]]] = {}
        self.words: dict[str, list[PlayedTag]] = {}
        self.turns: dict[str, Watch] = {}
        self.notices: list[GameEvent] = []
        self.interruptions = 0
        self._connect()

    def _connect(self) -> None:
        self.floor = Floor("mara", new_id=lambda kind: f"{kind}-{next(self._numbers)}")
        self.to_do: deque[Effect] = deque()
        self.stopping: Call | None = None
        self.calls: dict[str, Call] = {}
        self.late: list[Call] = []
        self.timers: dict[str, WaitFor] = {}
        self.requests: list[str] = []
        self.current: str | None = None
        self.started_here: list[str] = []

    # What may happen

    def live(self, steps: int) -> None:
        actions = (
            [self.address] * 6
            + [self.answer_state] * 8
            + [self.go_on_talking] * 24
            + [self.end_stop] * 8
            + [self.confirm] * 5
            + [self.cancel] * 2
            + [self.time_out] * 2
            + [self.use_tools]
        )
        for _ in range(steps):
            self.chance.choice(actions)()
            if self.chance.random() < 0.004:
                self.reconnect()

    def address(self) -> None:
        event = GameEvent(event_id=f"e{next(self._numbers)}", text="hm", interrupt=self.chance.random() < 0.6)
        self.tell(Addressed(event=event))

    def answer_state(self) -> None:
        known = self.requests[-3:]
        request = self.chance.choice([*known, "", "nobody asked"]) if self.chance.random() < 0.3 else None
        request_id = request if request is not None else known[-1] if known else ""
        self.tell(StateArrived(request_id=request_id, state=self.chance.choice(STATES)))

    def go_on_talking(self) -> None:
        """Any call may speak, those that are being stopped as well: their words come too late."""
        calls = [call for call in (*self.calls.values(), *self.late) if not call.ended]
        if not calls:
            return
        call = self.chance.choice(calls)
        late = call in self.late
        turn_id, attempt = call.begin.turn_id, call.begin.attempt
        if not call.ready:
            call.ready = True
            if self.chance.random() < 0.05:
                call.ended = True
                self.tell(ReplyFailed(turn_id=turn_id, attempt=attempt, message="No model."), late=late)
            elif attempt == 1:
                says = tuple(text for _, played in self.store.values() for tag in played if (text := tag.text))
                self.tell(TurnReady(turn_id=turn_id, model="m", last_says=says[-3:]), late=late)
        elif call.pieces:
            self.tell(PieceCame(turn_id=turn_id, attempt=attempt, text=call.pieces.popleft()), late=late)
        else:
            call.ended = True
            failed = self.chance.random() < 0.05
            self.tell(
                ReplyFailed(turn_id=turn_id, attempt=attempt, message="Cut.")
                if failed
                else ReplyEnded(turn_id=turn_id, attempt=attempt),
                late=late,
            )

    def end_stop(self) -> None:
        if self.stopping is not None:
            self.stopping.ended = True
            self.stopping = None
            self.go_on()

    def confirm(self) -> None:
        if not self.turns:
            return
        turn_id = self.chance.choice([*self.turns][-4:])
        watch = self.turns[turn_id]
        tags = [*watch.tags] if self.chance.random() < 0.7 else [PlayedTag(text="half", status="partial")]
        if self.chance.random() < 0.1:
            turn_id = "turn-nobody"
        elif turn_id not in self.words:
            self.words[turn_id] = tags
        status: Any = "completed" if self.chance.random() < 0.6 else "interrupted"
        self.tell(ResultCame(turn_id=turn_id, status=status, tags=tuple(tags)))

    def cancel(self) -> None:
        self.tell(CancelAsked(turn_id=self.chance.choice(["", self.current or "", "turn-nobody"])))

    def time_out(self) -> None:
        if self.timers:
            name = self.chance.choice([*self.timers])
            self.tell(self.timers.pop(name).then)

    def use_tools(self) -> None:
        turn_id = self.chance.choice([*self.started_here, "turn-nobody"])
        result = ToolResult(call_id=f"{turn_id}.{self.chance.randrange(3)}", name="open", ok=True, result=1)
        self.tell(ToolsAnswered(turn_id=turn_id, results=(result,), goes_on=self.chance.random() < 0.5))

    def reconnect(self) -> None:
        self.tell(Gone())
        while self.stopping is not None:
            self.end_stop()
        assert not self.to_do
        for call in (*self.calls.values(), *self.late):
            assert call.ended or call in self.late, "a call outlives its connection"
        assert self.floor.handle(Addressed(event=GameEvent(text="anybody there?"))) == [], (
            "a floor that is gone goes on"
        )
        self._connect()

    # The driver

    def tell(self, happening: Happening, *, late: bool = False) -> None:
        effects = self.floor.handle(happening)
        assert not (late and effects), "a word of a call that was stopped is heard"
        self.to_do.extend(effects)
        self.go_on()

    def go_on(self) -> None:
        while self.to_do and self.stopping is None:
            self.do(self.to_do.popleft())

    def do(self, effect: Effect) -> None:
        match effect:
            case Tell():
                self.see(effect.event)
            case Begin():
                self.begin(effect)
            case Stop():
                call = self.calls.pop(effect.turn_id, None)
                if call is not None and not call.ended:
                    self.stopping = call
                    self.late.append(call)
            case WaitFor():
                self.timers[effect.name] = effect
            case NoLongerWaitFor():
                self.timers.pop(effect.name, None)
            case Settle():
                self.settle(effect)
            case Drop():
                assert self.store[effect.turn_id][0] == "open", "a turn that started was dropped"
                del self.store[effect.turn_id]
            case Notice():
                self.notices.append(effect.event)

    def begin(self, begin: Begin) -> None:
        assert begin.turn_id not in self.calls, "two calls for one turn"
        assert all(call.ended for call in self.calls.values()), "two calls at once"
        reply, cuts = self.chance.choice(REPLIES), self.chance.randint(1, 7)
        pieces = deque(reply[place : place + cuts] for place in range(0, len(reply), cuts))
        self.calls[begin.turn_id] = Call(begin=begin, pieces=pieces, ready=begin.attempt > 1)
        self.store.setdefault(begin.turn_id, ("open", []))

    def settle(self, settle: Settle) -> None:
        """The law of the store."""
        if settle.turn_id not in self.store:
            return
        status, _ = self.store[settle.turn_id]
        if status != "confirmed":
            self.store[settle.turn_id] = ("confirmed" if settle.confirmed else "unconfirmed", list(settle.played))

    # The game

    def see(self, message: NpcEvent) -> None:
        match message:
            case StateAsked():
                self.requests.append(message.request_id)
            case NpcTurnStarted():
                assert self.current is None, "a turn starts before the last one ended"
                assert message.turn_id not in self.turns, "a turn starts twice"
                self.current = message.turn_id
                self.turns[message.turn_id] = Watch()
                self.started_here.append(message.turn_id)
            case TagOpened():
                watch = self._watch(message.turn_id)
                assert watch.open_tag is None and message.index == len(watch.tags), "tags overlap"
                watch.open_tag = message.tag_id
                assert message.tag not in ("think", "plot"), "a hidden tag is sent"
                watch.tags.append(PlayedTag(tag=message.tag, attrs={**message.attrs}, status="partial"))
            case TagText():
                watch = self._watch(message.turn_id)
                assert watch.open_tag == message.tag_id, "text without a tag"
                assert "<say" not in message.text and "</" not in message.text, "markup leaks"
                last = watch.tags[-1]
                watch.tags[-1] = last.model_copy(update={"text": last.text + message.text})
            case TagClosed():
                watch = self._watch(message.turn_id)
                assert watch.open_tag == message.tag_id and watch.tags[-1].text == message.text, "a tag closes wrongly"
                watch.open_tag = None
                watch.tags[-1] = watch.tags[-1].model_copy(update={"status": "played"})
            case NpcTurnInterrupted():
                watch = self._end(message.turn_id)
                assert watch.open_tag == message.open_tag_id
                call = self.calls.get(message.turn_id)
                assert call is None or call.ended, "the game hears of an interruption while the model still writes"
                self.interruptions += 1
            case NpcTurnFinished():
                watch = self._end(message.turn_id)
                assert watch.open_tag is None and message.tag_count == len(watch.tags)
            case NpcProblem():
                assert message.message.endswith("."), "a problem without a sentence"
            case _:
                raise AssertionError(f"unexpected message {message}")

    def _watch(self, turn_id: str) -> Watch:
        assert turn_id == self.current, "something of a turn that is over, or not begun, is sent"
        return self.turns[turn_id]

    def _end(self, turn_id: str) -> Watch:
        watch = self._watch(turn_id)
        self.current, watch.ended = None, True
        return watch

    # The end

    def come_to_rest(self) -> None:
        """Lets everything finish that can, and checks what must then be true."""
        for _ in range(20_000):
            if self._is_at_rest():
                break
            self.end_stop()
            if self.requests:
                self.tell(StateArrived(request_id=self.requests[-1], state=STATES[0]))
            self.go_on_talking()
        assert self._is_at_rest(), "the NPC never comes to rest"
        while self.timers:
            self.time_out()
        self._check_history()

    def _is_at_rest(self) -> bool:
        waiting = any(wait.seconds > 2 for wait in self.timers.values())
        talking = any(not call.ended for call in self.calls.values())
        return not (self.stopping or self.to_do or talking or waiting or self.current)

    def _check_history(self) -> None:
        assert set(self.store) == set(self.turns), "history and turns differ"
        for turn_id, watch in self.turns.items():
            status, played = self.store[turn_id]
            word = self.words.get(turn_id)
            if word is not None:
                assert (status, played) == ("confirmed", word), "history is not the game's first word"
            else:
                assert (status, played) == ("unconfirmed", watch.tags), "history is not what was sent"


def live_one_life(seed: int, steps: int = 120) -> FloorWorld:
    """One interleaving, from the first event to rest."""
    world = FloorWorld(seed)
    world.live(steps)
    world.come_to_rest()
    return world


__all__ = ["LONGEST_QUEUE", "FloorWorld", "live_one_life"]
