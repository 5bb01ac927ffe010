"""The guardrails of a table, for what is said and told outside of its turns: by hand, in recaps, in suggestions."""

from __future__ import annotations

from fabula.actions.repositories import ALL_STORIES, SESSIONS, WORLDS
from fabula.actions.setups.seen_canon import world_id_of
from fabula.loops.guardrails import Guardrails, guardrails_of
from fabula.ports.store import Unit
from fabula.story.plays import PlayState


async def table_guardrails(unit: Unit, session_id: str, state: PlayState, *who: str) -> Guardrails:
    """What is kept at a play's table, of whatever kind the play is, in what these agents tell."""
    session = await SESSIONS.get(unit, session_id)
    world = await WORLDS.find(unit, world_id_of(await ALL_STORIES.get(unit, session.story_id)))
    if world is None:
        return guardrails_of(state.session_zero, directives=state.directives, who=who, minute=state.minute)
    told = [*world.directives, *state.directives]
    return guardrails_of(world.session_zero, state.session_zero, directives=told, who=who, minute=state.minute)
