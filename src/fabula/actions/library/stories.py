"""Keep stories: write one by hand, read, rename, redraw its graph, remove it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Literal

from fabula.actions.authority import allowed
from fabula.actions.house import House
from fabula.actions.library.story_worlds import refuse_bad_world
from fabula.actions.listing import Listing
from fabula.actions.repositories import ALL_STORIES, CHARACTERS, SCHEMAS, STORIES, STORY_RESOURCES, WORLDS, AnyStory
from fabula.actions.setups.game_systems import system_named
from fabula.actions.views import Command, ListView, View, changed, refuse
from fabula.language.titles import title_of
from fabula.ports.actors import Actor
from fabula.ports.store import Stored, Unit
from fabula.ports.threads import run_in_thread
from fabula.story.free_plays import FreeWorld
from fabula.story.graph import Graph, graph_problems, width_problems
from fabula.story.ink_stories import InkStory
from fabula.story.stories import CommonVariable, Story, common_variable_problems
from fabula.story.story_worlds import StoryWorld, world_problems
from fabula.story.values import JsonObject


class CreateStory(Command):
    resource_id: str
    display_name: str | None = None
    graph: Graph
    world_schema_id: str
    player_schema_id: str
    introduction: str
    common_variables: list[CommonVariable] | None = None
    world: StoryWorld | None = None
    rules: str | None = None
    world_id: str | None = None


class UpdateStory(Command):
    """`world` is what the story says about time: calendar, schedules and quests, all at once. `rules` is the id of the
    game system that it is played by, or `none`. `world_id` names the world whose canon its plays build upon."""

    story_id: str
    display_name: str | None = None
    common_variables: list[CommonVariable] | None = None
    world: StoryWorld | None = None
    rules: str | None = None
    world_id: str | None = None


class UpdateStoryGraph(Command):
    story_id: str
    graph: Graph


class NameStory(Command):
    story_id: str


class StorySummary(View):
    """A story in short. Ink stories have neither resource nor schemas: those fields are empty.

    `plays` are those that the caller reaches. `words` are about those that its author wrote into its scenes.
    """

    optional = frozenset({"words"})
    type: Literal["story_summary"] = "story_summary"
    kind: Literal["graph", "ink"] = "graph"
    story_id: str
    display_name: str
    resource_id: str
    world_schema_id: str
    player_schema_id: str
    introduction: str
    common_variables: list[CommonVariable]
    created_at_ms: int
    updated_at_ms: int
    plays: int
    words: int | None = None


class _StoryFields(View):
    """`world` is what a story says about time, where any passes; `rules` names the game system that it is played by,
    `world_id` the world to which it belongs. `free` is there in the story of a world's free plays."""

    may_be_large = True
    optional = frozenset({"world", "rules", "world_id", "free"})
    story_id: str
    display_name: str
    resource_id: str
    graph: Graph
    world_schema_id: str
    player_schema_id: str
    introduction: str
    common_variables: list[CommonVariable]
    world: StoryWorld | None = None
    rules: str | None = None
    world_id: str | None = None
    free: FreeWorld | None = None


class StoryView(_StoryFields):
    type: Literal["story"] = "story"


class StoryGenerated(_StoryFields):
    type: Literal["story_generated"] = "story_generated"


class StoriesListed(ListView):
    type: Literal["stories_listed"] = "stories_listed"
    stories: list[StorySummary]


class _InkKind(View):
    type: Literal["story"] = "story"
    kind: Literal["ink"] = "ink"


class InkStoryView(_StoryFields, _InkKind):
    """An Ink story. What graph stories have is there, too, with nothing in it: a graph of one node, empty names."""

    source: str
    files: dict[str, str]


class StoryDeleted(View):
    type: Literal["story_deleted"] = "story_deleted"
    story_id: str


@allowed("author")
async def create_story(house: House, actor: Actor, command: CreateStory) -> StoryGenerated:
    """Adds a story that its author wrote by hand."""
    async with house.store.writing() as unit:
        story = await add_story(house, unit, command)
    return StoryGenerated(**dict(story))


async def add_story(house: House, unit: Unit, command: CreateStory) -> Story:
    """Checks and adds a story inside a unit of work."""
    resource = await STORY_RESOURCES.get(unit.looking, command.resource_id)
    given = (command.display_name or "").strip() or (resource.display_name or "").strip()
    name = given or title_of(resource.story_concept) or resource.story_concept
    pinned = command.common_variables or []
    fields = {**dict(command), "story_id": house.ids.new("story"), "display_name": name, "common_variables": pinned}
    await SCHEMAS.get(unit.looking, command.world_schema_id)
    await SCHEMAS.get(unit.looking, command.player_schema_id)
    story = Story.model_construct(**fields)
    refuse(graph_problems(story.graph) + width_problems(story.graph), "graph")
    refuse(await variable_problems(unit.looking, story), "list of common variables")
    await refuse_bad_world(unit, story)
    if command.rules is not None:
        story = story.model_copy(update={"rules": await checked_rules(unit, command.rules)})
    if command.world_id is not None:
        await WORLDS.get(unit.looking, command.world_id)
    await STORIES.add(unit, story.story_id, story)
    return story


@allowed("author")
async def get_story(house: House, actor: Actor, command: NameStory) -> StoryView:
    """Shows a story with its graph."""
    async with house.store.reading() as unit:
        return StoryView(**dict(await STORIES.get(unit, command.story_id)))


@allowed("author")
async def show_story(house: House, actor: Actor, command: NameStory) -> StoryView | InkStoryView:
    """Shows a story: its graph, or of an Ink story its source and files."""
    async with house.store.reading() as unit:
        story = await ALL_STORIES.get(unit, command.story_id)
    return story_view(story)


def story_view(story: AnyStory) -> StoryView | InkStoryView:
    """A story as clients see it."""
    view = _VIEWS[story.kind]
    return view(**{name: getattr(story, name) for name in view.model_fields if name != "type"})


_VIEWS: Mapping[str, type[StoryView] | type[InkStoryView]] = {"graph": StoryView, "ink": InkStoryView}


@allowed("player")
async def list_stories(house: House, actor: Actor, command: Listing) -> StoriesListed:
    """Lists stories without their graphs, by id or `order`. `query` finds words of titles and introductions."""
    async with house.store.reading() as unit:
        rows, cursor = await ALL_STORIES.page_of_rows(unit, command)
        ids = [row.id for row in rows]
        plays = await unit.index.count_plays(ids, token_id=actor.sees_only)
        known = await unit.index.entries("story", ids)

    def read(row: Stored) -> StorySummary:
        return _summary(row, plays=plays.get(row.id, 0), words=known[row.id].words)

    stories = [story for _, story in ALL_STORIES.those_read(rows, read)]
    return StoriesListed(stories=stories, next_cursor=cursor)


@allowed("author")
async def update_story(house: House, actor: Actor, command: UpdateStory) -> StoryView:
    """Renames a story, or changes its pinned variables or what it says about time."""
    async with house.store.writing() as unit:
        before = await STORIES.get(unit, command.story_id)
        if command.world_id is not None:
            await WORLDS.get(unit.looking, command.world_id)
        after = Story(**changed(before, command, "display_name", "common_variables", "world", "world_id"))
        if command.rules is not None:
            after = after.model_copy(update={"rules": await checked_rules(unit, command.rules)})
        refuse(await variable_problems(unit.looking, after), "list of common variables")
        await refuse_bad_world(unit, after)
        await STORIES.put(unit, after.story_id, after)
    return StoryView(**dict(after))


@allowed("author")
async def update_story_graph(house: House, actor: Actor, command: UpdateStoryGraph) -> StoryView:
    """Replaces a story's graph. Sessions that are under way keep the graph they started with."""
    refuse(graph_problems(command.graph) + width_problems(command.graph), "graph")
    async with house.store.writing() as unit:
        before = await STORIES.get(unit, command.story_id)
        after = before.model_copy(update={"graph": command.graph})
        await STORIES.put(unit, after.story_id, after)
    return StoryView(**dict(after))


@allowed("author")
async def delete_story(house: House, actor: Actor, command: NameStory) -> StoryDeleted:
    """Removes a story that no session plays."""
    async with house.store.writing() as unit:
        await STORIES.remove(unit, command.story_id)
    return StoryDeleted(story_id=command.story_id)


async def checked_rules(unit: Unit, rules: str) -> str | None:
    """The id of a game system that exists; `none` is no system."""
    system = await system_named(unit.looking, rules)
    return None if system is None else system.system_id


async def story_problems(house: House, story: AnyStory) -> Sequence[str]:
    """What keeps a story from being played."""
    return await _PROBLEMS[story.kind](house, story)


async def _graph_story_problems(house: House, story: Story) -> Sequence[str]:
    return await run_in_thread(_problems_of_graph, story)


def _problems_of_graph(story: Story) -> Sequence[str]:
    world = story.world
    # Whose schedules these are is known only with the cast; one of somebody else is never asked for.
    timed = [] if world is None else world_problems(world, story.graph, frozenset(world.schedules))
    return [*graph_problems(story.graph), *width_problems(story.graph), *timed]


async def _ink_story_problems(house: House, story: InkStory) -> Sequence[str]:
    return await house.compiled_stories.errors_of(story.source, story.files)


_PROBLEMS: Mapping[str, Callable[[House, Any], Awaitable[Sequence[str]]]] = {
    "graph": _graph_story_problems,
    "ink": _ink_story_problems,
}


async def variable_problems(unit: Unit, story: Story) -> list[str]:
    """What is wrong with a story's pinned variables."""
    if not story.common_variables:
        return []
    resource = await STORY_RESOURCES.get(unit, story.resource_id)
    cast = await CHARACTERS.get_all(unit, resource.character_ids)
    schema_ids = [character.content.schema_id for character in cast.values()]
    schemas = await SCHEMAS.get_all(unit, [story.world_schema_id, story.player_schema_id, *schema_ids])
    return common_variable_problems(
        story.common_variables,
        world=schemas[story.world_schema_id],
        player=schemas[story.player_schema_id],
        characters={id: schemas[character.content.schema_id] for id, character in cast.items()},
    )


def _summary(row: Stored, *, plays: int, words: int | None) -> StorySummary:
    """Of the document only what is shown: a graph may be as large as its author likes, and is not looked at."""

    def told(name: str) -> str:
        return str(row.doc.get(name, ""))

    return StorySummary(
        kind="ink" if row.doc.get("kind") == "ink" else "graph",
        story_id=row.id,
        display_name=told("display_name"),
        resource_id=told("resource_id"),
        world_schema_id=told("world_schema_id"),
        player_schema_id=told("player_schema_id"),
        introduction=told("introduction"),
        common_variables=pinned_variables(row.doc),
        created_at_ms=row.created_at_ms,
        updated_at_ms=row.updated_at_ms,
        plays=plays,
        words=words,
    )


def pinned_variables(doc: JsonObject) -> list[CommonVariable]:
    """The variables that a story's author pinned; Ink stories have none."""
    pinned = doc.get("common_variables")
    return [CommonVariable.model_validate(one) for one in pinned] if isinstance(pinned, list) else []
