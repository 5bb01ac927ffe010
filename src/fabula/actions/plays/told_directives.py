"""The directives of a play: those of its world, then its own."""

from __future__ import annotations

from collections.abc import Sequence

from fabula.actions.house import House
from fabula.actions.plays.kinds.rows import kind_of_play
from fabula.actions.plays.play_states import head_state
from fabula.actions.repositories import WORLDS
from fabula.ports.actors import OPERATOR
from fabula.ports.store import Unit
from fabula.story.canon import Moment
from fabula.story.directives import Directive


async def directives_at(
    house: House, unit: Unit, *, world_id: str | None, session_id: str | None
) -> tuple[Sequence[Directive], Moment]:
    """What is said in a play at its head, or in a world, and when it is there."""
    if session_id is not None:
        _, state = await head_state(unit, OPERATOR, session_id)
        common = await kind_of_play(state).world_directives(house, unit, session_id, state)
        return [*common, *state.directives], state.minute
    world = None if world_id is None else await WORLDS.find(unit, world_id)
    return ([], 0) if world is None else (world.directives, world.minute)
