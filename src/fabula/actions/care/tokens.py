"""Access tokens: made, listed, found and revoked. A token is shown once, when it is made; only its hash is kept."""

from __future__ import annotations

import hashlib
import logging
import secrets
from dataclasses import dataclass

from fabula.actions.authority import allowed
from fabula.actions.house import House
from fabula.ports.actors import Actor
from fabula.ports.errors import FabulaError, InvalidParams, StoreAway, StoreError
from fabula.ports.store import Token, TokenRole

log = logging.getLogger("fabula.tokens")

_PREFIX = "fabula_"
_ENTROPY_BYTES = 32
LONGEST_LABEL = 100
_NOTED_EVERY_MS = 60_000


@dataclass(frozen=True, kw_only=True)
class NewToken:
    """A token just made: `secret` is what its owner sends, and is nowhere else."""

    token: Token
    secret: str


@allowed("admin")
async def create_token(house: House, actor: Actor, *, role: TokenRole, label: str = "") -> NewToken:
    """Makes a token of a role."""
    if len(label) > LONGEST_LABEL:
        raise InvalidParams(f"A label has at most {LONGEST_LABEL} characters.")
    secret = _PREFIX + secrets.token_urlsafe(_ENTROPY_BYTES)
    token = Token(
        token_id=house.ids.new("token"),
        label=label,
        role=role,
        hash=token_hash(secret),
        created_at_ms=house.clock.now_ms(),
    )
    async with house.store.writing() as unit:
        await unit.tokens.add(token)
    return NewToken(token=token, secret=secret)


@allowed("admin")
async def list_tokens(house: House, actor: Actor) -> list[Token]:
    """All tokens, the revoked ones too."""
    async with house.store.reading() as unit:
        return await unit.tokens.every()


@allowed("admin")
async def revoke_token(house: House, actor: Actor, token_id: str) -> Token:
    """Revokes a token; servers that run refuse it within seconds."""
    async with house.store.writing() as unit:
        return await unit.tokens.revoke(token_id)


async def find_token(house: House, hash: str) -> Token | None:
    """The token of a hash, unless it was revoked. Its use is noted, to the minute."""
    try:
        async with house.store.reading() as unit:
            token = await unit.tokens.by_hash(hash)
    except StoreError as error:
        # Whoever asks may be anybody: where the store is and what it lacks is for the log, as `/readyz` tells it.
        raise StoreAway("Nobody can be let in: the store does not answer. Try again in a moment.") from error
    if token is None or token.revoked_at_ms is not None:
        return None
    if house.clock.now_ms() - (token.last_used_at_ms or 0) >= _NOTED_EVERY_MS:
        await _note_use(house, token)
    return token


async def _note_use(house: House, token: Token) -> None:
    """Writes down that a token was used; a store that cannot write just now keeps nobody out."""
    try:
        async with house.store.writing() as unit:
            await unit.tokens.touch(token.token_id)
    except FabulaError as error:
        log.warning("the use of a token was not noted: %s", error.message)


async def is_valid(house: House, actor: Actor) -> bool:
    """Whether the token of an actor has not been revoked; whoever came without one needs none."""
    if actor.token_id is None:
        return True
    async with house.store.reading() as unit:
        return await unit.tokens.is_valid(actor.token_id)


async def label_of(house: House, actor: Actor) -> str:
    """What the operator called the token of an actor; empty for whoever came without one."""
    if actor.token_id is None:
        return ""
    async with house.store.reading() as unit:
        token = await unit.tokens.get(actor.token_id)
    return "" if token is None else token.label


def token_hash(secret: str) -> str:
    """What is kept of a token. A plain hash is enough: nobody can guess 32 random bytes."""
    return hashlib.sha256(secret.encode("utf-8", "surrogateescape")).hexdigest()
