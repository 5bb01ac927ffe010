"""Turns of NPCs on the game socket, one game for each NPC: for comparing what they cost with turns of a story."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
import orjson


class Npc:
    """A game with one NPC."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse, name: str) -> None:
        self._socket, self._name = socket, name

    async def turn(self, words: str) -> tuple[float, int]:
        """The seconds to the first chunk of what the NPC says, and the bytes of the whole turn."""
        started, first, size = time.perf_counter(), 0.0, 0
        await self._send({"type": "interaction_event", "agent_id": self._name, "text": words})
        async for message in self._socket:
            size += len(message.data)
            frame = orjson.loads(message.data)
            match frame["type"]:
                case "get_agent_state":
                    await self._show(frame["request_id"])
                case "agent_tag_chunk":
                    first = first or time.perf_counter() - started
                case "agent_turn_finished":
                    return first, size
                case "error":
                    raise SystemExit(f"The server complains: {frame['message']}")
        raise SystemExit("The game socket was closed.")

    async def _show(self, request_id: str) -> None:
        answer = {"agent_id": self._name, "request_id": request_id, "spec": {"name": self._name}}
        await self._send({"type": "agent_state_snapshot", **answer})

    async def _send(self, frame: dict[str, object]) -> None:
        await self._socket.send_str(orjson.dumps(frame).decode())


@asynccontextmanager
async def open_npcs(address: str, count: int) -> AsyncIterator[list[Npc]]:
    """That many NPCs, each in a game of its own."""
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as http:
        sockets = [await http.ws_connect(f"{address}/ws") for _ in range(count)]
        try:
            yield [Npc(socket, f"npc{number}") for number, socket in enumerate(sockets)]
        finally:
            for socket in sockets:
                await socket.close()
