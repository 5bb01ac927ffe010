"""Keep game systems: those that are built in, and those that authors write."""

from __future__ import annotations

from typing import Literal

from fabula.actions.authority import allowed
from fabula.actions.house import House
from fabula.actions.outside_values import outside_value
from fabula.actions.repositories import GAME_SYSTEMS, checked_new_name
from fabula.actions.setups.game_systems import find_system
from fabula.actions.views import Command, ListView, Paging, View, changed, refuse
from fabula.ports.actors import Actor
from fabula.ports.errors import Conflict, InvalidRequest
from fabula.rules.systems import builtin_systems, system_problems
from fabula.story.game_systems import (
    Attribute,
    ConditionRule,
    CoreMechanic,
    EffectRule,
    GameSystem,
    Label,
    Skill,
    StatName,
    Track,
    Word,
)


class CreateGameSystem(Command):
    system_id: str
    display_name: Label
    description: str = ""
    core: CoreMechanic
    attributes: dict[StatName, Attribute] = {}
    skills: dict[StatName, Skill] = {}
    tracks: dict[StatName, Track] = {}
    conditions: dict[StatName, ConditionRule] = {}
    difficulties: dict[Word, int] = {}
    effects: list[EffectRule] = []
    risky: list[Word] = []


class UpdateGameSystem(Command):
    system_id: str
    display_name: Label | None = None
    description: str | None = None
    core: CoreMechanic | None = None
    attributes: dict[StatName, Attribute] | None = None
    skills: dict[StatName, Skill] | None = None
    tracks: dict[StatName, Track] | None = None
    conditions: dict[StatName, ConditionRule] | None = None
    difficulties: dict[Word, int] | None = None
    effects: list[EffectRule] | None = None
    risky: list[Word] | None = None


PARTS = tuple(name for name in CreateGameSystem.model_fields if name != "system_id")


class NameGameSystem(Command):
    system_id: str


class GameSystemView(View):
    """A whole system. One that is `built_in` came with Fabula and cannot be changed; copy it under another id."""

    may_be_large = True
    type: Literal["game_system"] = "game_system"
    built_in: bool
    system_id: str
    display_name: str
    description: str
    core: CoreMechanic
    attributes: dict[StatName, Attribute]
    skills: dict[StatName, Skill]
    tracks: dict[StatName, Track]
    conditions: dict[StatName, ConditionRule]
    difficulties: dict[Word, int]
    effects: list[EffectRule]
    risky: list[Word]


class GameSystemLine(View):
    type: Literal["game_system_line"] = "game_system_line"
    system_id: str
    display_name: str
    description: str
    built_in: bool


class GameSystemsListed(ListView):
    """The built-in systems come first, on the first page."""

    type: Literal["game_systems_listed"] = "game_systems_listed"
    game_systems: list[GameSystemLine]


class GameSystemDeleted(View):
    type: Literal["game_system_deleted"] = "game_system_deleted"
    system_id: str


@allowed("author")
async def create_game_system(house: House, actor: Actor, command: CreateGameSystem) -> GameSystemView:
    """Adds a system; its formulas, bands and names are checked first."""
    checked_new_name(command.system_id, GAME_SYSTEMS.noun)
    _refuse_builtin(command.system_id)
    system = outside_value(GameSystem, dict(command), "The game system")
    refuse(system_problems(system), "game system")
    async with house.store.writing() as unit:
        await GAME_SYSTEMS.add(unit, system.system_id, system)
    return _view(system)


@allowed("player")
async def get_game_system(house: House, actor: Actor, command: NameGameSystem) -> GameSystemView:
    """Shows a system, built in or not."""
    async with house.store.reading() as unit:
        return _view(await find_system(unit, command.system_id))


@allowed("player")
async def list_game_systems(house: House, actor: Actor, command: Paging) -> GameSystemsListed:
    """Lists the built-in systems, then those that authors wrote, by id."""
    async with house.store.reading() as unit:
        own, cursor = await GAME_SYSTEMS.page(unit, command)
    first = [] if command.cursor else [*builtin_systems().values()]
    return GameSystemsListed(game_systems=[_line(system) for system in [*first, *own]], next_cursor=cursor)


@allowed("author")
async def update_game_system(house: House, actor: Actor, command: UpdateGameSystem) -> GameSystemView:
    """Changes a system; parts that are not given stay as they are."""
    _refuse_builtin(command.system_id)
    async with house.store.writing() as unit:
        before = await GAME_SYSTEMS.get(unit, command.system_id)
        after = outside_value(GameSystem, changed(before, command, *PARTS), "The game system")
        refuse(system_problems(after), "game system")
        await GAME_SYSTEMS.put(unit, after.system_id, after)
    return _view(after)


@allowed("author")
async def delete_game_system(house: House, actor: Actor, command: NameGameSystem) -> GameSystemDeleted:
    """Removes a system that nothing uses."""
    _refuse_builtin(command.system_id)
    async with house.store.writing() as unit:
        await GAME_SYSTEMS.remove(unit, command.system_id)
    return GameSystemDeleted(system_id=command.system_id)


def _refuse_builtin(system_id: str) -> None:
    if system_id in builtin_systems():
        raise Conflict(f"'{system_id}' is built in. Make a system of your own under another id.")


def _view(system: GameSystem) -> GameSystemView:
    return GameSystemView(**dict(system), built_in=system.system_id in builtin_systems())


def _line(system: GameSystem) -> GameSystemLine:
    return GameSystemLine(
        system_id=system.system_id,
        display_name=system.display_name,
        description=system.description,
        built_in=system.system_id in builtin_systems(),
    )


def unknown_formula(reason: str) -> InvalidRequest:
    """A formula that cannot be rolled, with why."""
    return InvalidRequest(f"This cannot be rolled: {reason}")
