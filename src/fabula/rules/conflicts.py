"""How conflicts gather and break: a pure function of what is written, what happened, and how often the world moved.

1. *Push.* What happens moves a conflict once: its intensity at once, and its momentum by half as much.
2. *Tick.* Every so many minutes, as the world moves, a conflict gets its momentum and its drift, then its momentum
   halves; and one stakeholder makes a move, the first in the order of the moves that fits and was not made.
3. *Phase.* Before the climax intensity decides: emerging from 0.15 on, rising from 0.35, confrontation from 0.6, climax
   from 0.85. A phase is left one at a time, and left backwards when intensity has fallen 0.1 below where it began.
4. *Outcome.* At the climax the first outcome that holds decides it, an early one already before. If a climax lasts
   longer than its patience, it ends as it does when nobody does anything. Then it falls, with the next tick it is
   resolved, which is when it comes to pass, once; and with the one after that only its aftermath is left.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from fabula.story.agendas import FiredAgenda
from fabula.story.conditions import Condition, holds
from fabula.story.conflicts import (
    LONGEST_WHY,
    MOST_CONFLICT_STEPS,
    PHASES,
    Conflict,
    ConflictMove,
    ConflictNow,
    ConflictOutcome,
    ConflictPhase,
    ConflictPush,
    ConflictStep,
)
from fabula.story.relations import FeelingTest, Relations
from fabula.story.state import WorldState

BEGINS: Final[Mapping[ConflictPhase, float]] = {
    "emerging": 0.15,
    "rising": 0.35,
    "confrontation": 0.6,
    "climax": 0.85,
}
COOLS: Final = 0.1
MOST_TICKS: Final = 8
"""So many ticks a conflict has at once, however long the world stood still."""
GATHERING: Final[tuple[ConflictPhase, ...]] = PHASES[:5]
AFTERWARDS: Final[Mapping[ConflictPhase, tuple[ConflictPhase, float]]] = {
    "falling": ("resolution", 0.2),
    "resolution": ("aftermath", 0.0),
}


@dataclass(frozen=True, kw_only=True)
class Circumstances:
    """What conflicts are moved by: where the play stands, and what came to pass with this turn."""

    state: WorldState
    relations: Relations
    turn_index: int
    minute: int
    fired: Collection[str] = ()

    def holds(self, condition: Condition | None, feeling: FeelingTest | None = None) -> bool:
        return holds(condition, self.state) and (feeling is None or feeling.holds(self.relations))


@dataclass(frozen=True, kw_only=True)
class ConflictChange:
    """That a conflict moved: how it stood before, and what moved it."""

    conflict: Conflict
    before: ConflictNow
    step: ConflictStep

    @property
    def entered(self) -> ConflictPhase | None:
        """The phase that began with it, if one did."""
        return self.step.phase if self.step.phase != self.before.phase else None


@dataclass(frozen=True, kw_only=True)
class Moved:
    """Conflicts after something happened: those that moved, the changes in their order, and what came to pass."""

    now: dict[str, ConflictNow] = field(default_factory=dict)
    changes: list[ConflictChange] = field(default_factory=list)
    news: list[FiredAgenda] = field(default_factory=list)


def push_conflicts(conflicts: Sequence[Conflict], before: Mapping[str, ConflictNow], around: Circumstances) -> Moved:
    """The conflicts after a turn: what happened in it pushes them, and may decide them."""
    run = _Run(before, around)
    for one in conflicts:
        for push in one.pushes:
            run.push(one, push)
        run.settle(one)
    return run.moved


def tick_conflicts(conflicts: Sequence[Conflict], before: Mapping[str, ConflictNow], around: Circumstances) -> Moved:
    """The conflicts after the world moved."""
    run = _Run(before, around)
    for one in conflicts:
        for _ in range(run.due_ticks(one)):
            run.tick(one)
    return run.moved


class _Run:
    """Conflicts on their way."""

    def __init__(self, before: Mapping[str, ConflictNow], around: Circumstances) -> None:
        self._around = around
        self.moved = Moved(now=dict(before))

    def _now(self, one: Conflict) -> ConflictNow:
        return self.moved.now.get(one.conflict_id) or one.start

    def push(self, one: Conflict, push: ConflictPush) -> None:
        now = self._now(one)
        if push.push_id in now.pushed or now.phase not in GATHERING:
            return
        if push.clock_id is not None and push.clock_id not in self._around.fired:
            return
        if not self._around.holds(push.when, push.feeling):
            return
        now = now.model_copy(update={"pushed": [*now.pushed, push.push_id]})
        self._keep(one, _pushed(now, push.by), push.why)

    def due_ticks(self, one: Conflict) -> int:
        """How many ticks a conflict has by now; what is left of its time counts the next time."""
        now, minute = self._now(one), self._around.minute
        if now.ticked is None or not one.every:
            ticks, until = 1, minute
        else:
            ticks = max(0, minute - now.ticked) // one.every
            until = now.ticked + ticks * one.every
        if ticks:
            self.moved.now[one.conflict_id] = now.model_copy(update={"ticked": until})
        return min(ticks, MOST_TICKS)

    def tick(self, one: Conflict) -> None:
        now = self._now(one)
        if now.phase == "aftermath":
            return
        later = AFTERWARDS.get(now.phase)
        if later is not None:
            phase, intensity = later
            outcome = one.outcome(now.outcome_id)
            ended = now.model_copy(update={"phase": phase, "intensity": intensity, "momentum": 0.0, "ticks": 0})
            told = one.title if outcome is None else outcome.event
            self._keep(one, ended, told if phase == "resolution" else "What is left of it.", stays=True)
            if phase == "resolution" and outcome is not None:
                self.moved.news.append(_came_to_pass(one, outcome, self._around))
            return
        drift = 0.0 if now.phase == "climax" else one.drift
        intensity = _bounded(now.intensity + now.momentum + drift)
        now = now.model_copy(
            update={"intensity": intensity, "momentum": round(now.momentum / 2, 3), "ticks": now.ticks + 1}
        )
        move = next_move(one, now, self._around)
        if move is None:
            self._keep(one, now, "Time passed, and nobody gave way." if drift >= 0 else "Time passed, and it cooled.")
        else:
            now = now.model_copy(update={"made": [*now.made, move.move_id]})
            self.moved.news.append(_made(one, move, self._around))
            self._keep(one, _pushed(now, move.push), move.what)
        self.settle(one)

    def settle(self, one: Conflict) -> None:
        """Decides a conflict whose outcome is certain."""
        now = self._now(one)
        if now.phase not in GATHERING:
            return
        outcome = next((each for each in one.outcomes if self._decides(each, one, now)), None)
        if outcome is None:
            return
        fallen = now.model_copy(
            update={
                "phase": "falling",
                "intensity": _bounded(now.intensity / 2),
                "momentum": 0.0,
                "ticks": 0,
                "outcome_id": outcome.outcome_id,
            }
        )
        self._keep(one, fallen, f"It is decided: {outcome.event}", stays=True)

    def _decides(self, outcome: ConflictOutcome, one: Conflict, now: ConflictNow) -> bool:
        if outcome.when is None and outcome.feeling is None:
            return now.phase == "climax" and now.ticks >= one.patience
        if now.phase != "climax" and not (outcome.early and now.phase != "seed"):
            return False
        return self._around.holds(outcome.when, outcome.feeling)

    def _keep(self, one: Conflict, now: ConflictNow, why: str, *, stays: bool = False) -> None:
        """Keeps a conflict as it stands after something moved it; unless it `stays`, its phase follows."""
        before = self._now(one)
        if not stays:
            phase = _phase_of(before.phase, now.intensity)
            now = now.model_copy(update={"phase": phase, "ticks": now.ticks if phase == before.phase else 0})
        if (now.phase, now.intensity) != (before.phase, before.intensity):
            step = ConflictStep(
                turn_index=self._around.turn_index,
                minute=self._around.minute,
                phase=now.phase,
                intensity=now.intensity,
                why=why[:LONGEST_WHY],
            )
            now = now.model_copy(update={"steps": [*now.steps, step][-MOST_CONFLICT_STEPS:]})
            change = ConflictChange(conflict=one, before=before, step=step)
            self.moved.changes.append(change)
            sign = None if change.entered is None else one.signs.get(change.entered)
            if sign is not None:
                told = _news(one, self._around, part=now.phase, owner=None, event=sign[:200], told=sign)
                self.moved.news.append(told)
        self.moved.now[one.conflict_id] = now


def next_move(one: Conflict, now: ConflictNow, around: Circumstances) -> ConflictMove | None:
    """What a stakeholder does next, if anybody may do anything."""
    open_moves = (move for move in one.moves if move.move_id not in now.made and now.phase in move.phases)
    return next((move for move in open_moves if around.holds(move.when)), None)


def _pushed(now: ConflictNow, by: float) -> ConflictNow:
    momentum = round(max(-1.0, min(1.0, now.momentum + by / 2)), 3)
    return now.model_copy(update={"intensity": _bounded(now.intensity + by), "momentum": momentum})


def _bounded(intensity: float) -> float:
    return round(max(0.0, min(1.0, intensity)), 3)


def _phase_of(phase: ConflictPhase, intensity: float) -> ConflictPhase:
    """The phase after one of the gathering ones, with this intensity: the next, the same or the one before."""
    place = GATHERING.index(phase)
    if place + 1 < len(GATHERING) and intensity >= BEGINS[GATHERING[place + 1]]:
        return GATHERING[place + 1]
    # A climax is not slept off: it ends by its outcome.
    if 0 < place < len(GATHERING) - 1 and intensity < BEGINS[phase] - COOLS:
        return GATHERING[place - 1]
    return phase


def _news(
    one: Conflict, around: Circumstances, *, part: str = "", owner: str | None, event: str, told: str
) -> FiredAgenda:
    return FiredAgenda(
        clock_id=f"{one.conflict_id}.{part}"[:128] if part else one.conflict_id,
        name=one.title,
        owner=owner,
        minute=around.minute,
        turn_index=around.turn_index,
        event=event,
        told=told,
        known_to=one.known_to,
    )


def _made(one: Conflict, move: ConflictMove, around: Circumstances) -> FiredAgenda:
    made = _news(one, around, part=move.move_id, owner=move.by, event=move.what, told=move.notice or move.what)
    return made.model_copy(update={"where": move.where, "known_to": move.known_to or one.known_to})


def _came_to_pass(one: Conflict, outcome: ConflictOutcome, around: Circumstances) -> FiredAgenda:
    news = _news(one, around, owner=None, event=outcome.event, told=outcome.notice or outcome.event)
    return news.model_copy(update={"where": outcome.where, "known_to": outcome.known_to or one.known_to})


def due_in(one: Conflict, now: ConflictNow, around: Circumstances) -> str:
    """What is due in a conflict, in a sentence for whoever plans the scene."""
    if now.phase == "climax":
        return "It must come to a head now, and be decided by what is done."
    if now.phase == "falling":
        outcome = one.outcome(now.outcome_id)
        return "" if outcome is None else f"It is decided, and settles: {outcome.event}"
    move = next_move(one, now, around)
    return "" if move is None else f"Soon: {move.what}"
