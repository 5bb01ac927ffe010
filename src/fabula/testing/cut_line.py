"""A line to a server that can be cut: tests put it between a program and what it connects to."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress


class CutLine:
    """Passes bytes on to an upstream until it is cut: then every connection breaks, and no new one is taken."""

    def __init__(self, *, host: str = "127.0.0.1", port: int = 0, path: str = "") -> None:
        self._upstream, self._path = (host, port), path
        self._server: asyncio.Server | None = None
        self._lines: set[asyncio.Task[None]] = set()
        self.port = 0

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def cut(self) -> None:
        if self._server is None:
            return
        self._server.close()
        lines, self._lines = self._lines, set()
        for line in lines:
            line.cancel()
        if lines:
            await asyncio.wait(lines)
        await self._server.wait_closed()
        self._server = None

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._lines.add(task)
        try:
            with suppress(OSError, asyncio.CancelledError):
                await self._connect(reader, writer)
        finally:
            self._lines.discard(task)
            writer.transport.abort()

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._path:
            far_reader, far_writer = await asyncio.open_unix_connection(self._path)
        else:
            far_reader, far_writer = await asyncio.open_connection(*self._upstream)
        try:
            ways = [asyncio.ensure_future(_pass_on(*way)) for way in ((reader, far_writer), (far_reader, writer))]
            try:
                await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for way in ways:
                    way.cancel()
                await asyncio.wait(ways)
        finally:
            far_writer.transport.abort()


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()


@asynccontextmanager
async def cut_line(*, host: str = "127.0.0.1", port: int = 0, path: str = "") -> AsyncIterator[CutLine]:
    line = CutLine(host=host, port=port, path=path)
    await line.start()
    try:
        yield line
    finally:
        await line.cut()
