"""The rival of a turn: the least that a program which relays a model and loses nothing can do.

1. The player's words are committed to SQLite, synced to the disk (WAL, synchronous=FULL).
2. The model is asked, and every chunk of its answer goes out as one server-sent event.
3. The reply is committed likewise.

No prompt is written, no tag is read, no state is kept: what Fabula costs more than this is what Fabula does more.
"""

from __future__ import annotations

import argparse
import asyncio
import sqlite3
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import aiohttp
import orjson
import uvicorn

Message = dict[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
_HEADERS = [(b"content-type", b"text/event-stream"), (b"cache-control", b"no-cache")]


class Relay:
    """The whole program, as an ASGI application. All commits go through one thread, as SQLite has one writer."""

    def __init__(self, folder: Path, model: str) -> None:
        self._model = f"{model}/chat/completions"
        self._thread = ThreadPoolExecutor(1)
        self._http: aiohttp.ClientSession | None = None
        self._folder = folder
        self._database: sqlite3.Connection | None = None

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif scope["method"] == "GET":
            await _answer(send, b"ready")
        else:
            await self._turn(await _body(receive), send)

    async def _live(self, receive: Receive, send: Send) -> None:
        await receive()
        self._http = aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0))
        await self._in_thread(self._open)
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await self._http.close()
        await send({"type": "lifespan.shutdown.complete"})

    async def _turn(self, asked: dict[str, str], send: Send) -> None:
        await self._in_thread(lambda: self._keep(asked["session_id"], "player", asked["words"]))
        body = {"model": "m", "stream": True, "messages": [{"role": "user", "content": f"<update> {asked['words']}"}]}
        assert self._http is not None
        said: list[str] = []
        await send({"type": "http.response.start", "status": 200, "headers": _HEADERS})
        async with self._http.post(self._model, data=orjson.dumps(body)) as response:
            async for line in response.content:
                if text := _text(line):
                    said.append(text)
                    event = b"data: " + orjson.dumps({"delta": text}) + b"\n\n"
                    await send({"type": "http.response.body", "body": event, "more_body": True})
        await self._in_thread(lambda: self._keep(asked["session_id"], "story", "".join(said)))
        await send({"type": "http.response.body", "body": b"data: [DONE]\n\n"})

    async def _in_thread(self, work: Callable[[], None]) -> None:
        await asyncio.get_running_loop().run_in_executor(self._thread, work)

    def _open(self) -> None:
        self._database = sqlite3.connect(self._folder / "relay.db", isolation_level=None)
        self._database.execute("PRAGMA journal_mode=WAL")
        self._database.execute("PRAGMA synchronous=FULL")
        self._database.execute("CREATE TABLE said (id INTEGER PRIMARY KEY, session_id TEXT, who TEXT, text TEXT)")

    def _keep(self, session_id: str, who: str, text: str) -> None:
        assert self._database is not None
        self._database.execute("INSERT INTO said (session_id, who, text) VALUES (?, ?, ?)", (session_id, who, text))


def _text(line: bytes) -> str:
    if not line.startswith(b"data: {"):
        return ""
    choices = orjson.loads(line[6:])["choices"]
    return str(choices[0]["delta"].get("content", "")) if choices else ""


async def _body(receive: Receive) -> dict[str, str]:
    parts, more = [], True
    while more:
        message = await receive()
        parts.append(message.get("body", b""))
        more = message.get("more_body", False)
    asked: dict[str, str] = orjson.loads(b"".join(parts))
    return asked


async def _answer(send: Send, body: bytes) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": body})


def run() -> None:
    """Serves until the process is ended."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--model", required=True)
    arguments = parser.parse_args()
    relay = Relay(arguments.folder, arguments.model)
    uvicorn.run(relay, host="127.0.0.1", port=arguments.port, log_level="warning", loop="uvloop", http="httptools")


if __name__ == "__main__":
    run()
