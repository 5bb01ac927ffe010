"""How our statements reach a database: SQLAlchemy writes the SQL, one small driver for each engine runs it.

1. A statement is compiled once; from then on it is a string and the order of its values.
2. A repository asks one statement after the other with `Connection.execute`; or it is written as `Steps`, a generator
   that yields statements and is sent their rows. Steps know nothing of waiting, so that SQLite runs them whole in the
   thread of its connection, with one crossing, and Postgres between its round trips:
   in a thread, too, where what it read is much.

No value is converted on the way: our columns hold text, numbers, booleans and bytes, which both drivers take and give
as they are. SQLite gives booleans as 0 and 1.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from sqlalchemy import Dialect, Executable
from sqlalchemy.sql.expression import UpdateBase

T = TypeVar("T")

Values = Mapping[str, Any]
Step = tuple[Executable, Values | Sequence[Values] | None]

COMPILED_KEPT = 512
_LOCKS = re.compile(r"\bFOR (?:NO KEY )?UPDATE\b(?!.*SKIP LOCKED)", re.DOTALL)


class Rows:
    """The result of a statement, read whole. A row has its columns as attributes, and `_asdict`.

    `make` gives a plain row these names. Rows that are read by hundreds are taken as `plain`, or as `scalars`, because
    naming them takes as long as reading them.
    """

    def __init__(self, rows: Sequence[Any], rowcount: int, make: Callable[[Any], Any] | None = None) -> None:
        self.plain = rows
        self.rowcount = rowcount
        self._make = make

    def __iter__(self) -> Iterator[Any]:
        return iter(self.plain) if self._make is None else map(self._make, self.plain)

    def first(self) -> Any:
        row = self.plain[0] if self.plain else None
        return row if row is None or self._make is None else self._make(row)

    def scalar(self) -> Any:
        """The first column of the first row, or None when there is no row."""
        return self.plain[0][0] if self.plain else None

    def scalars(self) -> list[Any]:
        return [row[0] for row in self.plain]


Steps = Generator[Step, Rows, T]


class Connection(Protocol):
    """A connection inside a transaction."""

    async def execute(self, statement: Executable, values: Values | Sequence[Values] | None = None) -> Rows:
        """Runs a statement; with a list of values it is run for each of them."""
        ...

    async def run(self, steps: Steps[T]) -> T:
        """Runs steps to their end."""
        ...


@dataclass(frozen=True, kw_only=True)
class Compiled:
    """A statement as its engine reads it. `given` are the values that are part of it, `order` that of all of them;
    `takes_lists` says that some of those it is asked with are lists, `takes_lock` that it may wait for others."""

    sql: str
    given: Values
    order: Sequence[str]
    has_rows: bool
    takes_lists: bool
    takes_lock: bool

    def named(self, values: Values) -> dict[str, Any]:
        return {**self.given, **(_flat(values) if self.takes_lists else values)}

    def ordered(self, values: Values) -> list[Any]:
        named = self.named(values)
        return [named[name] for name in self.order]


class Compiler:
    """Compiles statements for one engine, and keeps the newest. For one thread alone."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        # A plain dict: every statement of every turn is looked up here, and there are fewer of them than are kept.
        self._compiled: dict[Any, Compiled] = {}

    def compile(self, statement: Executable, values: Values) -> Compiled:
        """The statement for these names; a list among the values is as many names as it has members."""
        key = (statement, *values, *[len(value) for value in values.values() if isinstance(value, list)])
        found = self._compiled.get(key)
        if found is None:
            if len(self._compiled) >= COMPILED_KEPT:
                del self._compiled[next(iter(self._compiled))]
            found = self._compiled[key] = self._compile(statement, values)
        return found

    def _compile(self, statement: Any, values: Values) -> Compiled:
        compiled = statement.compile(dialect=self._dialect, column_keys=list(values))
        whole = compiled.construct_expanded_state(dict(values))
        passed = _flat(values)
        assert set(passed) <= set(whole.parameters), "the compiler names the members of lists differently"
        return Compiled(
            sql=whole.statement,
            given={name: value for name, value in whole.parameters.items() if name not in passed},
            order=whole.positiontup or (),
            has_rows=not isinstance(statement, UpdateBase) or bool(compiled.effective_returning),
            takes_lists=any(isinstance(value, list) for value in values.values()),
            takes_lock=bool(_LOCKS.search(whole.statement)),
        )


def _flat(values: Values) -> Values:
    """The values by the names that the compiler gives to the members of lists."""
    flat: dict[str, Any] = {}
    for name, value in values.items():
        if not isinstance(value, list):
            flat[name] = value
            continue
        for place, member in enumerate(value, start=1):
            if isinstance(member, tuple):
                flat |= {f"{name}_{place}_{n}": one for n, one in enumerate(member, start=1)}
            else:
                flat[f"{name}_{place}"] = member
    return flat
