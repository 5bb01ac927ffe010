"""Keys of turns: a client names what it asks for, so that asking twice is asking once.

The key stands on the turn itself, so it holds on every server, after a restart, and for as long as the turn exists.
Beside it stands a fingerprint of the request: a key that comes again with another request is a mistake of the client,
and is told as one.
"""

from __future__ import annotations

import hashlib

import orjson
from pydantic import Field

from fabula.actions.house import House
from fabula.actions.plays.play_states import play_of
from fabula.actions.views import Command
from fabula.ports.actors import Actor
from fabula.ports.errors import Conflict
from fabula.ports.plays import Turn

KEY = r"^[A-Za-z0-9_.:\-]+$"
LONGEST_KEY = 128


class KeyedCommand(Command):
    """What plays a turn. With a `key` of the client's choice, sending the same again attaches to the same turn."""

    key: str | None = Field(default=None, min_length=1, max_length=LONGEST_KEY, pattern=KEY)


def fingerprint(verb: str, command: KeyedCommand) -> str:
    """What was asked for under a key, in a few letters; nothing without a key.

    Fields that are not given do not count: a request of today is the same when there are more fields to give.
    """
    if command.key is None:
        return ""
    given = command.model_dump(mode="json", exclude={"key"}, exclude_none=True)
    return hashlib.sha256(orjson.dumps([verb, given], option=orjson.OPT_SORT_KEYS)).hexdigest()[:32]


async def asked_before(house: House, actor: Actor, session_id: str, verb: str, command: KeyedCommand) -> Turn | None:
    """The turn that this request began when it came before; a key of another request is refused."""
    if command.key is None:
        return None
    async with house.store.reading() as unit:
        await play_of(unit, actor, session_id)
        turn = await unit.plays.by_key(session_id, command.key)
    if turn is not None and turn.asked != fingerprint(verb, command):
        raise Conflict(
            f"The key '{command.key}' was used for something else in this session. Send other words with a new key.",
            turn_id=turn.turn_id,
        )
    return turn
