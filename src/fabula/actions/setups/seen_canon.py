"""What a play sees of canon: that of its world, and on top of it its own, as far as its head is below it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from fabula.actions.repositories import WORLDS, AnyStory
from fabula.canon.merge import all_names, followed, read_as
from fabula.ports.canon import ChangeRow
from fabula.ports.store import Unit
from fabula.story.canon import AxiomContent, Change, EntityContent, entities_in
from fabula.story.worlds import World, private_world_id

WHOLE_CANON = 500
"""A world with so many changes is read whole; of a larger one what touches the entities that are asked about."""
MOST_TOUCHING = 2000
MOST_MERGERS = 2000
"""So many mergers of a world are known, the newest."""


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


async def canon_at(
    unit: Unit, world_id: str, turn_id: str, *, about: Sequence[str] = (), newest: int | None = None
) -> list[ChangeRow]:
    """What is true for a play at a turn: first of its world, then its own; about some entities, or all of it.

    Of its own perhaps only the `newest` so many.
    """
    left_of = await merged_in(unit, world_id)
    about = all_names(about, left_of) if about else ()
    own = await rows_as_read(unit, world_id, await unit.canon_layers.at(turn_id, about=about, limit=newest), left_of)
    hidden = await unit.canon_layers.replaced(turn_id)
    world = await _world_canon(unit, world_id, about)
    # What replaces a truth may be about others than who is asked about, so the whole line says what is replaced.
    return [row for row in (*world, *own) if row.is_true and row.change.change_id not in hidden]


async def _world_canon(unit: Unit, world_id: str, about: Sequence[str]) -> list[ChangeRow]:
    if not about:
        return await unit.canon.true_now(world_id)
    return await unit.canon.touching(world_id, about, limit=MOST_TOUCHING, entities=True)


async def merged_in(unit: Unit, world_id: str) -> dict[str, str]:
    """Who is left in the place of those that were merged into others in a world."""
    return followed(await unit.canon.mergers(world_id, limit=MOST_MERGERS))


async def as_read(unit: Unit, world_id: str, changes: Sequence[Change], left_of: Mapping[str, str]) -> list[Change]:
    """Changes as they are about those who are left."""
    if not left_of:
        return [*changes]
    who = (one.content.entity_id for one in changes if isinstance(one.content, EntityContent))
    asked = sorted({left_of[id] for id in who if id in left_of})
    entities = await unit.graph.entities(world_id, asked) if asked else {}
    return [read_as(change, left_of, entities) for change in changes]


async def rows_as_read(
    unit: Unit, world_id: str, rows: Sequence[ChangeRow], left_of: Mapping[str, str]
) -> list[ChangeRow]:
    """The same of rows."""
    read = await as_read(unit, world_id, [row.change for row in rows], left_of)
    return [
        row if row.change is change else replace(row, change=change) for row, change in zip(rows, read, strict=True)
    ]


async def world_to_judge(
    unit: Unit, world_id: str, changes: Sequence[Change], left_of: Mapping[str, str] | None = None
) -> list[ChangeRow]:
    """What of a world changes are held against: all of a small one, of a large one all that they could contradict."""
    if await unit.canon.version(world_id) <= WHOLE_CANON:
        return await unit.canon.true_now(world_id)
    about = all_names({id for change in changes for id in named_in(change)}, left_of or {})
    never = sorted({one.content.predicate for one in changes if isinstance(one.content, AxiomContent)})
    rows = [
        *await unit.canon.true_now(world_id, kinds=("axiom",)),
        *await unit.canon.saying(world_id, never, limit=MOST_TOUCHING),
        *(await _world_canon(unit, world_id, about) if about else []),
    ]
    return list({row.change.change_id: row for row in rows}.values())


async def canon_to_judge(unit: Unit, world_id: str, turn_id: str, changes: Sequence[Change]) -> list[Change]:
    """What changes of a play are held against: its world, and all of its own layer that they could contradict."""
    left_of = await merged_in(unit, world_id)
    about = all_names({id for change in changes for id in named_in(change)}, left_of)
    if any(isinstance(change.content, AxiomContent) for change in changes):
        own = await unit.canon_layers.at(turn_id)
    else:
        own = [
            *await unit.canon_layers.at(turn_id, kind="axiom"),
            *(await unit.canon_layers.at(turn_id, about=about) if about else []),
        ]
    hidden = await unit.canon_layers.replaced(turn_id)
    rows = [*await world_to_judge(unit, world_id, changes, left_of), *own]
    true = {row.change.change_id: row.change for row in rows if row.is_true and row.change.change_id not in hidden}
    return await as_read(unit, world_id, list(true.values()), left_of)


def named_in(change: Change) -> tuple[str, ...]:
    """The entities that a change is about."""
    return entities_in(change.content)
