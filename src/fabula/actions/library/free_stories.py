"""The story of a world's free plays: a map of its canon, with a cast and the variables that it needs.

It is kept like every other story, so that plays of it are found, read and exported as all are. It is made when the
first play starts, and anew when the canon of the world has changed; plays under way keep the map that they have.
"""

from __future__ import annotations

from typing import TypeVar

from fabula.actions.repositories import CHARACTERS, SCHEMAS, STORIES, STORY_RESOURCES, WORLDS, Repository
from fabula.canon.world_maps import PLACE, WorldMap, map_of
from fabula.ports.errors import InvalidRequest
from fabula.ports.store import Unit
from fabula.story.canon import CanonRule, EntityContent
from fabula.story.free_plays import FreeStart, free_story_id
from fabula.story.resources import Character, StoryResources
from fabula.story.schemas import Schema, SchemaField
from fabula.story.stories import Story
from fabula.story.values import Value
from fabula.story.worlds import World

MOST_CONTENTS = 2000
LONGEST_OBJECT = 200

V = TypeVar("V", bound=Value)


async def keep_free_story(unit: Unit, world_id: str) -> Story:
    """The story of a world's free plays, as its canon is now."""
    world = await WORLDS.get(unit, world_id)
    found, start = await _map(unit, world), world.free or FreeStart()
    names = _Names(free_story_id(world_id))
    await _keep(unit, SCHEMAS, names.map, _map_schema(names.map, world, found))
    await _keep(unit, SCHEMAS, names.person, Schema(schema_id=names.person, display_name="Anybody", fields={}))
    if start.player_schema_id is None:
        await _keep(unit, SCHEMAS, names.player, Schema(schema_id=names.player, display_name="Player", fields={}))
    for one in found.made:
        await _keep(unit, CHARACTERS, one.id, Character(content=one))
    resource = StoryResources(
        resource_id=names.story,
        display_name=world.display_name,
        story_concept=world.description or world.display_name,
        character_ids=found.cast,
        lorebook_ids=start.lorebook_ids,
    )
    await _keep(unit, STORY_RESOURCES, names.story, resource)
    story = Story(
        story_id=names.story,
        display_name=world.display_name,
        resource_id=names.story,
        graph=found.graph,
        world_schema_id=names.map,
        player_schema_id=start.player_schema_id or names.player,
        introduction=start.introduction or world.description,
        rules=world.game_system_id,
        world_id=world_id,
        free=found.free,
    )
    await _keep(unit, STORIES, names.story, story)
    return story


class _Names:
    """What the parts of a world's free plays are called."""

    def __init__(self, story_id: str) -> None:
        self.story, short = story_id, story_id[:120]
        self.map, self.person, self.player = f"{short}.map", f"{short}.cast", f"{short}.me"


async def _map(unit: Unit, world: World) -> WorldMap:
    rows = await unit.canon.true_now(world.world_id, limit=MOST_CONTENTS)
    contents = [row.change.content for row in rows]
    people = [one.entity_id for one in contents if isinstance(one, EntityContent) and one.entity_kind == "character"]
    # Who was made of canon before is made anew: the canon may say more of them by now.
    known = [
        id for id in people if (one := await CHARACTERS.find(unit, id)) is not None and MADE not in one.content.tags
    ]
    start = None if world.free is None else world.free.place
    found = map_of(contents, known, _Names(free_story_id(world.world_id)).person, start=start)
    if found is None:
        raise InvalidRequest(
            f"The world '{world.world_id}' needs two places before it can be played in. Say of two of them what they "
            "are: `There is a town called Saltmere.`"
        )
    return found


MADE = "from canon"
"""The tag of a character whom only canon knows."""


def _map_schema(schema_id: str, world: World, found: WorldMap) -> Schema:
    values = {node.id: op.value for node in found.graph.nodes for op in node.on_enter_updates if op.type == "SetState"}
    here = SchemaField(
        value_type="string",
        default=values[found.graph.start_node],
        description="Where the player is.",
        enum_values=list(values.values()),
    )
    learned = {
        one.key: SchemaField(
            value_type="bool",
            default=False,
            description=f"True once the player knows: {one.truth}",
            canon=CanonRule(subject="player", predicate="knows", object=_as_clause(one.truth)[:LONGEST_OBJECT]),
        )
        for one in found.free.discoveries
    }
    return Schema(schema_id=schema_id, display_name=f"{world.display_name}: map", fields={PLACE: here, **learned})


def _as_clause(sentence: str) -> str:
    """`The pier was cut.` as what somebody knows: `that the pier was cut`."""
    told = sentence.rstrip(".")
    return f"that {told[0].lower()}{told[1:]}" if told.startswith("The ") else f"that {told}"


async def _keep(unit: Unit, repository: Repository[V], id: str, value: V) -> None:
    """Adds it, or puts it in the place of an older one; what is the same already is left alone."""
    known = await repository.find(unit, id)
    if known is None:
        await repository.add(unit, id, value)
    elif known != value:
        await repository.put(unit, id, value)
