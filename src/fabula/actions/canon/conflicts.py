"""Keep the conflicts of a world: they are listed, shown, made and changed; in a play, set where they stand.

What a world says of them is where its plays begin. A play moves them in its own state; a change there is a turn, so
going back undoes it. A session in the envelope stands for its play.
"""

from __future__ import annotations

from typing import Any, Final, Literal

from pydantic import Field

from fabula.actions.authority import allowed
from fabula.actions.canon.clocks import begun, setup_of
from fabula.actions.house import House
from fabula.actions.outside_values import outside_value
from fabula.actions.plays.amend import Amendment, AtHead, amend
from fabula.actions.plays.play_states import head_state
from fabula.actions.repositories import WORLDS, checked_new_name
from fabula.actions.views import Command, View, changed, refuse
from fabula.ports.actors import Actor
from fabula.ports.errors import InvalidRequest, NotFound
from fabula.rules.conflicts import due_in
from fabula.rules.off_screen import circumstances
from fabula.story.agendas import AgendaText, Notice
from fabula.story.canon import KnownTo, Name
from fabula.story.conflicts import (
    Conflict,
    ConflictMove,
    ConflictNow,
    ConflictOutcome,
    ConflictPhase,
    ConflictPush,
    ConflictStep,
    Stakeholder,
    conflict_problems,
)
from fabula.story.plays import PlayState
from fabula.story.values import Id

WRITTEN: Final = (
    "title",
    "stakes",
    "stakeholders",
    "intensity",
    "momentum",
    "drift",
    "patience",
    "every",
    "where",
    "known_to",
    "signs",
    "pushes",
    "moves",
    "outcomes",
)


class ListConflicts(Command):
    """`world_id` is left out where the envelope names a session."""

    world_id: str = ""


class NameConflict(ListConflicts):
    conflict_id: str


class CreateConflict(ListConflicts):
    """Without a `conflict_id` it gets one. One of the `outcomes` has no condition: so it ends if nobody acts."""

    conflict_id: str | None = None
    title: Name
    stakes: AgendaText = ""
    stakeholders: list[Stakeholder] = Field(min_length=1, max_length=12)
    intensity: float = Field(default=0.1, ge=0, le=1)
    momentum: float = Field(default=0.0, ge=-1, le=1)
    drift: float = Field(default=0.03, ge=-0.5, le=0.5)
    patience: int = Field(default=2, ge=1, le=20)
    every: int = Field(default=120, ge=0, le=100_000)
    where: list[Id] = Field(default=[], max_length=12)
    known_to: KnownTo = []
    signs: dict[ConflictPhase, Notice] = {}
    pushes: list[ConflictPush] = Field(default=[], max_length=24)
    moves: list[ConflictMove] = Field(default=[], max_length=24)
    outcomes: list[ConflictOutcome] = Field(min_length=1, max_length=8)


class UpdateConflict(NameConflict):
    """What is not given stays. In a play only `intensity` and `momentum` can be set; its phase follows with the next
    turn."""

    title: Name | None = None
    stakes: AgendaText | None = None
    stakeholders: list[Stakeholder] | None = Field(default=None, min_length=1, max_length=12)
    intensity: float | None = Field(default=None, ge=0, le=1)
    momentum: float | None = Field(default=None, ge=-1, le=1)
    drift: float | None = Field(default=None, ge=-0.5, le=0.5)
    patience: int | None = Field(default=None, ge=1, le=20)
    every: int | None = Field(default=None, ge=0, le=100_000)
    where: list[Id] | None = Field(default=None, max_length=12)
    known_to: KnownTo | None = None
    signs: dict[ConflictPhase, Notice] | None = None
    pushes: list[ConflictPush] | None = Field(default=None, max_length=24)
    moves: list[ConflictMove] | None = Field(default=None, max_length=24)
    outcomes: list[ConflictOutcome] | None = Field(default=None, min_length=1, max_length=8)


class ConflictView(View):
    """A conflict as it stands. `due` is what is to come of it, `outcome` how it ended, `steps` what moved it last, each
    with its turn and its reason."""

    optional = frozenset({"outcome"})
    type: Literal["conflict"] = "conflict"
    conflict_id: str
    title: str
    stakes: str
    stakeholders: list[Stakeholder]
    phase: ConflictPhase
    intensity: float
    momentum: float
    due: str
    outcome: str | None = None
    steps: list[ConflictStep]


class ConflictDetailView(ConflictView):
    """A conflict with all that is written of it."""

    type: Literal["conflict"] = "conflict"
    may_be_large = True
    drift: float
    patience: int
    every: int
    where: list[Id]
    known_to: KnownTo
    signs: dict[ConflictPhase, Notice]
    pushes: list[ConflictPush]
    moves: list[ConflictMove]
    outcomes: list[ConflictOutcome]


class ConflictsListed(View):
    """Conflicts in the order in which they are written."""

    may_be_large = True
    type: Literal["conflicts_listed"] = "conflicts_listed"
    conflicts: list[ConflictView]


@allowed("author")
async def list_conflicts(house: House, actor: Actor, session_id: str | None, command: ListConflicts) -> ConflictsListed:
    """Lists the conflicts of a world, or of a play as they stand at its head, with what moved them and what is due."""
    conflicts, state = await _standing(house, actor, session_id, command.world_id)
    return ConflictsListed(conflicts=[ConflictView(**_shown(one, state)) for one in conflicts])


@allowed("author")
async def get_conflict(house: House, actor: Actor, session_id: str | None, command: NameConflict) -> ConflictDetailView:
    """Shows a conflict with its rules: what pushes it, who moves, and how it may end."""
    conflicts, state = await _standing(house, actor, session_id, command.world_id)
    return _detail(_named(conflicts, command.conflict_id), state)


@allowed("author")
async def create_conflict(house: House, actor: Actor, command: CreateConflict) -> ConflictDetailView:
    """Adds a conflict to a world; plays that are under way have it from their next turn on."""
    conflict_id = checked_new_name(command.conflict_id or house.ids.new("conflict"), "conflict")
    fields = {name: value for name, value in dict(command).items() if name != "world_id"}
    conflict = outside_value(Conflict, {**fields, "conflict_id": conflict_id}, "The conflict")
    async with house.store.writing() as unit:
        world = await WORLDS.get(unit, command.world_id)
        conflicts = [*world.conflicts, conflict]
        refuse(conflict_problems(conflicts), "conflict")
        await WORLDS.put(unit, world.world_id, world.model_copy(update={"conflicts": conflicts}))
    return _detail(conflict, None)


@allowed("author")
async def update_conflict(
    house: House, actor: Actor, session_id: str | None, command: UpdateConflict
) -> ConflictDetailView:
    """Changes a conflict of a world, or how it stands in a play."""
    if session_id is None:
        async with house.store.writing() as unit:
            world = await WORLDS.get(unit, command.world_id)
            fields: dict[str, Any] = changed(_named(world.conflicts, command.conflict_id), command, *WRITTEN)
            conflict = outside_value(Conflict, fields, "The conflict")
            conflicts = [conflict if one.conflict_id == conflict.conflict_id else one for one in world.conflicts]
            refuse(conflict_problems(conflicts), "conflict")
            await WORLDS.put(unit, world.world_id, world.model_copy(update={"conflicts": conflicts}))
        return _detail(conflict, None)
    asked = [name for name in WRITTEN if getattr(command, name) is not None and name not in ("intensity", "momentum")]
    if asked:
        raise InvalidRequest(
            f"In a play only intensity and momentum of a conflict can be set, and not {', '.join(asked)}. "
            "Change it in the world instead, without a session."
        )

    async def change(at: AtHead) -> tuple[Amendment, tuple[PlayState, Conflict]]:
        setup = await setup_of(house, at.looking, session_id, at.state)
        conflict, off_screen = _named(setup.conflicts, command.conflict_id), begun(at.state, setup)
        now = off_screen.conflicts.get(conflict.conflict_id) or conflict.start
        given = {name: value for name in ("intensity", "momentum") if (value := getattr(command, name)) is not None}
        moved = {**off_screen.conflicts, conflict.conflict_id: now.model_copy(update=given)}
        state = at.state.model_copy(update={"off_screen": off_screen.model_copy(update={"conflicts": moved})})
        return Amendment(state=state), (state, conflict)

    _, (state, conflict) = await amend(house, actor, session_id, change)
    return _detail(conflict, state)


async def _standing(
    house: House, actor: Actor, session_id: str | None, world_id: str
) -> tuple[list[Conflict], PlayState | None]:
    async with house.store.reading() as unit:
        if session_id is None:
            return (await WORLDS.get(unit, world_id)).conflicts, None
        _, state = await head_state(unit, actor, session_id)
        return list((await setup_of(house, unit, session_id, state)).conflicts), state


def _named(conflicts: Any, conflict_id: str) -> Conflict:
    found: Conflict | None = next((one for one in conflicts if one.conflict_id == conflict_id), None)
    if found is None:
        raise NotFound(f"There is no conflict named '{conflict_id}' here.", id=conflict_id)
    return found


def _now(one: Conflict, state: PlayState | None) -> ConflictNow:
    off_screen = None if state is None else state.off_screen
    return one.start if off_screen is None else off_screen.conflicts.get(one.conflict_id) or one.start


def _shown(one: Conflict, state: PlayState | None) -> dict[str, Any]:
    now = _now(one, state)
    outcome = one.outcome(now.outcome_id)
    return {
        "conflict_id": one.conflict_id,
        "title": one.title,
        "stakes": one.stakes,
        "stakeholders": one.stakeholders,
        "phase": now.phase,
        "intensity": now.intensity,
        "momentum": now.momentum,
        "due": "" if state is None else due_in(one, now, circumstances(state)),
        "outcome": None if outcome is None else outcome.event,
        "steps": now.steps,
    }


def _detail(one: Conflict, state: PlayState | None) -> ConflictDetailView:
    written = {name: getattr(one, name) for name in WRITTEN if name not in ("intensity", "momentum")}
    return ConflictDetailView(**{**written, **_shown(one, state)})
