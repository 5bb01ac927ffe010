"""Read where a session stands: its play, the state after a turn, and the last lines of its transcript."""

from __future__ import annotations

from pydantic import ValidationError

from fabula.actions.house import House
from fabula.actions.repositories import SESSIONS, checked_name
from fabula.loops.turns.turn_state_cache import entry_of
from fabula.ports.actors import Actor
from fabula.ports.errors import Denied, StoreError
from fabula.ports.plays import Play
from fabula.ports.store import Unit
from fabula.story.misfits import misfits, sentence_of
from fabula.story.plays import PlayState
from fabula.story.state import MemoryEntry
from fabula.story.values import JsonObject


async def play_of(unit: Unit, actor: Actor, session_id: str) -> Play:
    """Where a session stands. To whom it does not belong it is not there, so that nobody learns that it exists."""
    play = await unit.plays.get(checked_name(session_id, SESSIONS.noun))
    if play is None or not await reaches(unit, actor, play):
        raise SESSIONS.missing(session_id)
    return play


async def own_play_of(unit: Unit, actor: Actor, session_id: str) -> Play:
    """The same for what only its owner may do; who was invited is denied it."""
    play = await play_of(unit, actor, session_id)
    if not actor.owns(play.owner_token_id):
        raise Denied("Only the owner of this session may do that.")
    return play


async def reaches(unit: Unit, actor: Actor, play: Play) -> bool:
    """Whether a play is the actor's own, or they were invited to it."""
    if actor.owns(play.owner_token_id):
        return True
    return actor.token_id is not None and await unit.plays.is_invited(play.session_id, actor.token_id)


async def head_state(unit: Unit, actor: Actor, session_id: str) -> tuple[Play, PlayState]:
    """Where a session stands, and the state there; the history is not read."""
    play = await play_of(unit, actor, session_id)
    return play, await state_at(unit, play.head_turn_id)


async def state_at(unit: Unit, turn_id: str) -> PlayState:
    """The state that a turn left behind."""
    return read_state(await stored_state_at(unit, turn_id), turn_id)


async def stored_state_at(unit: Unit, turn_id: str) -> JsonObject:
    """The same as it is stored, for who looks for little of it."""
    stored = await unit.plays.state(turn_id)
    if stored is None:
        raise StoreError(f"The state of turn '{turn_id}' is missing. Restore a backup.")
    return stored


def read_state(stored: JsonObject, turn_id: str) -> PlayState:
    """A stored state; raises StoreError for one that is none."""
    try:
        return PlayState.model_validate(stored)
    except ValidationError as error:
        why = sentence_of(misfits(error)[0])
        raise StoreError(f"The state of turn '{turn_id}' is damaged: {why}. Restore a backup.") from None


async def known_state(house: House, unit: Unit, turn_id: str) -> PlayState:
    """The same, from the cache of states where it is still there."""
    state = house.turn_states.state_after(turn_id)
    if state is None:
        stored = await stored_state_at(unit, turn_id)
        state = read_state(stored, turn_id)
        house.turn_states.keep_read(turn_id, state, stored)
    return state


async def past_of(unit: Unit, turn_id: str, lines: int) -> list[MemoryEntry]:
    """The last lines of the transcript up to a turn, as the roles remember them, as far as a turn needs them."""
    if not lines:
        return []
    return [entry_of(message) for message in await unit.plays.past(turn_id, most=lines)]
