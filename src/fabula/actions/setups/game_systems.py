"""Find a game system: one that is built in, or one that an author wrote."""

from __future__ import annotations

from fabula.actions.repositories import GAME_SYSTEMS, WORLDS, AnyStory, checked_name
from fabula.ports.store import Unit
from fabula.rules.systems import builtin_systems
from fabula.story.game_systems import NO_RULES, GameSystem


async def find_system(unit: Unit, system_id: str) -> GameSystem:
    """A system by its id."""
    builtin = builtin_systems().get(checked_name(system_id, GAME_SYSTEMS.noun))
    return builtin or await GAME_SYSTEMS.get(unit, system_id)


async def system_of_play(unit: Unit, chosen: str | None, story: AnyStory) -> GameSystem | None:
    """The system of a play: the one that was chosen for it, else that of its story, else that of the story's world."""
    world = None if story.world_id is None else await WORLDS.find(unit, story.world_id)
    return await system_named(unit, chosen, story.rules, None if world is None else world.game_system_id)


async def system_named(unit: Unit, *names: str | None) -> GameSystem | None:
    """The system that the first of these names, if any, stands for."""
    name = next((name for name in names if name is not None), NO_RULES)
    return None if name == NO_RULES else await find_system(unit, name)
