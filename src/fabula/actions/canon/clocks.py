"""Keep the agendas of a world, or of a play: clocks are listed, made and set.

What a world says of them is where its plays begin. A play moves them in its own state, and may have more of its own;
each change there is a turn, so going back undoes it. A session in the envelope stands for its play.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from pydantic import Field

from fabula.actions.authority import allowed
from fabula.actions.house import House
from fabula.actions.outside_values import outside_value
from fabula.actions.plays.amend import Amendment, AtHead, amend
from fabula.actions.plays.kinds.rows import kind_of_play
from fabula.actions.plays.play_states import head_state
from fabula.actions.repositories import WORLDS, checked_new_name
from fabula.actions.views import Command, View, changed, refuse
from fabula.loops.scene.play_setup import PlaySetup
from fabula.ports.actors import Actor
from fabula.ports.errors import InvalidRequest, NotFound
from fabula.ports.store import Unit
from fabula.rules.agendas import chance_of
from fabula.rules.off_screen import begin_off_screen
from fabula.story.agendas import (
    AgendaClock,
    AgendaStatus,
    AgendaText,
    Firing,
    Force,
    ForceRule,
    Minutes,
    Segments,
    agenda_problems,
)
from fabula.story.canon import Name
from fabula.story.off_screen import OffScreen
from fabula.story.plays import PlayState
from fabula.story.sizes import json_size
from fabula.story.state import WorldState
from fabula.story.values import Id

MOVING = ("filled", "pressure", "opposition", "status")
"""What a play may set of a clock that its world has."""
LARGEST_OWN_CLOCKS = 100_000
WRITTEN = ("name", "agenda", "owner", "segments", *MOVING, "every", "rules", "fires")


class ListClocks(Command):
    """`world_id` is left out where the envelope names a session."""

    world_id: str = ""


class CreateClock(Command):
    """`owner` is whose agenda it is, by the id of an entity. Without a `clock_id` it gets one."""

    world_id: str = ""
    clock_id: str | None = None
    name: Name
    agenda: AgendaText = ""
    owner: Id | None = None
    segments: Segments = 6
    filled: int = Field(default=0, ge=0, le=12)
    pressure: Force = 1
    opposition: Force = 0
    every: Minutes = 60
    status: Literal["active", "waiting"] = "active"
    rules: list[ForceRule] = Field(default=[], max_length=8)
    fires: Firing | None = None


class UpdateClock(Command):
    """What is not given stays. In a play, of a clock that its world has, only how it stands can be set: `filled`,
    `pressure`, `opposition` and `status`; a clock that is `dropped` moves no more."""

    world_id: str = ""
    clock_id: str
    name: Name | None = None
    agenda: AgendaText | None = None
    owner: Id | None = None
    segments: Segments | None = None
    filled: int | None = Field(default=None, ge=0, le=12)
    pressure: Force | None = None
    opposition: Force | None = None
    every: Minutes | None = None
    status: AgendaStatus | None = None
    rules: list[ForceRule] | None = Field(default=None, max_length=8)
    fires: Firing | None = None


class ClockView(View):
    """A clock as it stands in its world, or in a play. `chance` is how likely its next chance fills a segment, with
    what the play's variables add to its forces. `own` says that the play made it itself."""

    optional = frozenset({"owner", "fires", "own"})
    type: Literal["clock"] = "clock"
    clock_id: str
    name: str
    agenda: str
    owner: str | None = None
    segments: int
    filled: int
    pressure: int
    opposition: int
    every: int
    status: AgendaStatus
    chance: float
    rules: list[ForceRule]
    fires: Firing | None = None
    own: bool = False


class ClocksListed(View):
    """Clocks in the order in which they move. `minute` is up to when they have moved, in story time."""

    may_be_large = True
    type: Literal["clocks_listed"] = "clocks_listed"
    minute: int
    clocks: list[ClockView]


@allowed("author")
async def list_clocks(house: House, actor: Actor, session_id: str | None, command: ListClocks) -> ClocksListed:
    """Lists the agendas of a world, or of a play as they stand at its head, with the odds of their next chance."""
    async with house.store.reading() as unit:
        if session_id is None:
            world = await WORLDS.get(unit, command.world_id)
            return ClocksListed(minute=world.minute, clocks=[clock_view(clock) for clock in world.clocks])
        _, state = await head_state(unit, actor, session_id)
        setup = await setup_of(house, unit, session_id, state)
        off_screen = begun(state, setup)
        clocks = off_screen.all_clocks(setup.clocks)
    own = {clock.clock_id for clock in off_screen.own_clocks}
    views = [clock_view(clock, state.world, own=clock.clock_id in own) for clock in clocks]
    return ClocksListed(minute=off_screen.minute, clocks=views)


@allowed("author")
async def create_clock(house: House, actor: Actor, session_id: str | None, command: CreateClock) -> ClockView:
    """Adds an agenda to a world, or to a play alone."""
    clock_id = command.clock_id or house.ids.new("clock")
    fields = {name: value for name, value in dict(command).items() if name != "world_id"}
    clock = outside_value(AgendaClock, {**fields, "clock_id": checked_new_name(clock_id, "clock")}, "The clock")
    if session_id is None:
        async with house.store.writing() as unit:
            world = await WORLDS.get(unit, command.world_id)
            clocks = [*world.clocks, clock]
            refuse(agenda_problems(clocks), "clock")
            await WORLDS.put(unit, world.world_id, world.model_copy(update={"clocks": clocks}))
        return clock_view(clock)

    async def change(at: AtHead) -> tuple[Amendment, PlayState]:
        setup = await setup_of(house, at.looking, session_id, at.state)
        off_screen = begun(at.state, setup)
        refuse(agenda_problems([*setup.clocks, clock]), "clock")
        own = [*off_screen.own_clocks, clock]
        refuse([*agenda_problems(own), *_size_problems(own)], "clock")
        after = off_screen.model_copy(update={"own_clocks": own})
        state = at.state.model_copy(update={"off_screen": after.moved_to(after.minute, after.cursor, [clock])})
        return Amendment(state=state), state

    _, state = await amend(house, actor, session_id, change)
    return clock_view(clock, state.world, own=True)


@allowed("author")
async def update_clock(house: House, actor: Actor, session_id: str | None, command: UpdateClock) -> ClockView:
    """Changes an agenda of a world, or how it stands in a play."""
    if session_id is None:
        async with house.store.writing() as unit:
            world = await WORLDS.get(unit, command.world_id)
            clock = _changed(_named(world.clocks, command.clock_id), command, *WRITTEN)
            clocks = [clock if one.clock_id == clock.clock_id else one for one in world.clocks]
            refuse(agenda_problems(clocks), "clock")
            await WORLDS.put(unit, world.world_id, world.model_copy(update={"clocks": clocks}))
        return clock_view(clock)

    async def change(at: AtHead) -> tuple[Amendment, tuple[PlayState, AgendaClock, bool]]:
        setup = await setup_of(house, at.looking, session_id, at.state)
        off_screen = begun(at.state, setup)
        is_own = any(one.clock_id == command.clock_id for one in off_screen.own_clocks)
        before = _named(off_screen.all_clocks(setup.clocks), command.clock_id)
        _check_moving(command, is_own=is_own)
        clock = _changed(before, command, *WRITTEN)
        own = [clock if one.clock_id == clock.clock_id else one for one in off_screen.own_clocks]
        refuse([*agenda_problems([*setup.clocks, *own]), *_size_problems(own)] if is_own else [], "clock")
        after = off_screen.model_copy(update={"own_clocks": own})
        state = at.state.model_copy(update={"off_screen": after.moved_to(after.minute, after.cursor, [clock])})
        return Amendment(state=state), (state, clock, is_own)

    _, (state, clock, is_own) = await amend(house, actor, session_id, change)
    return clock_view(clock, state.world, own=is_own)


def _size_problems(own: Sequence[AgendaClock]) -> list[str]:
    """The clocks of a play are written with every turn of it."""
    size = sum(json_size(clock.as_json()) for clock in own)
    if size <= LARGEST_OWN_CLOCKS:
        return []
    return [f"the clocks of a play may have {LARGEST_OWN_CLOCKS} letters together, and these have {size}"]


def _check_moving(command: UpdateClock, *, is_own: bool) -> None:
    asked = [name for name in WRITTEN if getattr(command, name) is not None and name not in MOVING]
    if asked and not is_own:
        raise InvalidRequest(
            f"The clock '{command.clock_id}' is the world's own: in a play only {', '.join(MOVING)} can be set, "
            f"and not {', '.join(asked)}. Change it in the world instead, without a session."
        )


def _changed(clock: AgendaClock, command: UpdateClock, *names: str) -> AgendaClock:
    fields: dict[str, Any] = changed(clock, command, *names)
    if command.status is not None or command.every is not None:
        fields["rest"] = 0
    return outside_value(AgendaClock, fields, "The clock")


def _named(clocks: Sequence[AgendaClock], clock_id: str) -> AgendaClock:
    found = next((one for one in clocks if one.clock_id == clock_id), None)
    if found is None:
        raise NotFound(f"There is no clock named '{clock_id}' here.", id=clock_id)
    return found


async def setup_of(house: House, unit: Unit, session_id: str, state: PlayState) -> PlaySetup:
    """What a session plays; an Ink story leads its own time, and has no agendas."""
    setup = await kind_of_play(state).setup(house, unit, session_id, state)
    if setup is None:
        raise InvalidRequest("An Ink story decides itself what happens: its plays have no agendas.")
    return setup


def begun(state: PlayState, setup: PlaySetup) -> OffScreen:
    """What a play keeps of the world beyond its scenes, as it stands; from now on, where it keeps nothing yet."""
    return begin_off_screen(state, setup.clocks, setup.threads, setup.conflicts).off_screen or OffScreen(
        minute=state.minute
    )


def clock_view(clock: AgendaClock, state: WorldState | None = None, *, own: bool = False) -> ClockView:
    """A clock as clients see it."""
    shown = {name: getattr(clock, name) for name in AgendaClock.model_fields if name in ClockView.model_fields}
    return ClockView(**shown, chance=round(chance_of(clock, state), 4), own=own)
