"""Access tokens: who may come in, kept as hashes."""

from __future__ import annotations

from typing import Any, get_args

from sqlalchemy import Column, Index, PrimaryKeyConstraint, Table, Text, bindparam, insert, select, update

from fabula.adapters.stores.tables import METADATA, NAME, NUMBER, Access, legible, spelled
from fabula.adapters.stores.whole_rows import whole_rows
from fabula.ports.errors import Conflict, NotFound, StoreError
from fabula.ports.store import Token, TokenRole

TOKENS = Table(
    "tokens",
    METADATA,
    Column("token_id", NAME, nullable=False),
    Column("label", Text, nullable=False),
    Column("role", NAME, nullable=False),
    Column("hash", NAME, nullable=False),
    Column("created_at_ms", NUMBER, nullable=False),
    Column("last_used_at_ms", NUMBER),
    Column("revoked_at_ms", NUMBER),
    PrimaryKeyConstraint("token_id", name="tokens_pk"),
    Index("tokens_by_hash", "hash", unique=True),
)

_t = TOKENS.c
_this = _t.token_id == bindparam("this")

GET = select(TOKENS).where(_this)
BY_HASH = select(TOKENS).where(_t.hash == bindparam("this"), _t.revoked_at_ms.is_(None))
VALID = select(_t.token_id).where(_this, _t.revoked_at_ms.is_(None))
CLASHING = select(_t.token_id).where((_t.token_id == bindparam("id")) | (_t.hash == bindparam("h")))
EVERY = select(TOKENS).order_by(_t.created_at_ms, _t.token_id)
ADD = insert(TOKENS)
REVOKE = update(TOKENS).where(_this, _t.revoked_at_ms.is_(None)).values(revoked_at_ms=bindparam("now"))
TOUCH = update(TOKENS).where(_this).values(last_used_at_ms=bindparam("now"))


class SqlTokens:
    def __init__(self, access: Access) -> None:
        self._connection = access.connection
        self._clock = access.clock

    async def add(self, token: Token) -> None:
        clash = await self._connection.execute(CLASHING, {"id": spelled(token.token_id), "h": spelled(token.hash)})
        if clash.first() is not None:
            raise Conflict(f"There is already a token '{token.token_id}'. Make a new one.")
        await self._connection.execute(ADD, {**vars(token), "label": legible(token.label)})

    async def by_hash(self, hash: str) -> Token | None:
        row = (await self._connection.execute(BY_HASH, {"this": spelled(hash)})).first()
        # One whose role is damaged lets nobody in.
        return next(iter(whole_rows([] if row is None else [row], _token)), None)

    async def get(self, token_id: str) -> Token | None:
        row = (await self._connection.execute(GET, {"this": spelled(token_id)})).first()
        return None if row is None else _token(row)

    async def is_valid(self, token_id: str) -> bool:
        return (await self._connection.execute(VALID, {"this": spelled(token_id)})).first() is not None

    async def every(self) -> list[Token]:
        return whole_rows(await self._connection.execute(EVERY), _token)

    async def revoke(self, token_id: str) -> Token:
        await self._connection.execute(REVOKE, {"this": spelled(token_id), "now": self._clock.now_ms()})
        row = (await self._connection.execute(GET, {"this": token_id})).first()
        if row is None:
            raise NotFound(f"There is no token '{token_id}'. `fabula token list` shows them all.", id=token_id)
        return _token(row)

    async def touch(self, token_id: str) -> None:
        await self._connection.execute(TOUCH, {"this": spelled(token_id), "now": self._clock.now_ms()})


_ROLES = frozenset(get_args(TokenRole))


def _token(row: Any) -> Token:
    """A row as the port has it; raises StoreError that names it for one that is damaged."""
    if row.role not in _ROLES:
        raise StoreError(f"The token '{row.token_id}' is damaged: it has no role. Make a new one.")
    return Token(**row._asdict())
