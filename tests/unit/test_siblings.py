"""Requests that are passed on to another process of the same port last no longer than somebody waits for them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from fabula.server.siblings import Siblings

SCOPE = {
    "type": "http",
    "method": "POST",
    "path": "/socket.io/",
    "query_string": b"EIO=4&transport=polling&sid=1.x",
    "headers": [(b"host", b"localhost"), (b"content-length", b"100000")],
}
PART = {"type": "http.request", "body": b"42", "more_body": True}
WHOLE = {"type": "http.request", "body": b"4" * 100_000, "more_body": False}
GONE = {"type": "http.disconnect"}


class Silent:
    """Another process that never answers; it tells when it was asked, and when nobody waits any more."""

    def __init__(self) -> None:
        self.asked, self.left = asyncio.Event(), asyncio.Event()

    async def hear(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.asked.set()
        await reader.read()
        self.left.set()
        writer.close()


@asynccontextmanager
async def silent_sibling(folder: Path) -> AsyncIterator[tuple[Siblings, Silent]]:
    silent, siblings = Silent(), Siblings(own=0, folder=folder)
    async with await asyncio.start_unix_server(silent.hear, siblings.socket_of(1)):
        yield siblings, silent


async def never(message: Any) -> None:
    raise AssertionError("There is nobody to be answered.")


@pytest.mark.parametrize("comes", [[GONE], [PART, GONE], [PART, PART, GONE]])
async def test_a_request_that_was_never_whole_is_not_passed_on(tmp_path: Path, comes: list[dict[str, Any]]) -> None:
    async with silent_sibling(tmp_path) as (siblings, silent), asyncio.timeout(20):
        messages = iter([*comes, GONE])

        async def receive() -> dict[str, Any]:
            return next(messages)

        await siblings.pass_on(1, SCOPE, receive, never)
        assert not silent.asked.is_set()


async def test_when_a_client_leaves_the_other_process_is_not_waited_for(tmp_path: Path) -> None:
    async with silent_sibling(tmp_path) as (siblings, silent), asyncio.timeout(20):
        messages = iter([WHOLE])

        async def receive() -> dict[str, Any]:
            if (message := next(messages, None)) is not None:
                return message
            await silent.asked.wait()
            return GONE

        await siblings.pass_on(1, SCOPE, receive, never)
        await silent.left.wait()
