"""Which layer of canon a session stands in."""

from __future__ import annotations

from dataclasses import dataclass

from fabula.actions.plays.play_states import play_of
from fabula.actions.repositories import ALL_STORIES, SESSIONS
from fabula.actions.setups.seen_canon import world_id_of
from fabula.ports.actors import Actor
from fabula.ports.plays import Play
from fabula.ports.store import Unit


@dataclass(frozen=True, kw_only=True)
class Layer:
    """Where a play stands in canon: its world, and the turn whose line counts."""

    world_id: str
    play: Play

    @property
    def turn_id(self) -> str:
        return self.play.head_turn_id


async def layer_of(unit: Unit, actor: Actor, session_id: str) -> Layer:
    """The layer of a session at its head."""
    play = await play_of(unit, actor, session_id)
    session = await SESSIONS.get(unit, session_id)
    story = await ALL_STORIES.get(unit, session.story_id)
    return Layer(world_id=world_id_of(story), play=play)
