"""The kinds of plays there are, and the kind of a story, a state or a session."""

from __future__ import annotations

from fabula.actions.house import House
from fabula.actions.plays.kinds.free import FreePlays
from fabula.actions.plays.kinds.graph import GraphPlays
from fabula.actions.plays.kinds.ink import InkPlays
from fabula.actions.plays.kinds.protocol import PlayKind
from fabula.actions.plays.play_states import head_state
from fabula.ports.actors import Actor
from fabula.story.plays import PlayState
from fabula.story.values import Value

KINDS: tuple[PlayKind, ...] = (InkPlays(), FreePlays(), GraphPlays())
"""A state names its kind by a field of its own; plays of graphs, the oldest, have none, and stand last."""


def kind_of_story(story: Value) -> PlayKind:
    """How a story is played."""
    return next(kind for kind in KINDS if kind.plays(story))


def kind_of_play(state: PlayState) -> PlayKind:
    """The kind of a play, by its state after any of its turns."""
    return next(kind for kind in KINDS if kind.is_played_in(state))


async def kind_of_session(house: House, actor: Actor, session_id: str) -> PlayKind:
    """The kind of a session's play."""
    async with house.store.reading() as unit:
        return kind_of_play((await head_state(unit, actor, session_id))[1])
