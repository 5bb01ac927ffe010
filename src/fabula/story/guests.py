"""Guests: characters who enter a play on the way. They come, leave, and are forgotten by pure functions."""

from __future__ import annotations

from fabula.story.plays import PlayState, SessionCharacter


def added(state: PlayState, guest: SessionCharacter) -> PlayState:
    """The state in which a guest is known, or known anew."""
    guests = {**state.session_characters, guest.session_character_id: guest}
    return state.model_copy(update={"session_characters": guests})


def entered(state: PlayState, id: str) -> PlayState:
    """The state in which a guest is in the scene."""
    world = state.world
    if id in world.active_characters:
        return state
    return state.with_world(world.model_copy(update={"active_characters": [*world.active_characters, id]}))


def left(state: PlayState, id: str) -> PlayState:
    """The state in which a character is no longer in the scene."""
    world = state.world
    active = [one for one in world.active_characters if one != id]
    return state.with_world(world.model_copy(update={"active_characters": active}))


def removed(state: PlayState, id: str) -> PlayState:
    """The state without a guest: neither in the scene, nor its variables, nor its memories."""
    gone = left(state, id)
    world = gone.world
    world = world.model_copy(
        update={
            "character_state": {one: found for one, found in world.character_state.items() if one != id},
            "actor_private_memory": {one: found for one, found in world.actor_private_memory.items() if one != id},
        }
    )
    guests = {one: guest for one, guest in gone.session_characters.items() if one != id}
    return gone.model_copy(update={"session_characters": guests}).with_world(world)
