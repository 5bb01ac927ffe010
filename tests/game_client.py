"""A small game for tests: it speaks to `/ws` over a real socket, answers state requests and confirms turns."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import websockets
from websockets.asyncio.client import ClientConnection

Frame = dict[str, Any]

SPEC: Frame = {
    "name": "Mara",
    "role": "a smith in Oakford",
    "personality": "Gruff but fair.",
    "goals": ["finish the sword for the captain"],
    "knowledge": ["The old bridge fell into the river last spring.", "The captain drinks at the Red Boar."],
    "backstory": "She learned the trade from her mother.",
}


class Game:
    """One connection. `answers_state` says whether get_agent_state is answered by itself."""

    def __init__(self, socket: ClientConnection, *, answers_state: bool = True) -> None:
        self.socket, self.answers_state = socket, answers_state
        self.state: Frame = {"spec": SPEC, "world": {"location": "The smithy", "inventory": ["a dagger", "nails"]}}
        self.seen: list[Frame] = []

    async def send(self, type: str, **fields: Any) -> None:
        await self.socket.send(json.dumps({"type": type, **fields}))

    async def raw(self, text: str | bytes) -> None:
        await self.socket.send(text)

    async def next(self, *types: str, seconds: float = 15) -> Frame:
        """The next frame of one of these types (any, when none is named); all frames are kept in `seen`."""
        async with asyncio.timeout(seconds):
            while True:
                frame: Frame = json.loads(await self.socket.recv())
                self.seen.append(frame)
                if frame["type"] == "get_agent_state" and self.answers_state:
                    await self.snapshot(frame["agent_id"], frame["request_id"])
                if not types or frame["type"] in types:
                    return frame

    async def snapshot(self, agent_id: str, request_id: str | None = None, **changes: Any) -> None:
        fields = {**self.state, **changes}
        await self.send("agent_state_snapshot", agent_id=agent_id, request_id=request_id, **fields)

    async def say(self, text: str, agent_id: str = "mara", **fields: Any) -> None:
        source = {"id": "p1", "name": "Ann", "kind": "player"}
        await self.send("interaction_event", agent_id=agent_id, text=text, source=source, **fields)

    async def turn(self, text: str, agent_id: str = "mara", **fields: Any) -> list[Frame]:
        """Says something and answers all frames of the turn that follows; the turn is confirmed as it was sent."""
        await self.say(text, agent_id, **fields)
        started = await self.next("agent_turn_started")
        frames = [started]
        while frames[-1]["type"] not in ("agent_turn_finished", "agent_turn_interrupted"):
            frame = await self.next()
            if frame.get("turn_id") == started["turn_id"]:
                frames.append(frame)
        await self.confirm(frames)
        return frames

    async def confirm(self, frames: list[Frame]) -> None:
        finished = frames[-1]["type"] == "agent_turn_finished"
        await self.send(
            "agent_turn_result",
            agent_id=frames[0]["agent_id"],
            turn_id=frames[0]["turn_id"],
            status="completed" if finished else "interrupted",
            tags=[{"tag": one["tag"], "text": one["text"], "status": "played"} for one in closed(frames)],
        )

    async def settled(self) -> None:
        """Waits until all that was sent before is understood."""
        await self.send("ping", id="settled")
        while (await self.next("pong")).get("id") != "settled":
            pass


def closed(frames: list[Frame]) -> list[Frame]:
    return [frame for frame in frames if frame["type"] == "agent_tag_close"]


def spoken(frames: list[Frame]) -> str:
    """What was said aloud in a turn."""
    return " ".join(frame["text"] for frame in closed(frames) if frame["tag"] == "say")


@asynccontextmanager
async def game(address: str, *, answers_state: bool = True, **options: Any) -> AsyncIterator[Game]:
    """A connection to the server at an `http://` address."""
    url = address.replace("http://", "ws://") + "/ws"
    async with websockets.connect(url, max_size=None, **options) as socket:
        yield Game(socket, answers_state=answers_state)
