"""Steps on Postgres: what much was read for is decoded in a thread, and all else where it comes in."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.dialects.postgresql.asyncpg import PGDialect_asyncpg

from fabula.adapters.stores.postgres import FEW_LETTERS, PostgresConnection
from fabula.adapters.stores.sql import Compiler, Steps

ASK = text("SELECT doc FROM docs")


class Driver:
    """Answers rows of texts."""

    def __init__(self, *texts: str) -> None:
        self._rows = [("id", number, one, None) for number, one in enumerate(texts)]

    async def fetch(self, *_: object) -> list[Any]:
        return self._rows


def connection(*texts: str) -> PostgresConnection:
    return PostgresConnection(Driver(*texts), Compiler(PGDialect_asyncpg()))  # type: ignore[no-untyped-call]


def threads_of(*, asks: int = 1) -> Steps[list[threading.Thread]]:
    """Answers where each of its steps is run, without the first."""
    found = []
    for _ in range(asks):
        yield ASK, None
        found.append(threading.current_thread())
    return found


@pytest.mark.parametrize("texts", [["x" * (FEW_LETTERS + 1)], ["x" * 1_000] * (FEW_LETTERS // 1_000 + 1)])
async def test_documents_of_many_letters_are_decoded_beside_the_event_loop(texts: list[str]) -> None:
    found = await connection(*texts).run(threads_of(asks=2))
    assert len(found) == 2 and threading.current_thread() not in found


@pytest.mark.parametrize("texts", [[], ["x" * 1_000] * 10])
async def test_few_letters_are_read_where_they_come_in(texts: list[str]) -> None:
    assert set(await connection(*texts).run(threads_of(asks=2))) == {threading.current_thread()}


async def test_an_error_of_steps_in_a_thread_leaves_as_it_is() -> None:
    def failing() -> Steps[None]:
        yield ASK, None
        raise KeyError("no such thing")

    with pytest.raises(KeyError, match="no such thing"):
        await connection("x" * (FEW_LETTERS + 1)).run(failing())


async def test_who_is_cancelled_does_not_wait_for_steps_in_a_thread() -> None:
    began, goes_on, ended = threading.Event(), threading.Event(), threading.Event()

    def waiting() -> Steps[None]:
        try:
            yield ASK, None
            began.set()
            goes_on.wait(60)
        finally:
            ended.set()

    running = asyncio.create_task(connection("x" * (FEW_LETTERS + 1)).run(waiting()))
    await asyncio.to_thread(began.wait, 60)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert not ended.is_set()
    goes_on.set()
    assert await asyncio.to_thread(ended.wait, 60)
