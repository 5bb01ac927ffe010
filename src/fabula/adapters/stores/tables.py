"""What all tables share: one collection, column types that mean the same on both engines, and the way JSON is kept."""

from __future__ import annotations

from dataclasses import dataclass

import orjson
from sqlalchemy import BigInteger, Executable, Integer, MetaData, Text
from sqlalchemy.ext.asyncio import AsyncConnection

from fabula.adapters.stores.keys import Keyring
from fabula.adapters.stores.prepared_statements import PreparedConnection
from fabula.ports.errors import InvalidParams
from fabula.ports.world import Clock
from fabula.story.values import JsonObject

METADATA = MetaData()

NAME = Text().with_variant(Text(collation="C"), "postgresql")
"""Text that is compared and sorted by its bytes, as SQLite does anyway."""

NUMBER = BigInteger().with_variant(Integer, "sqlite")
"""A 64-bit number; SQLite counts rows by itself only in a column spelled INTEGER."""


@dataclass(frozen=True, kw_only=True)
class Access:
    """What every subject works with inside one unit of work."""

    connection: AsyncConnection | PreparedConnection
    clock: Clock
    keyring: Keyring


def pack(doc: JsonObject) -> str:
    """JSON as it is kept. Text, not JSONB: it keeps key order, and NUL characters, which Postgres refuses in JSONB."""
    try:
        return orjson.dumps(doc).decode()
    except TypeError as error:
        raise InvalidParams(f"This cannot be stored as JSON: {error}.") from error


def unpack(text: str) -> JsonObject:
    doc: JsonObject = orjson.loads(text)
    return doc


def spelled(name: str) -> str:
    """A name as both engines can keep it; refuses NUL and lone surrogates, which are no text to them."""
    if legible(name) != name:
        raise InvalidParams("A name may not contain a NUL character or half a surrogate pair.")
    return name


def legible(text: str) -> str:
    """Free text as both engines can keep it: what they cannot spell becomes a question mark."""
    return text.encode("utf-8", "replace").decode().replace("\0", "?")


async def put_row(connection: AsyncConnection | PreparedConnection, update: Executable, insert: Executable) -> bool:
    """Changes a row, or adds it when it is new; says whether it was new. Safe because writers never interleave."""
    changed = (await connection.execute(update)).rowcount
    if not changed:
        await connection.execute(insert)
    return not changed
