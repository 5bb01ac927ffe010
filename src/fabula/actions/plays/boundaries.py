"""Boundaries of a world or a table: what must not happen in its stories, what is not shown, and how far they go.

They are part of session zero, whichever way they are set. A table's are part of its play: they count from the next
turn on, and going back restores those of then. A world's count at all its tables, from their next turn on.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from fabula.actions.authority import allowed
from fabula.actions.house import House
from fabula.actions.plays.amend import Amendment, AtHead, amend
from fabula.actions.plays.kinds.rows import kind_of_play
from fabula.actions.plays.play_states import head_state
from fabula.actions.repositories import ALL_STORIES, SESSIONS, WORLDS
from fabula.actions.setups.seen_canon import world_id_of
from fabula.actions.views import Command, View
from fabula.ports.actors import Actor
from fabula.ports.errors import InvalidRequest
from fabula.ports.store import Unit
from fabula.story.boundaries import (
    BUILT_IN,
    MOST_CATEGORIES,
    MOST_NAMED,
    Boundaries,
    CategoryWords,
    Named,
    Rating,
    categories_problem,
    lines_of_rating,
    union_of,
)
from fabula.story.session_zero import SessionZero
from fabula.story.worlds import PastBoundaries


class AskBoundaries(Command):
    """Of the play in the envelope, or of a world."""

    world_id: str = ""


class UpdateBoundaries(AskBoundaries):
    """What is left out stays as it is; an empty list takes it away, and so does the rating `none`.

    A line is a word, a few words that mean something together in one sentence, a phrase in quotes, or the name of a
    category: `categories` are names for many words.
    """

    lines: list[Named] | None = Field(default=None, max_length=MOST_NAMED)
    veils: list[Named] | None = Field(default=None, max_length=MOST_NAMED)
    rating: Rating | Literal["none"] | None = None
    categories: dict[Named, CategoryWords] | None = Field(default=None, max_length=MOST_CATEGORIES)


class BoundariesView(View):
    """`own` is what this world or table has set, `world` what its world has, `counts` what holds for it: both, with the
    lines that a rating draws. `built_in` are the categories that every line may name. `before` is what counted in a
    world earlier; a table finds that by going back."""

    optional = frozenset({"world", "before"})
    type: Literal["boundaries"] = "boundaries"
    own: Boundaries
    world: Boundaries | None = None
    counts: Boundaries
    built_in: list[str]
    before: list[PastBoundaries] | None = None


@allowed("player")
async def get_boundaries(house: House, actor: Actor, session_id: str | None, command: AskBoundaries) -> BoundariesView:
    """Shows what must not happen and what is not shown: at a table, or in the stories of a world."""
    async with house.store.reading() as unit:
        if session_id is not None:
            _, state = await head_state(unit, actor, session_id)
            return await _of_table(unit, session_id, state.session_zero)
        actor.must_be("author", "To see the boundaries of a world")
        world = await WORLDS.get(unit, _named(command))
    return _view(_own(world.session_zero), before=world.boundaries_before)


@allowed("player")
async def update_boundaries(
    house: House, actor: Actor, session_id: str | None, command: UpdateBoundaries
) -> BoundariesView:
    """Sets what must not happen and what is not shown, from the next turn on: at a table, or in a world."""
    if (problem := categories_problem(command.categories or {})) is not None:
        raise InvalidRequest(problem)
    if session_id is not None:

        async def change(at: AtHead) -> tuple[Amendment, BoundariesView]:
            agreed = _updated(at.state.session_zero, command)
            state = kind_of_play(at.state).agree(at.state, None if agreed.is_empty else agreed)
            return Amendment(state=state), await _of_table(at.looking, session_id, agreed)

        return (await amend(house, actor, session_id, change))[1]
    actor.must_be("author", "To set the boundaries of a world")
    async with house.store.writing() as unit:
        world = await WORLDS.get(unit, _named(command))
        changed = world.agreeing(_updated(world.session_zero, command), now_ms=house.clock.now_ms())
        await WORLDS.put(unit, world.world_id, changed)
    return _view(_own(changed.session_zero), before=changed.boundaries_before)


def _updated(before: SessionZero | None, command: UpdateBoundaries) -> SessionZero:
    said = {name: value for name in ("lines", "veils", "categories") if (value := getattr(command, name)) is not None}
    if command.rating is not None:
        said["rating"] = None if command.rating == "none" else command.rating
    return (before or SessionZero()).model_copy(update=said)


async def _of_table(unit: Unit, session_id: str, agreed: SessionZero | None) -> BoundariesView:
    session = await SESSIONS.get(unit, session_id)
    world = await WORLDS.find(unit, world_id_of(await ALL_STORIES.get(unit, session.story_id)))
    return _view(_own(agreed), world=None if world is None else _own(world.session_zero))


def _own(agreed: SessionZero | None) -> Boundaries:
    return (agreed or SessionZero()).boundaries


def _view(
    own: Boundaries, *, world: Boundaries | None = None, before: list[PastBoundaries] | None = None
) -> BoundariesView:
    counts = union_of(world, own)
    drawn = [*counts.lines, *lines_of_rating(counts.rating)]
    return BoundariesView(
        own=own,
        world=world,
        counts=counts.model_copy(update={"lines": list(dict.fromkeys(drawn))}),
        built_in=[one.name for one in BUILT_IN],
        before=before,
    )


def _named(command: AskBoundaries) -> str:
    if not command.world_id:
        raise InvalidRequest("Say for what: a `session_id` in the envelope, or a `world_id`.")
    return command.world_id
