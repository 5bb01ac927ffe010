"""What all tables share: one collection, column types that mean the same on both engines, and the way JSON is kept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import orjson
from sqlalchemy import BigInteger, Executable, Integer, MetaData, Select, Table, Text, bindparam, func, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import NullType

from fabula.adapters.stores.keys import Keyring
from fabula.adapters.stores.sql import Connection
from fabula.ports.errors import InvalidParams
from fabula.ports.stored import decode_stored, versioned
from fabula.ports.world import Clock
from fabula.story.stored import Shape
from fabula.story.values import JsonObject

S = TypeVar("S", bound=Select[Any])
V = TypeVar("V")

LOCK_NAME = select(func.pg_advisory_xact_lock(func.hashtextextended(bindparam("name", type_=Text()), 0)))

METADATA = MetaData()

NAMES_AT_ONCE = 512

NAME = Text().with_variant(Text(collation="C"), "postgresql")
"""Text that is compared and sorted by its bytes, as SQLite does anyway."""

NUMBER = BigInteger().with_variant(Integer, "sqlite")
"""A 64-bit number; SQLite counts rows by itself only in a column spelled INTEGER."""


@dataclass(frozen=True, kw_only=True)
class Terms:
    """On which terms a unit of work is done.

    `locks`: other writers may be at work at the same time, so what is read to be changed has to be locked. So it is in
    the writing units of Postgres. SQLite has one writer at a time, and reading units change nothing.
    """

    clock: Clock
    locks: bool = False

    def choose(self, plain: S, locking: S) -> S:
        """The query that locks what it reads, where that is needed."""
        return locking if self.locks else plain


@dataclass(frozen=True, kw_only=True)
class Access(Terms):
    """What every repository works with inside one unit of work."""

    connection: Connection
    keyring: Keyring

    async def lock(self, name: str) -> None:
        """Keeps other writers away from a name, also from one that has no row yet, until this unit ends."""
        if self.locks:
            await self.connection.execute(LOCK_NAME, {"name": spelled(name)})

    async def analyse(self, statement: Executable) -> None:
        """Has Postgres look at a table into which much was written. By itself it does so up to a minute later, and
        until then any index that fits seems as good as the right one. SQLite needs no statistics."""
        if self.locks:
            await self.connection.execute(statement)


def pack(shape: Shape, doc: JsonObject) -> str:
    """A document as it is kept. Text, not JSONB: it keeps key order, and NUL characters, which Postgres refuses."""
    try:
        return orjson.dumps(versioned(shape, doc)).decode()
    except TypeError as error:
        raise InvalidParams(f"This cannot be stored as JSON: {error}.") from error


def unpack(shape: Shape, text: str) -> JsonObject:
    """A document that was kept, as the current version of its shape has it."""
    return decode_stored(shape, text)


def spelled(name: str) -> str:
    """A name as both engines can keep it; refuses NUL and lone surrogates, which are no text to them."""
    if legible(name) != name:
        raise InvalidParams("A name may not contain a NUL character or half a surrogate pair.")
    return name


def portions(names: Sequence[str]) -> Iterator[list[str]]:
    """Names in lists of few different lengths."""
    for start in range(0, len(names), NAMES_AT_ONCE):
        yield few_lengths([spelled(name) for name in names[start : start + NAMES_AT_ONCE]])


def few_lengths(some: Sequence[V]) -> list[V]:
    """A list with its last value repeated up to a power of two: each length of a list is a statement of its own."""
    values = list(some)
    return values + values[-1:] * ((1 << (len(values) - 1).bit_length()) - len(values))


def legible(text: str) -> str:
    """Free text as both engines can keep it: what they cannot spell becomes a question mark."""
    # Names, and most words of a memory: every row asks for several of them.
    if text.isascii() and "\0" not in text:
        return text
    return text.encode("utf-8", "replace").decode().replace("\0", "?")


def add_or_change(table: Table, change: Mapping[str, Any] | None) -> Executable:
    """Adds a row; one that has its key already is changed, or left alone where there is no change.

    One statement, because another writer may add the same row at the same time.
    """
    # Both engines read `ON CONFLICT`; the construct of one serves for the other.
    added, key = insert(table), list(table.primary_key.columns)
    if change is None:
        return added.on_conflict_do_nothing(index_elements=key)
    return added.on_conflict_do_update(index_elements=key, set_=change)


class json_field(FunctionElement[str]):
    """One field of a stored document, as JSON text: the database finds it faster than we could read the whole.

    Of a damaged document it is NULL: an error would end the whole statement, and with it a list of many others.
    """

    name = "json_field"
    inherit_cache = True
    type = Text()


@compiles(json_field)
def _json_field(element: json_field, compiler: SQLCompiler, **options: Any) -> str:
    document, name = (compiler.process(one, **options) for one in element.clauses)
    return f"CASE WHEN json_valid({document}) THEN {document} -> {name} END"


@compiles(json_field, "postgresql")
def _json_field_of_postgres(element: json_field, compiler: SQLCompiler, **options: Any) -> str:
    # Postgres reads no document that has a NUL anywhere. Another character in its place breaks no JSON.
    document, name = (compiler.process(one, **options) for one in element.clauses)
    read = rf"CAST(CAST(replace({document}, '\u0000', '\u0001') AS JSON) -> {name} AS TEXT)"
    # Before version 16 it cannot be asked whether a text is JSON: this sees what was cut, emptied or overwritten.
    return f"CASE WHEN left({document}, 1) = '{{' AND right({document}, 1) = '}}' THEN {read} END"


class among(FunctionElement[Any]):
    """Whether columns together are one of the rows that are given: `among(tuple_(kind, id).in_(rows))`.

    SQLite walks a whole table to compare it with rows that are given as values; where they are selected, it looks each
    of them up.
    """

    name = "among"
    inherit_cache = True
    # Were it Boolean, it would be compared with 1 where an engine has no booleans, and nothing be looked up by that.
    type = NullType()


@compiles(among)
def _among(element: among, compiler: SQLCompiler, **options: Any) -> str:
    (is_in,) = element.clauses
    return str(compiler.process(is_in, **options))


@compiles(among, "sqlite")
def _among_of_sqlite(element: among, compiler: SQLCompiler, **options: Any) -> str:
    (is_in,) = element.clauses
    columns, _, rows = compiler.process(is_in, **options).partition(" IN ")
    return f"{columns} IN (SELECT * FROM {rows})"


def add_or_replace(table: Table) -> Executable:
    """Adds a row; one that has its key already is replaced."""
    new, key = insert(table).excluded, set(table.primary_key.columns)
    return add_or_change(table, {column.name: new[column.name] for column in table.columns if column not in key})
