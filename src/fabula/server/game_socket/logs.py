"""Two logs for each connection, as JSON lines: what was said, and what the model was told. Never a token or key.

Only the owner of the data folder may read them, and the folder of logs has a bound: the oldest make way for new ones.
The server's own log gets a line for every turn's end and every problem, with the ids that lead to these files.
"""

from __future__ import annotations

import asyncio
import logging
import os
from pathlib import Path
from typing import Any, Final

import orjson

from fabula.ports.models import Message
from fabula.ports.threads import run_in_thread
from fabula.ports.world import Clock
from fabula.server.game_socket.wire import (
    AgentTurnFinished,
    AgentTurnInterrupted,
    AgentTurnStarted,
    ClientMessage,
    Hello,
    Ping,
    Problem,
    ServerMessage,
)
from fabula.settings import Settings

log = logging.getLogger("fabula.game")

HIDDEN = ("agent_tag_chunk", "pong")
FLUSH_BYTES = 256 * 1024
LARGEST_LOG = 64 * 1024 * 1024
MOST_LOGS: Final = 10_000
CONVERSATION, INPUTS = ".conversation.jsonl", ".model-inputs.jsonl"


class LogFile:
    """Lines on their way to a file. They are kept here until there are many, or the connection ends."""

    def __init__(self, path: Path, largest_folder: int) -> None:
        self._path, self._largest_folder = path, largest_folder
        self._lines: list[bytes] = []
        self._waiting, self._written = 0, 0
        self._writing: asyncio.Task[None] | None = None

    def add(self, entry: dict[str, Any]) -> None:
        if self._written + self._waiting > LARGEST_LOG:
            return
        line = orjson.dumps(entry, option=orjson.OPT_APPEND_NEWLINE)
        self._lines.append(line)
        self._waiting += len(line)
        if self._waiting > FLUSH_BYTES and (self._writing is None or self._writing.done()):
            self._writing = asyncio.create_task(self._flush())

    async def close(self) -> None:
        if self._writing is not None:
            await self._writing
        await self._flush()

    async def _flush(self) -> None:
        lines, self._lines = self._lines, []
        self._written, self._waiting = self._written + self._waiting, 0
        if lines:
            await run_in_thread(_append, self._path, b"".join(lines), self._largest_folder)


class ConnectionLog:
    """The pair of logs of one connection; its messages stand in the order in which they came and went."""

    def __init__(self, settings: Settings, connection_id: str, clock: Clock) -> None:
        folder, largest = settings.log_folder, settings.max_log_mib * 1024 * 1024
        self._clock = clock
        self._connection_id = connection_id
        self._started_at: dict[str, float] = {}
        self._conversation = LogFile(folder / f"{connection_id}{CONVERSATION}", largest)
        self._inputs = LogFile(folder / f"{connection_id}{INPUTS}", largest)

    def heard(self, message: dict[str, Any]) -> None:
        """A message of the game, as `plain_message` writes it."""
        self._conversation.add({"ts_ms": self._clock.now_ms(), "from": "game", **message})

    def told(self, message: ServerMessage) -> None:
        """A message to the game. Chunks are left out: the whole text stands where their tag closes."""
        if message["type"] not in HIDDEN:
            self._conversation.add({"ts_ms": self._clock.now_ms(), "from": "fabula", **message})
            self._tell_server(message)

    def saw_prompt(self, agent_id: str, turn_id: str, messages: tuple[Message, ...]) -> None:
        """What the model is told for a turn."""
        told = [{"role": one.role, "content": one.content} for one in messages]
        self._inputs.add({"ts_ms": self._clock.now_ms(), "agent_id": agent_id, "turn_id": turn_id, "messages": told})

    def _tell_server(self, message: ServerMessage) -> None:
        if message["type"] == "agent_turn_started":
            self._started_at[message["turn_id"]] = self._clock.monotonic()
            facts = {"event_id": message["event_id"], "model": message["model"]}
            self._line(logging.DEBUG, "NPC turn started", message, **facts)
        elif message["type"] == "agent_turn_finished":
            self._line(logging.INFO, "NPC turn finished", message, reason=message["reason"], ms=self._ms(message))
        elif message["type"] == "agent_turn_interrupted":
            self._line(logging.INFO, "NPC turn interrupted", message, reason=message["reason"], ms=self._ms(message))
        elif message["type"] == "error":
            level = logging.WARNING if message["code"] == "model_error" else logging.DEBUG
            self._line(level, "a game was told of a problem", message, code=message["code"])

    def _line(
        self,
        level: int,
        sentence: str,
        message: AgentTurnStarted | AgentTurnFinished | AgentTurnInterrupted | Problem,
        **facts: Any,
    ) -> None:
        ids = {
            "connection_id": self._connection_id,
            "agent_id": message.get("agent_id"),
            "turn_id": message.get("turn_id"),
        }
        log.log(level, sentence, extra={"facts": {**ids, **facts}})

    def _ms(self, ended: AgentTurnFinished | AgentTurnInterrupted) -> int | None:
        began = self._started_at.pop(ended["turn_id"], None)
        return None if began is None else round((self._clock.monotonic() - began) * 1000)

    async def close(self) -> None:
        await self._conversation.close()
        await self._inputs.close()


def plain_message(message: ClientMessage) -> dict[str, Any] | None:
    """What is logged of a message; None of a ping. Without the token."""
    if isinstance(message, Ping):
        return None
    return message.model_dump(mode="json", exclude={"token"} if isinstance(message, Hello) else None)


def _append(path: Path, data: bytes, largest_folder: int) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    make_room(path.parent, len(data), largest=largest_folder)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600), "ab") as file:
        file.write(data)


def make_room(folder: Path, size: int, *, largest: int) -> None:
    """Removes the oldest logs until `size` more bytes fit into the folder; other files in it are left alone."""
    logs = []
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith((CONVERSATION, INPUTS)) and entry.is_file(follow_symlinks=False):
                stat = entry.stat(follow_symlinks=False)
                logs.append((stat.st_mtime_ns, stat.st_size, entry.path))
    logs.sort()
    taken, count = sum(size for _, size, _ in logs), len(logs)
    for _, freed, path in logs:
        if taken + size <= largest and count < MOST_LOGS:
            return
        Path(path).unlink(missing_ok=True)
        taken, count = taken - freed, count - 1
