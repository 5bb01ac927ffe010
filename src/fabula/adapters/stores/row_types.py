"""What SQLite may answer for a column, and plain values in place of what it may not.

SQLite keeps anything in any column, and says what is no UTF-8 is text. Only a hand, a bad disk or a file from elsewhere
puts such values there. They are read as nothing of their type, because one of them would refuse every list it is in.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import Column, Executable

Wanted = Sequence[frozenset[type] | None]
"""For each column the types that its values may have; None where any may be."""

_TYPES: Final[dict[type, tuple[type, ...]]] = {
    bool: (int,),
    int: (int,),
    float: (float, int),
    str: (str,),
    bytes: (bytes,),
}


def wanted_types(statement: Executable, sql: str) -> Wanted:
    """The types of the columns that a statement answers."""
    columns = getattr(statement, "exported_columns", ())
    # Behind an outer join, a column that is never NULL is NULL where nothing was joined.
    joined_outside = " OUTER JOIN " in sql
    return [_types_of(column, joined_outside) for column in columns]


def _types_of(column: Any, joined_outside: bool) -> frozenset[type] | None:
    types = _TYPES.get(_python_type(column), ())
    if not types:
        return None
    filled = isinstance(column, Column) and not column.nullable and not joined_outside
    return frozenset(types if filled else (*types, type(None)))


def _python_type(column: Any) -> type:
    try:
        found: type = column.type.python_type
    except NotImplementedError:
        return object
    return found


def fit_all(rows: Sequence[tuple[Any, ...]], wanted: Wanted) -> bool:
    """Whether all values have a type that their column may have. Each query asks, so whole columns are compared."""
    pairs = zip(wanted, zip(*rows, strict=True), strict=False)
    return all(types is None or types.issuperset(map(type, column)) for types, column in pairs)


def made_to_fit(rows: Sequence[tuple[Any, ...]], wanted: Wanted) -> list[tuple[Any, ...]]:
    """The rows with a plain value in place of each that does not fit."""
    return [tuple(_fitted(value, types) for value, types in zip(row, wanted, strict=True)) for row in rows]


def _fitted(value: Any, types: frozenset[type] | None) -> Any:
    if types is None or type(value) in types:
        return value
    if str in types:
        return lenient_text(value) if isinstance(value, bytes) else "" if value is None else str(value)
    if bytes in types:
        return value.encode() if isinstance(value, str) else b""
    # Never None: a token whose moment of being revoked is damaged stays revoked.
    return 0


def lenient_text(data: bytes) -> str:
    """Text in which signs stand for what is no UTF-8, or that no name may have."""
    return data.decode("utf-8", "replace").replace("\0", "?")
