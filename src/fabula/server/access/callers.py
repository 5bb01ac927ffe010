"""Who is calling: the token of a request becomes an Actor with a role."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from fabula.actions.care.tokens import token_hash
from fabula.ports.actors import Actor
from fabula.ports.store import Token

TokenLookup = Callable[[str], Awaitable[Token | None]]
"""Finds a token that may be used by its hash; a revoked or unknown one is None."""

CallCounter = Callable[[Actor], Awaitable[None]]
"""Counts a call of somebody who was let in; raises TooMany."""

SUBPROTOCOL = "fabula"
SEAT_COOKIE = "fabula_seat"
_SUBPROTOCOL_TOKEN = "bearer."
_REMEMBERED_S = 5.0
_REMEMBERED_TOKENS = 1024


def actor_of(scope: Mapping[str, Any]) -> Actor:
    """The actor whom the guard let in; raises LookupError where no guard stood, or a stranger at an open path."""
    actor = scope.get("state", {}).get("actor")
    if not isinstance(actor, Actor):
        raise LookupError("This request did not come through the guard.")
    return actor


def actor_at(scope: Mapping[str, Any]) -> Actor | None:
    """The actor whom the guard let in; None is a stranger who may still show a token in the protocol itself."""
    actor = scope.get("state", {}).get("actor")
    return actor if isinstance(actor, Actor) else None


def token_in(headers: Mapping[str, str]) -> str | None:
    """The token that a request carries; browsers, which cannot set headers on a WebSocket, send it as a subprotocol."""
    scheme, _, token = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and token.strip():
        return token.strip()
    offered = (part.strip() for part in headers.get("sec-websocket-protocol", "").split(","))
    return next(
        (part.removeprefix(_SUBPROTOCOL_TOKEN) for part in offered if part.startswith(_SUBPROTOCOL_TOKEN)), None
    )


def seat_in(headers: Mapping[str, str]) -> str | None:
    """The token in the cookie that a browser got at the door; it sends it with pictures and downloads, too."""
    cookies = (part.strip().partition("=") for part in headers.get("cookie", "").split(";"))
    return next((value for name, _, value in cookies if name == SEAT_COOKIE and value), None)


class TokenCache:
    """Looks tokens up and remembers those it found for a few seconds, so that a stream of calls asks the store once.

    A revoked token is therefore refused after five seconds at the latest.
    """

    def __init__(self, find: TokenLookup, monotonic: Callable[[], float]) -> None:
        self._find = find
        self._monotonic = monotonic
        self._known: OrderedDict[str, tuple[float, Actor]] = OrderedDict()

    def now(self) -> float:
        return self._monotonic()

    async def actor_with(self, token: str) -> Actor | None:
        hash = token_hash(token)
        remembered = self._known.get(hash)
        if remembered is not None and remembered[0] > self._monotonic():
            return remembered[1]
        self._known.pop(hash, None)
        found = await self._find(hash)
        if found is None or found.revoked_at_ms is not None:
            return None
        return self._remember(hash, Actor(role=found.role, token_id=found.token_id))

    def _remember(self, hash: str, actor: Actor) -> Actor:
        self._known[hash] = (self._monotonic() + _REMEMBERED_S, actor)
        while len(self._known) > _REMEMBERED_TOKENS:
            self._known.popitem(last=False)
        return actor
