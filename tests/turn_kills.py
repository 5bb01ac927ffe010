"""A server that is killed in the middle of turns, and the model that it talks to, which knows when to kill it."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, cast

import httpx
from tests.fork_server import Child, ForkServer
from tests.live import Client, gate_story, sse
from tests.scripted import bind_troupe
from tests.templates import fill_folder

from fabula.story.values import JsonObject
from fabula.testing.model_script import Behaviour
from fabula.testing.model_server import ModelServer
from fabula.testing.server_process import clean_environment
from fabula.testing.troupe import Troupe


@dataclass(kw_only=True)
class Victim:
    """A server on a data folder that is killed and started again; its models stay."""

    fork_server: ForkServer
    folder: Path
    environment: Mapping[str, str]
    troupe: Troupe
    kills: int = 0
    story_id: str = ""
    _child: Child | None = None
    _client: Client | None = None
    _kill_after_calls: int | None = None
    _asked_to_end: bool = False

    @property
    def client(self) -> Client:
        assert self._client is not None
        return self._client

    def __call__(self, request: JsonObject) -> Behaviour | str:
        """Answers a model call, or kills who asked."""
        if self._kill_after_calls is not None:
            self._kill_after_calls -= 1
            if self._kill_after_calls < 0:
                self._kill_after_calls = None
                self.kill()
        return self.troupe(request)

    def kill_at_call(self, number: int) -> None:
        """Kills the server when it makes its model call with this number, counted from now."""
        self._kill_after_calls = number

    def kill(self, how: signal.Signals = signal.SIGKILL) -> None:
        assert self._child is not None
        self.kills += 1
        self._asked_to_end = how == signal.SIGTERM
        self._child.send(how)

    async def start(self) -> None:
        """Starts the server, after the last one is gone for sure."""
        await self.stop()
        log = self.folder / "server.log"
        arguments = ["serve", "--port", "0"]
        self._child = await asyncio.to_thread(self.fork_server.start, arguments, self.environment, log=log)
        address = await asyncio.to_thread(self._child.address)
        # The client speaks to a server in another process, so it has no house.
        self._client = Client(httpx.AsyncClient(base_url=address, timeout=120), cast(Any, None))

    async def stop(self) -> None:
        self._kill_after_calls = None
        if self._client is not None:
            await self._client.http.aclose()
        if self._child is not None:
            # One that was asked to end is given the time that it needs.
            await asyncio.to_thread(self._child.wait if self._asked_to_end else self._child.kill)
        self._asked_to_end = False

    async def session(self, pace: str) -> str:
        params = {"story_id": self.story_id, "api_group_id": "troupe", "preset_id": pace}
        return str((await self.client.raw("story.start_session", **params))["session_id"])

    async def play_until(self, session_id: str, words: str | int, mark: str) -> list[dict[str, Any]]:
        """Plays a turn by words or a choice and kills the server when its stream shows the mark; what was read."""
        params = {"choice": words} if isinstance(words, int) else {"player_input": words}
        request = self.client.request("session.run_turn", session_id, **params)
        text = ""
        try:
            async with self.client.http.stream("POST", "/rpc", json=request) as response:
                async for chunk in response.aiter_text():
                    text += chunk
                    if mark and mark in text:
                        self.kill()
                        mark = ""
        except httpx.HTTPError:
            pass
        return sse(text[: text.rfind("\n\n") + 2])

    async def rested(self, session_id: str) -> dict[str, Any]:
        """The session, once no turn of it is in flight."""
        while (session := await self.client.call("session.get", session_id)).get("active_turn_id"):
            await asyncio.sleep(0.02)
        return session


@asynccontextmanager
async def victim(
    fork_server: ForkServer,
    folder: Path,
    troupe: Troupe | None = None,
    environment: Mapping[str, str] = MappingProxyType({}),
) -> AsyncIterator[Victim]:
    """A victim with a story to play, in both paces."""
    troupe = troupe or Troupe()
    # Summaries by rule: a model that is asked for one after a turn would count as a call of the next one.
    chosen = {"FABULA_DATA_DIR": str(folder / "data"), "FABULA_SAMPLES": "false", "FABULA_SUMMARIES": "rule"}
    settings = clean_environment({**chosen, **environment})
    if "FABULA_DATABASE_URL" not in settings:
        fill_folder(folder / "data")
    it = Victim(fork_server=fork_server, folder=folder, environment=settings, troupe=troupe)
    async with ModelServer(it) as models:
        await it.start()
        await bind_troupe(it.client, models.base_url)
        it.story_id = await gate_story(it.client)
        yield it
        await it.stop()


def lines(session: dict[str, Any]) -> list[tuple[str, str, str, int]]:
    """A transcript as far as two equal plays have it in common."""
    return [(one["kind"], one["speaker_id"], one["text"], one["sequence"]) for one in session["history"]]
