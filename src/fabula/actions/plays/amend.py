"""Change a play by hand: variables, the player, guests of the scene, and what the transcript says.

Every change is a turn of its own kind in the tree, so that going back undoes it as exactly as anything else.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from fabula.actions.house import House
from fabula.actions.plays.play_states import head_state
from fabula.ports.actors import Actor
from fabula.ports.plays import Finished, MessageChange, NewTurn, Play
from fabula.ports.store import Unit
from fabula.story.plays import PlayState
from fabula.story.state_hash import state_hash

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class AtHead:
    """Where a change begins: the session's head, and its state."""

    house: House
    unit: Unit
    play: Play
    state: PlayState


@dataclass(frozen=True, kw_only=True)
class Amendment:
    """The state after a change, what the transcript says differently, and what the caller is told."""

    state: PlayState
    messages: Sequence[MessageChange] = ()


async def amend(
    house: House, actor: Actor, session_id: str, change: Callable[[AtHead], Awaitable[tuple[Amendment, T]]]
) -> tuple[PlayState, T]:
    """Makes one change at a session's head in one unit of work; refused while a turn is running."""
    async with house.store.writing() as unit:
        play, before = await head_state(unit, actor, session_id)
        amendment, told = await change(AtHead(house=house, unit=unit, play=play, state=before))
        turn = NewTurn(
            turn_id=house.ids.new("turn"),
            session_id=session_id,
            parent_id=play.head_turn_id,
            turn_index=play.turn_index,
            kind="amend",
        )
        finished = Finished(
            turn_id=turn.turn_id,
            state=amendment.state.as_json(),
            state_hash=state_hash(amendment.state),
            messages=amendment.messages,
            ended=amendment.state.ended,
        )
        await unit.plays.amend(turn, finished)
    return amendment.state, told
