"""Who is calling: the token of a request becomes a Caller with a role."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from fabula.actions.care.tokens import token_hash
from fabula.ports.store import Token, TokenRole

TokenLookup = Callable[[str], Awaitable[Token | None]]
"""Finds a token that may be used by its hash; a revoked or unknown one is None."""

SUBPROTOCOL = "fabula"
_SUBPROTOCOL_TOKEN = "bearer."
_RANKS: Mapping[TokenRole, int] = {"player": 1, "author": 2, "admin": 3}
_REMEMBERED_S = 5.0
_REMEMBERED_TOKENS = 1024


@dataclass(frozen=True, kw_only=True)
class Caller:
    """Someone who was let in. `token_id` is None for callers on loopback, who need no token."""

    role: TokenRole
    token_id: str | None = None

    def may_act_as(self, role: TokenRole) -> bool:
        """Whether this caller may do what `role` may: an admin may do all, an author all that players may."""
        return _RANKS[self.role] >= _RANKS[role]


HOUSEHOLDER = Caller(role="admin")


def caller_of(scope: Mapping[str, Any]) -> Caller:
    """The caller whom the guard let in; raises LookupError where no guard stood."""
    caller = scope.get("state", {}).get("caller")
    if not isinstance(caller, Caller):
        raise LookupError("This request did not come through the guard.")
    return caller


def token_in(headers: Mapping[str, str]) -> str | None:
    """The token that a request carries; browsers, which cannot set headers on a WebSocket, send it as a subprotocol."""
    scheme, _, token = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and token.strip():
        return token.strip()
    offered = (part.strip() for part in headers.get("sec-websocket-protocol", "").split(","))
    return next(
        (part.removeprefix(_SUBPROTOCOL_TOKEN) for part in offered if part.startswith(_SUBPROTOCOL_TOKEN)), None
    )


class TokenDesk:
    """Looks tokens up and remembers those it found for a few seconds, so that a stream of calls asks the store once.

    A revoked token is therefore refused after five seconds at the latest.
    """

    def __init__(self, find: TokenLookup, monotonic: Callable[[], float]) -> None:
        self._find = find
        self._monotonic = monotonic
        self._known: OrderedDict[str, tuple[float, Caller]] = OrderedDict()

    async def caller_with(self, token: str) -> Caller | None:
        hash = token_hash(token)
        remembered = self._known.get(hash)
        if remembered is not None and remembered[0] > self._monotonic():
            return remembered[1]
        self._known.pop(hash, None)
        found = await self._find(hash)
        if found is None or found.revoked_at_ms is not None:
            return None
        return self._remember(hash, Caller(role=found.role, token_id=found.token_id))

    def _remember(self, hash: str, caller: Caller) -> Caller:
        self._known[hash] = (self._monotonic() + _REMEMBERED_S, caller)
        while len(self._known) > _REMEMBERED_TOKENS:
            self._known.popitem(last=False)
        return caller
