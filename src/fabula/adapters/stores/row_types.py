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


_MOST_KNOWN: Final = 256


class FittingTypes:
    """Whether rows have the types that their columns may have. What fitted once is known: each query asks."""

    def __init__(self, wanted: Wanted) -> None:
        self.wanted = wanted
        self._known: set[tuple[type, ...]] = set()

    def fit(self, rows: Sequence[tuple[Any, ...]]) -> bool:
        new = {tuple(map(type, row)) for row in rows} - self._known
        if not all(self._fits(types) for types in new):
            return False
        if len(self._known) < _MOST_KNOWN:
            self._known |= new
        return True

    def _fits(self, types: tuple[type, ...]) -> bool:
        return all(wanted is None or one in wanted for one, wanted in zip(types, self.wanted, strict=True))


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
