"""Keep worlds."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from fabula.actions.authority import allowed
from fabula.actions.house import House
from fabula.actions.outside_values import outside_value
from fabula.actions.repositories import WORLDS, checked_new_name
from fabula.actions.setups.game_systems import find_system
from fabula.actions.views import Command, ListView, Paging, View, changed
from fabula.ports.actors import Actor
from fabula.ports.canon import ChangeQuestion
from fabula.ports.errors import InvalidRequest
from fabula.ports.store import Unit
from fabula.story.canon import Policy
from fabula.story.caps import Caps, caps_problem
from fabula.story.free_plays import FreeStart
from fabula.story.values import Id
from fabula.story.worlds import LONGEST_WORLD_NAME, LONGEST_WORLD_TEXT, World


class CreateWorld(Command):
    world_id: str
    display_name: str = Field(min_length=1, max_length=LONGEST_WORLD_NAME)
    description: str = Field(default="", max_length=LONGEST_WORLD_TEXT)
    genre: str = Field(default="", max_length=LONGEST_WORLD_NAME)
    tone: str = Field(default="", max_length=LONGEST_WORLD_NAME)
    game_system_id: Id | None = None
    policy: Policy = Policy()
    free: FreeStart | None = None
    caps: Caps | None = None


class UpdateWorld(Command):
    world_id: str
    display_name: str | None = Field(default=None, min_length=1, max_length=LONGEST_WORLD_NAME)
    description: str | None = Field(default=None, max_length=LONGEST_WORLD_TEXT)
    genre: str | None = Field(default=None, max_length=LONGEST_WORLD_NAME)
    tone: str | None = Field(default=None, max_length=LONGEST_WORLD_NAME)
    game_system_id: Id | None = None
    free: FreeStart | None = None
    caps: Caps | None = None


class NameWorld(Command):
    world_id: str


class UpdatePolicy(Command):
    """`policy` takes the place of the one before; verdicts that were given stay."""

    world_id: str
    policy: Policy


class WorldView(View):
    """A world. `version` counts the changes of its canon that were committed or undone. `minute` is when it is in it:
    plays begin then. `story_id` is there in the private world of one story. `free` says how free plays of it begin,
    `caps` how far its technology and magic go."""

    optional = frozenset({"game_system_id", "story_id", "free", "caps"})
    type: Literal["world"] = "world"
    world_id: str
    display_name: str
    description: str
    genre: str
    tone: str
    game_system_id: str | None = None
    policy: Policy
    version: int
    minute: int
    story_id: str | None = None
    free: FreeStart | None = None
    caps: Caps | None = None


class WorldsListed(ListView):
    type: Literal["worlds_listed"] = "worlds_listed"
    worlds: list[WorldView]


class WorldDeleted(View):
    type: Literal["world_deleted"] = "world_deleted"
    world_id: str


class PolicyView(View):
    type: Literal["canon_policy"] = "canon_policy"
    world_id: str
    policy: Policy


@allowed("author")
async def create_world(house: House, actor: Actor, command: CreateWorld) -> WorldView:
    """Adds a world."""
    checked_new_name(command.world_id, WORLDS.noun)
    _check_caps(command.caps)
    world = outside_value(World, dict(command), "The world")
    async with house.store.writing() as unit:
        await _check_system(unit, world)
        await WORLDS.add(unit, world.world_id, world)
    return _view(world, 0)


@allowed("author")
async def get_world(house: House, actor: Actor, command: NameWorld) -> WorldView:
    """Shows a world."""
    async with house.store.reading() as unit:
        world = await WORLDS.get(unit, command.world_id)
        return _view(world, await unit.canon.version(world.world_id))


@allowed("author")
async def list_worlds(house: House, actor: Actor, command: Paging) -> WorldsListed:
    """Lists worlds by id."""
    async with house.store.reading() as unit:
        worlds, cursor = await WORLDS.page(unit, command)
        views = [_view(world, await unit.canon.version(world.world_id)) for world in worlds]
    return WorldsListed(worlds=views, next_cursor=cursor)


@allowed("author")
async def update_world(house: House, actor: Actor, command: UpdateWorld) -> WorldView:
    """Changes a world; what is not given stays as it is."""
    _check_caps(command.caps)
    async with house.store.writing() as unit:
        before = await WORLDS.get(unit, command.world_id)
        fields = ("display_name", "description", "genre", "tone", "game_system_id", "free", "caps")
        world = outside_value(World, changed(before, command, *fields), "The world")
        await _check_system(unit, world)
        await WORLDS.put(unit, world.world_id, world)
        return _view(world, await unit.canon.version(world.world_id))


@allowed("author")
async def delete_world(house: House, actor: Actor, command: NameWorld) -> WorldDeleted:
    """Removes a world of which nothing was proposed yet; what really happened is not deleted."""
    async with house.store.writing() as unit:
        await WORLDS.get(unit, command.world_id)
        # Changes that wait for a verdict would be found in a new world of the same name.
        if await unit.canon.find(ChangeQuestion(world_id=command.world_id), limit=1):
            raise InvalidRequest(f"The world '{command.world_id}' has canon, which is kept. Undo its changes instead.")
        await WORLDS.remove(unit, command.world_id)
    return WorldDeleted(world_id=command.world_id)


@allowed("author")
async def get_policy(house: House, actor: Actor, command: NameWorld) -> PolicyView:
    """Shows by which policy changes of a world's canon are judged."""
    async with house.store.reading() as unit:
        world = await WORLDS.get(unit, command.world_id)
    return PolicyView(world_id=world.world_id, policy=world.policy)


@allowed("author")
async def update_policy(house: House, actor: Actor, command: UpdatePolicy) -> PolicyView:
    """Changes that policy, for what is judged from now on."""
    async with house.store.writing() as unit:
        world = await WORLDS.get(unit, command.world_id)
        await WORLDS.put(unit, world.world_id, world.model_copy(update={"policy": command.policy}))
    return PolicyView(world_id=command.world_id, policy=command.policy)


def _check_caps(caps: Caps | None) -> None:
    if caps is not None and (problem := caps_problem(caps)) is not None:
        raise InvalidRequest(problem)


async def _check_system(unit: Unit, world: World) -> None:
    if world.game_system_id is not None:
        await find_system(unit.looking, world.game_system_id)


def _view(world: World, version: int) -> WorldView:
    shown = {name: value for name, value in dict(world).items() if name in WorldView.model_fields}
    return WorldView(**shown, version=version, minute=world.minute)
