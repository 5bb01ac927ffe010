"""Guests: characters who enter a play on the way. They come, leave, and are forgotten by pure functions."""

from __future__ import annotations

from typing import Final

from fabula.story.changes import MOST_PRESENT
from fabula.story.plays import PlayState, SessionCharacter

LARGEST_GUESTS: Final = 200_000
MOST_GUESTS: Final = 100
LONGEST_MODEL_TEXT: Final = 4_000
_OF_A_GUEST: Final = 200
"""What a guest takes up without any text."""
_TEXTS: Final = ("display_name", "personality", "style", "system_prompt")


def added(state: PlayState, guest: SessionCharacter) -> PlayState:
    """The state in which a guest is known, or known anew."""
    guests = {**state.session_characters, guest.session_character_id: guest}
    return state.model_copy(update={"session_characters": guests})


def guests_size(state: PlayState) -> int:
    """The letters of all that is written about guests, and something for each of them."""
    return sum(_size(guest) for guest in state.session_characters.values())


def guests_problem(before: PlayState, after: PlayState) -> str | None:
    """Why a guest may not come or be rewritten so: every turn keeps all of them whole.

    What an older play holds beyond a limit stays, and may become less.
    """
    size, many, there = guests_size(after), len(after.session_characters), len(after.world.active_characters)
    if size > max(LARGEST_GUESTS, guests_size(before)):
        return f"The guests of a play may have {LARGEST_GUESTS} letters together, and these would have {size}."
    if many > max(MOST_GUESTS, len(before.session_characters)):
        return f"A play may have {MOST_GUESTS} guests, and these would be {many}. Delete one of them first."
    if there > max(MOST_PRESENT, len(before.world.active_characters)):
        return f"A scene holds {MOST_PRESENT} characters, and these would be {there}. Let one of them leave first."
    return None


def shortened(guest: SessionCharacter) -> SessionCharacter:
    """A guest of whom a model wrote too much."""
    fields = {name: getattr(guest, name)[:LONGEST_MODEL_TEXT] for name in _TEXTS}
    return guest.model_copy(update=fields)


def with_room(state: PlayState, coming: str) -> PlayState:
    """The state with room for one who comes: the oldest guests go, unless they are in the scene."""
    stay = {coming, *state.world.active_characters}
    absent = [one for one in state.session_characters if one not in stay]
    while absent and (guests_size(state) > LARGEST_GUESTS or _is_full(state, coming)):
        state = removed(state, absent.pop(0))
    return state


def _is_full(state: PlayState, coming: str) -> bool:
    return len({*state.session_characters, coming}) > MOST_GUESTS


def _size(guest: SessionCharacter) -> int:
    return _OF_A_GUEST + sum(len(getattr(guest, name)) for name in _TEXTS)


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
