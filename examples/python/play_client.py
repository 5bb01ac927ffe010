"""Plays a story over Socket.IO on the terminal: words appear as the storyteller says them.

    pip install "python-socketio[asyncio-client]"
    python examples/python/play_client.py

FABULA_URL is the address of the server (http://127.0.0.1:8420), FABULA_TOKEN an access token if it asks for one, and
FABULA_SESSION the session to play; without it a session of the first story is started.
"""

from __future__ import annotations

import asyncio
import os
import sys
import uuid

import aiohttp
import socketio

URL = os.environ.get("FABULA_URL", "http://127.0.0.1:8420")
TOKEN = os.environ.get("FABULA_TOKEN", "")


class Player:
    """One session. What is said under one request_id is played once, however often it had to be sent."""

    def __init__(self, session_id: str) -> None:
        self.session_id = session_id
        self.socket = socketio.AsyncClient()
        self.over: asyncio.Future[str] | None = None
        self.socket.on("new_token", self._token)
        self.socket.on("done", self._done)
        self.socket.on("error", self._error)

    async def connect(self) -> None:
        await self.socket.connect(URL, auth={"token": TOKEN} if TOKEN else None, transports=["websocket"])

    async def say(self, words: str) -> str:
        """Plays a turn; answers its whole text. A connection that breaks is made anew, and the turn goes on."""
        beat = {"request_id": str(uuid.uuid4()), "session_id": self.session_id, "input": words}
        self.over = asyncio.get_running_loop().create_future()
        while not self.over.done():
            try:
                await self.socket.call("storybeat", beat, timeout=30)
                return await asyncio.wait_for(asyncio.shield(self.over), 150)
            except (socketio.exceptions.SocketIOError, TimeoutError):
                await asyncio.sleep(1)
        return self.over.result()

    async def _token(self, data: dict) -> None:
        print(data["token"], end="", flush=True)

    async def _done(self, data: dict) -> None:
        print("\n")
        if self.over is not None and not self.over.done():
            self.over.set_result(data["full_text"])

    async def _error(self, data: dict) -> None:
        print(f"\n[{data['code']}] {data['message']}", file=sys.stderr)
        if self.over is not None and not self.over.done():
            self.over.set_result("")


async def call(method: str, **params: object) -> dict:
    """A call of JSON-RPC, for all that is not played."""
    headers = {"Authorization": f"Bearer {TOKEN}"} if TOKEN else {}
    body = {"jsonrpc": "2.0", "id": "1", "method": method, "params": params}
    async with aiohttp.ClientSession(headers=headers) as http, http.post(f"{URL}/rpc", json=body) as response:
        answer = await response.json()
    if "error" in answer:
        sys.exit(answer["error"]["message"])
    return answer["result"]


async def a_session() -> str:
    if session_id := os.environ.get("FABULA_SESSION"):
        return session_id
    stories = (await call("story.list"))["stories"]
    if not stories:
        sys.exit("There is no story yet: install the samples, or write one.")
    return (await call("story.start_session", story_id=stories[0]["story_id"]))["session_id"]


async def main() -> None:
    player = Player(await a_session())
    await player.connect()
    try:
        while words := (await asyncio.to_thread(sys.stdin.readline)).strip():
            await player.say(words)
    finally:
        await player.socket.disconnect()


if __name__ == "__main__":
    asyncio.run(main())
