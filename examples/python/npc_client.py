"""A small client for Fabula's game socket: one class to copy into a Python game, and a talk on the terminal.

It answers state requests, hands tags on as they grow, confirms what was played, and connects again by itself.
Needs Python 3.11 and the package `websockets`.

    python npc_client.py ws://127.0.0.1:8420/ws
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import websockets

Frame = dict[str, Any]


@dataclass
class Tag:
    """A piece of a turn: something said, done or shown. `text` grows while it streams."""

    id: str
    name: str
    attrs: dict[str, str]
    text: str = ""
    complete: bool = False


@dataclass
class Turn:
    """What an NPC does about one event."""

    id: str
    agent_id: str
    tags: list[Tag] = field(default_factory=list)
    interrupted: bool = False

    def said(self) -> str:
        return " ".join(tag.text for tag in self.tags if tag.name == "say")


def nothing(*_: Any) -> None:
    """What happens when nobody listens."""


@dataclass
class Listener:
    """What your game does when an NPC speaks. Everything here is called as it happens."""

    on_tag: Callable[[Turn, Tag], None] = nothing
    on_text: Callable[[Turn, Tag, str], None] = nothing
    on_turn_end: Callable[[Turn], None] = nothing
    on_tool: Callable[[Turn, Tag], None] = nothing
    on_error: Callable[[Frame], None] = nothing
    on_connection: Callable[[bool], None] = nothing  # True when it stands, False for each time it is lost or refused


class NpcClient:
    """One connection to Fabula for all NPCs of a game."""

    def __init__(
        self,
        url: str,
        *,
        game: str,
        state_of: Callable[[str], Frame],
        listener: Listener | None = None,
        token: str | None = None,
    ) -> None:
        """`state_of` answers who an NPC is now: spec, world, tags, tools, player."""
        self._url, self._game, self._state_of, self._token = url, game, state_of, token
        self._listener = listener or Listener()
        self._socket: websockets.ClientConnection | None = None
        self._connection_id: str | None = None
        self._turns: dict[str, Turn] = {}
        self._unconfirmed: dict[str, Frame] = {}
        self._connected = asyncio.Event()

    async def run(self) -> None:
        """Stays connected until it is cancelled; a lost connection is taken up again where it was."""
        wait = 0.5
        while True:
            try:
                async with websockets.connect(self._url, max_size=None) as self._socket:
                    await self._greet()
                    wait = 0.5
                    async for raw in self._socket:
                        await self._hear(json.loads(raw))
            except (OSError, websockets.WebSocketException):
                pass
            self._connected.clear()
            self._socket = None
            self._listener.on_connection(False)
            await asyncio.sleep(wait)
            wait = min(wait * 2, 10.0)

    async def say(self, agent_id: str, text: str, *, player: str = "Player", interrupt: bool = True) -> None:
        """The player says something to an NPC. While it speaks, this interrupts it."""
        source = {"id": "player", "name": player, "kind": "player"}
        await self.tell(agent_id, "player_speech", text, source=source, interrupt=interrupt)

    async def tell(self, agent_id: str, event_type: str, text: str, **fields: Any) -> None:
        """Anything that happens to an NPC and that it reacts to."""
        await self._send("interaction_event", agent_id=agent_id, event_type=event_type, text=text, **fields)

    async def notify(self, agent_ids: list[str] | str, event_type: str, text: str) -> None:
        """Something that NPCs notice without reacting; "*" means all of them."""
        await self._send("notification_event", agent_ids=agent_ids, event_type=event_type, text=text)

    async def cancel(self, agent_id: str) -> None:
        """The NPC falls silent."""
        await self._send("cancel_turn", agent_id=agent_id)

    async def answer_tool(self, turn: Turn, tag: Tag, result: Any, *, goes_on: bool = True) -> None:
        """What came of a tool; the NPC may take another turn on it."""
        done = {"call_id": tag.id, "name": tag.attrs.get("name", ""), "ok": True, "result": result}
        fields = {"agent_id": turn.agent_id, "turn_id": turn.id, "results": [done], "continue": goes_on}
        await self._send("tool_results", **fields)

    async def _greet(self) -> None:
        hello = {"protocol": 1, "client": self._game, "token": self._token, "resume": self._connection_id}
        assert self._socket is not None
        await self._socket.send(json.dumps({"type": "hello", **hello}))

    async def _send(self, type: str, **fields: Any) -> None:
        """Sends a frame, as soon as there is a connection."""
        while True:
            await self._connected.wait()
            try:
                assert self._socket is not None
                return await self._socket.send(json.dumps({"type": type, **fields}))
            except websockets.ConnectionClosed:
                self._connected.clear()

    async def _reply(self, type: str, **fields: Any) -> None:
        """Answers what was just heard; when the connection is lost meanwhile, `run` takes it up again."""
        assert self._socket is not None
        await self._socket.send(json.dumps({"type": type, **fields}))

    async def _hear(self, frame: Frame) -> None:
        match frame["type"]:
            case "welcome":
                await self._take_up(frame)
            case "get_agent_state":
                state = self._state_of(frame["agent_id"])
                names = {"agent_id": frame["agent_id"], "request_id": frame["request_id"]}
                await self._reply("agent_state_snapshot", **names, **state)
            case "agent_turn_started":
                self._turns[frame["turn_id"]] = Turn(id=frame["turn_id"], agent_id=frame["agent_id"])
            case "agent_tag_open" | "agent_tag_chunk" | "agent_tag_close":
                self._hear_tag(frame)
            case "agent_turn_finished" | "agent_turn_interrupted":
                await self._end(frame)
            case "error":
                self._listener.on_error(frame)

    async def _take_up(self, welcome: Frame) -> None:
        """After a lost connection: what was being said is over, and is confirmed as far as it was heard."""
        self._connection_id = welcome["connection_id"]
        self._connected.set()
        for turn in list(self._turns.values()):
            await self._end({"type": "agent_turn_interrupted", "turn_id": turn.id})
        for turn_id in list(self._unconfirmed):
            await self._confirm(turn_id)
        self._listener.on_connection(True)

    def _hear_tag(self, frame: Frame) -> None:
        turn = self._turns.get(frame["turn_id"])
        if turn is None:
            return
        if frame["type"] == "agent_tag_open":
            turn.tags.append(Tag(id=frame["tag_id"], name=frame["tag"], attrs=frame["attrs"]))
            self._listener.on_tag(turn, turn.tags[-1])
            return
        tag = turn.tags[-1]
        if frame["type"] == "agent_tag_chunk":
            tag.text += frame["text"]
            self._listener.on_text(turn, tag, frame["text"])
            return
        tag.complete = frame["complete"]
        if tag.name == "tool":
            self._listener.on_tool(turn, tag)

    async def _end(self, frame: Frame) -> None:
        """Confirms the turn as it was heard. A game that plays more slowly does this when its bubble has been read."""
        turn = self._turns.pop(frame["turn_id"], None)
        if turn is None:
            return
        turn.interrupted = frame["type"] == "agent_turn_interrupted"
        result: Frame = {
            "agent_id": turn.agent_id,
            "turn_id": turn.id,
            "status": "interrupted" if turn.interrupted else "completed",
            "tags": [
                {
                    "tag": tag.name,
                    "attrs": tag.attrs,
                    "text": tag.text,
                    "status": "played" if tag.complete else "partial",
                }
                for tag in turn.tags
            ],
        }
        self._unconfirmed[turn.id] = result
        await self._confirm(turn.id)
        self._listener.on_turn_end(turn)

    async def _confirm(self, turn_id: str) -> None:
        await self._reply("agent_turn_result", **self._unconfirmed[turn_id])
        del self._unconfirmed[turn_id]


MARA: Frame = {
    "spec": {
        "name": "Mara",
        "role": "a smith in Oakford",
        "personality": "Gruff but fair.",
        "knowledge": ["The old bridge fell into the river last spring."],
    },
    "world": {"location": "the smithy", "inventory": ["a dagger", "a bag of nails"]},
}


async def talk(url: str) -> None:
    """A talk with Mara on the terminal; an empty line ends it."""
    told = {True: "Mara is here. Say something; an empty line ends the talk.", False: f"Nobody at {url}; trying again."}
    listener = Listener(
        on_tag=lambda turn, tag: print(f"\n[{tag.name}] ", end="", flush=True),
        on_text=lambda turn, tag, text: print(text, end="", flush=True),
        on_turn_end=lambda turn: print(" --" if turn.interrupted else ""),
        on_error=lambda frame: print(frame["message"], file=sys.stderr),
        on_connection=lambda stands: print(told[stands]),
    )
    client = NpcClient(url, game="terminal", state_of=lambda _: MARA, listener=listener)
    running = asyncio.create_task(client.run())
    while text := (await asyncio.to_thread(sys.stdin.readline)).strip():
        await client.say("mara", text)
    await asyncio.sleep(1)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


if __name__ == "__main__":
    asyncio.run(talk(sys.argv[1] if len(sys.argv) > 1 else "ws://127.0.0.1:8420/ws"))
