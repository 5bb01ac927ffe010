"""A request that comes twice within a minute is one request: the second one gets the turn of the first.

A client that lost its connection sends again what it does not know the end of. The name it gave the request finds the
turn: in this process for as long as it is remembered, and over Redis, where there is one, on every server. A `key` does
more: it stands on the turn itself, for ever and everywhere (see `turn_keys`), and is for who may ask again much later.
"""

from __future__ import annotations

import asyncio
import hashlib
from typing import Final

import orjson

from fabula.actions.authority import allowed
from fabula.actions.house import House
from fabula.actions.plays.play_states import play_of
from fabula.actions.turns.run_turn import RunTurn, run_turn
from fabula.language.asides import split_asides
from fabula.ports.actors import Actor
from fabula.ports.errors import Conflict, FabulaError
from fabula.ports.plays import Turn

REMEMBERED_S: Final = 60.0
LOOKS, BETWEEN_LOOKS_S = 5, 0.2
"""How often a turn is looked for that another server may be about to begin."""


@allowed("player")
async def run_turn_once(house: House, actor: Actor, session_id: str, command: RunTurn, *, request_id: str) -> Turn:
    """Plays one turn with the player's words, or finds the one that this request began less than a minute ago."""
    if command.key is not None:
        return await run_turn(house, actor, session_id, command, request_id=request_id)
    name, asked = _digest(actor.token_id, session_id, request_id), _digest(command.player_input, command.choice)
    while (known := house.recent_requests.find(name, house.clock.monotonic())) is not None:
        if known.asked != asked:
            raise _used(request_id)
        async with house.store.reading() as unit:
            await play_of(unit, actor, session_id)
        await asyncio.wait([known.turn])
        if not known.turn.cancelled():
            return known.turn.result()
    letters, now = len(command.player_input or ""), house.clock.monotonic()
    begun = house.recent_requests.keep(name, asked, letters=letters, now=now, for_s=REMEMBERED_S)
    try:
        turn = await _begin(house, actor, session_id, command, request_id, name)
    except BaseException:
        begun.cancel()
        raise
    begun.set_result(turn)
    return turn


async def _begin(house: House, actor: Actor, session_id: str, command: RunTurn, request_id: str, name: str) -> Turn:
    """The turn of whoever claims the request first; the store is asked for it only where there may be one."""
    if not await house.limits.claim(name, for_s=REMEMBERED_S):
        for _ in range(LOOKS):
            if (turn := await _begun_lately(house, actor, session_id, command, request_id)) is not None:
                return turn
            await house.clock.sleep(BETWEEN_LOOKS_S)
    try:
        return await run_turn(house, actor, session_id, command, request_id=request_id)
    except FabulaError:
        turn = await _begun_lately(house, actor, session_id, command, request_id)
        if turn is None:
            await house.limits.release(name)
            raise
        return turn


async def _begun_lately(house: House, actor: Actor, session_id: str, command: RunTurn, request_id: str) -> Turn | None:
    async with house.store.reading() as unit:
        await play_of(unit, actor, session_id)
        turn = await unit.plays.by_request(session_id, request_id)
    if turn is None or turn.created_at_ms < house.clock.now_ms() - REMEMBERED_S * 1000:
        return None
    said = None if command.player_input is None else split_asides(command.player_input)[0]
    if said is not None and turn.player_input.strip() != said.strip():
        raise _used(request_id)
    return turn


def _used(request_id: str) -> Conflict:
    return Conflict(
        f"The request_id '{request_id}' was used for something else less than a minute ago. Give each request its own."
    )


def _digest(*parts: str | int | None) -> str:
    return hashlib.sha256(orjson.dumps(parts)).hexdigest()[:32]
