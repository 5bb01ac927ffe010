"""What the store needs to know of an engine: how to write, how to read, and how its failures read in plain words."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from dataclasses import dataclass
from typing import Literal, Protocol

from sqlalchemy.exc import DBAPIError, TimeoutError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from fabula.ports.errors import StoreError, WriteConflict

PATIENCE_S = 30.0
"""How long a writer waits for its turn, and how long a connection may be waited for."""


class Prepare(Protocol):
    """Makes the place ready to be connected to; runs before the first connection of `open`."""

    async def __call__(self) -> None: ...


@dataclass(frozen=True, kw_only=True)
class Database:
    """One engine: `writer` transactions change some things, those of `alone` may change everything, and exclude all
    other writers; a `reader` one is a read-only snapshot.

    `hurried` is a transaction of the writer whose commit does not wait for the disk; None where work in one go knows.
    `is_write_conflict` tells whether a failure is due to another writer alone, so that it helps to begin again.
    """

    engine: Literal["sqlite", "postgres"]
    place: str
    writer: AsyncEngine
    alone: AsyncEngine
    reader: AsyncEngine
    prepare: Prepare
    sentence: Callable[[BaseException], str]
    hurried: Callable[[AsyncConnection], AbstractAsyncContextManager[None]] | None = None
    is_write_conflict: Callable[[BaseException], bool] = lambda _: False

    @contextmanager
    def plain_words(self, *also: type[Exception]) -> Iterator[None]:
        """Failures of the engine leave as StoreError with one clear sentence."""
        try:
            yield
        except TimeoutError as error:
            raise StoreError(f"The store at {self.place} is too busy. Try again in a moment.") from error
        except DBAPIError as error:
            if self.is_write_conflict(error.orig or error):
                raise WriteConflict(
                    "Another change of the same things came at the same moment. Nothing was changed; try again."
                ) from error
            raise StoreError(self.sentence(error.orig or error)) from error
        except also as error:
            raise StoreError(self.sentence(error)) from error
