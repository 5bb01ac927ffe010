"""How agendas move while nobody looks: a pure function of clocks, minutes and draws.

1. A clock runs while it is active and its pressure is above 0. What the play's variables say may add to its pressure
   or its opposition, or stop it for good.
2. Every so many minutes it has one chance: with pressure p and opposition o it fills a segment p times in p + o + 1.
3. A full clock fires, once: its event comes to pass at that very minute, starts other clocks and pushes them.
4. Chances are taken in the order of their minutes, those of one minute in the order of the clocks, and each draws one
   number. What is left of a clock's time counts the next time. So an hour is the same as sixty minutes one by one.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from fabula.rules.conflicts import ConflictChange
from fabula.rules.draws import Draws
from fabula.story.agendas import MOST_FORCE, AgendaClock, FiredAgenda
from fabula.story.conditions import holds
from fabula.story.seeds import derived_seed
from fabula.story.state import WorldState

LONGEST_ADVANCE: Final = 100 * 366 * 1440
"""No world moves on by more than a hundred years at once."""
TELLING_CHANCES: Final = 600
"""More of them change no shown digit: the slowest clock has filled all its segments by then."""


@dataclass(frozen=True, kw_only=True)
class AgendaMove:
    """What became of a clock: how far it was filled before and after, and how many chances it had."""

    clock_id: str
    before: int
    after: int
    chances: int


@dataclass(frozen=True, kw_only=True)
class Advanced:
    """Clocks after a time, the moves that led there, and what came to pass, in its order; and which conflicts moved."""

    clocks: list[AgendaClock]
    moves: list[AgendaMove]
    fired: list[FiredAgenda]
    conflicts: list[ConflictChange] = field(default_factory=list)


def world_draws(origin: str | int, cursor: int) -> Draws:
    """The draws of a world that moves: of its own, so that they change no dice. `origin` is a seed or a name."""
    return Draws(derived_seed(origin, "agendas"), cursor)


def advance(
    clocks: Sequence[AgendaClock],
    minutes: int,
    draws: Draws,
    *,
    now: int = 0,
    turn_index: int = 0,
    state: WorldState | None = None,
) -> Advanced:
    """The clocks so many minutes after `now`. `state` are the variables of the play that their rules ask for."""
    run = _Run(clocks, draws, now=now, until=now + minutes, turn_index=turn_index, state=state)
    while run.queue:
        run.take_chance()
    return run.result()


class _Run:
    """Clocks on their way."""

    def __init__(
        self,
        clocks: Sequence[AgendaClock],
        draws: Draws,
        *,
        now: int,
        until: int,
        turn_index: int,
        state: WorldState | None,
    ) -> None:
        self._draws, self._now, self._until, self._turn_index = draws, now, until, turn_index
        self._state = state
        self._before = {clock.clock_id: clock.filled for clock in clocks}
        self._clocks = {clock.clock_id: clock if state is None else _stopped(clock, state) for clock in clocks}
        self._places = {clock.clock_id: place for place, clock in enumerate(clocks)}
        self._last: dict[str, int] = {}
        self._chances = dict.fromkeys(self._clocks, 0)
        self._fired: list[FiredAgenda] = []
        self.queue: list[tuple[int, int, str]] = []
        for id in self._places:
            clock = self._clocks[id]
            # One that is full from the beginning may have started others already.
            if id not in self._last:
                self._start(clock, now - clock.rest)

    def take_chance(self) -> None:
        """The next chance of all."""
        minute, _, id = heapq.heappop(self.queue)
        clock, self._last[id] = self._clocks[id], minute
        pressure, opposition = forces_on(clock, self._state)
        self._chances[id] += 1
        if self._draws.below(pressure + opposition + 1) < pressure:
            clock = self._clocks[id] = clock.model_copy(update={"filled": clock.filled + 1})
        if clock.filled >= clock.segments:
            self._fire(clock, minute)
        else:
            self._queue(clock, minute)

    def result(self) -> Advanced:
        clocks = [
            clock.model_copy(update={"rest": self._until - self._last[id] if self._runs(clock) else 0})
            for id, clock in self._clocks.items()
        ]
        moves = [
            AgendaMove(clock_id=id, before=self._before[id], after=clock.filled, chances=self._chances[id])
            for id, clock in self._clocks.items()
        ]
        return Advanced(clocks=clocks, moves=moves, fired=self._fired)

    def _runs(self, clock: AgendaClock) -> bool:
        return clock.status == "active" and forces_on(clock, self._state)[0] > 0

    def _start(self, clock: AgendaClock, last: int) -> None:
        """Has a clock count from a moment on, if it runs; one that is full already fires then, but not in the past."""
        if not self._runs(clock):
            return
        self._last[clock.clock_id] = last
        if clock.filled >= clock.segments:
            self._fire(clock, max(last, self._now))
        else:
            self._queue(clock, last)

    def _queue(self, clock: AgendaClock, last: int) -> None:
        # One whose author made its time shorter has its chance at once, not in the past.
        minute = max(last + clock.every, self._now)
        if minute <= self._until:
            heapq.heappush(self.queue, (minute, self._places[clock.clock_id], clock.clock_id))

    def _fire(self, clock: AgendaClock, minute: int) -> None:
        fires = clock.fires
        event = clock.name if fires is None else fires.event
        self._clocks[clock.clock_id] = clock.model_copy(update={"status": "fired"})
        self._fired.append(
            FiredAgenda(
                clock_id=clock.clock_id,
                name=clock.name,
                owner=clock.owner,
                minute=minute,
                turn_index=self._turn_index,
                event=event,
                told=event if fires is None else fires.told,
                where=None if fires is None else fires.where,
                known_to=[] if fires is None else fires.known_to,
            )
        )
        if fires is not None:
            self._push(fires.pushes, minute)
            for id in fires.starts:
                self._begin(id, minute)

    def _push(self, pushes: Mapping[str, int], minute: int) -> None:
        for id, by in pushes.items():
            clock = self._clocks.get(id)
            if clock is None:
                continue
            ran = self._runs(clock)
            pushed = self._clocks[id] = clock.model_copy(update={"pressure": _bounded(clock.pressure + by)})
            if ran and not self._runs(pushed):
                self.queue = [one for one in self.queue if one[2] != id]
                heapq.heapify(self.queue)
            elif not ran:
                self._start(pushed, minute)

    def _begin(self, id: str, minute: int) -> None:
        clock = self._clocks.get(id)
        if clock is not None and clock.status == "waiting":
            begun = self._clocks[id] = clock.model_copy(update={"status": "active", "rest": 0})
            self._start(begun, minute)


def forces_on(clock: AgendaClock, state: WorldState | None) -> tuple[int, int]:
    """The pressure and opposition of a clock, with what the variables of a play add to them."""
    pressure, opposition = clock.pressure, clock.opposition
    for rule in clock.rules:
        if state is not None and holds(rule.when, state):
            pressure, opposition = pressure + rule.pressure, opposition + rule.opposition
    return _bounded(pressure), _bounded(opposition)


def _stopped(clock: AgendaClock, state: WorldState) -> AgendaClock:
    if clock.status in ("fired", "dropped") or not any(rule.stops and holds(rule.when, state) for rule in clock.rules):
        return clock
    return clock.model_copy(update={"status": "dropped", "rest": 0})


def _bounded(force: int) -> int:
    return max(0, min(MOST_FORCE, force))


def chance_of(clock: AgendaClock, state: WorldState | None = None) -> float:
    """How likely one chance of a clock fills a segment, as it stands."""
    if clock.status != "active":
        return 0.0
    pressure, opposition = forces_on(clock, state)
    return pressure / (pressure + opposition + 1)


def odds_of_firing(clock: AgendaClock, minutes: int, state: WorldState | None = None) -> float:
    """How likely a clock fires within so many minutes, if nothing else changes its forces meanwhile."""
    chance, missing = chance_of(clock, state), clock.segments - clock.filled
    if chance == 0 or missing == 0:
        return float(chance > 0)
    chances = min((clock.rest + minutes) // clock.every, TELLING_CHANCES)
    filled = [1.0] + [0.0] * missing
    for _ in range(chances):
        for at in range(missing, 0, -1):
            stays = 1.0 if at == missing else 1 - chance
            filled[at] = filled[at] * stays + filled[at - 1] * chance
        filled[0] *= 1 - chance
    return round(filled[missing], 4)
