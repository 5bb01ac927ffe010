"""What a play sees of canon: that of its world, and on top of it its own, as far as its head is below it."""

from __future__ import annotations

from collections.abc import Sequence

from fabula.actions.repositories import WORLDS, AnyStory
from fabula.ports.canon import ChangeQuestion, ChangeRow
from fabula.ports.store import Unit
from fabula.story.canon import Change, EntityContent, EventContent, FactContent, RelationshipContent
from fabula.story.worlds import World, private_world_id

WHOLE_CANON = 500
"""A world with so many changes is read whole; of a larger one what touches the entities that are asked about."""
MOST_TOUCHING = 2000


def world_id_of(story: AnyStory) -> str:
    """The world of a story: the one that it names, or one of its own."""
    return story.world_id or private_world_id(story.story_id)


async def world_known(unit: Unit, world_id: str, story_id: str) -> World:
    """A world as it is judged by; a private one that nothing was written into yet has the usual policy."""
    found = await WORLDS.find(unit, world_id)
    return found or World(world_id=world_id, display_name=f"The world of {story_id}"[:200], story_id=story_id)


async def keep_private_world(unit: Unit, story: AnyStory) -> None:
    """Makes the private world of a story that has none yet."""
    world_id = world_id_of(story)
    if story.world_id is None and await WORLDS.find(unit, world_id) is None:
        name = f"The world of {story.display_name}"[:200]
        await WORLDS.add(unit, world_id, World(world_id=world_id, display_name=name, story_id=story.story_id))


async def canon_at(unit: Unit, world_id: str, turn_id: str, *, about: Sequence[str] = ()) -> list[ChangeRow]:
    """What is true for a play at a turn: first of its world, then its own; about some entities, or all of it."""
    own = await unit.canon_layers.at(turn_id, about=about)
    hidden = await unit.canon_layers.replaced(turn_id)
    world = await _world_canon(unit, world_id, about)
    # What replaces a truth may be about others than who is asked about, so the whole line says what is replaced.
    return [row for row in (*world, *own) if row.is_true and row.change.change_id not in hidden]


async def _world_canon(unit: Unit, world_id: str, about: Sequence[str]) -> list[ChangeRow]:
    if not about:
        return await unit.canon.true_now(world_id)
    facts = await unit.canon.touching(world_id, about, limit=MOST_TOUCHING)
    found = [await unit.canon.find(_entity(world_id, id), limit=20) for id in about]
    return [*(row for some in found for row in some if row.is_true), *facts]


def _entity(world_id: str, id: str) -> ChangeQuestion:
    return ChangeQuestion(world_id=world_id, status="committed", kind="entity", about=id)


async def canon_to_judge(unit: Unit, world_id: str, turn_id: str, changes: Sequence[Change]) -> list[Change]:
    """What changes of a play are held against."""
    if await unit.canon.version(world_id) <= WHOLE_CANON:
        return [row.change for row in await canon_at(unit, world_id, turn_id)]
    about = sorted({id for change in changes for id in named_in(change)})
    axioms = await unit.canon.true_now(world_id, kinds=("axiom",))
    rows = [*axioms, *await canon_at(unit, world_id, turn_id, about=about)]
    return [row.change for row in {row.change.change_id: row for row in rows}.values()]


def named_in(change: Change) -> tuple[str, ...]:
    """The entities that a change is about."""
    content = change.content
    match content:
        case FactContent() | RelationshipContent():
            return (content.subject, content.object)
        case EntityContent():
            return (content.entity_id,)
        case EventContent():
            return (*content.who, *([content.where] if content.where else []))
        case _:
            return ()
