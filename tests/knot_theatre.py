"""A live server whose Ink characters are played by a scripted model, for tests over HTTP."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
from tests.ink_live import GATE, begin, outcome, play
from tests.live import Client, live_server

from fabula.testing.model_script import Say, Script, say_json
from fabula.testing.model_server import ModelServer

ROLES = ("planner", "architect", "director", "actor", "narrator", "keeper", "replyer")


def decision(way: str, reply: str = "Hm, I see.", **words: str) -> dict[str, Any]:
    return {"weights": {way: 1.0}, "reply": reply, "bridge_text": "", "guidance": "", "reason": "so", **words}


def says(way: str, reply: str = "Hm, I see.", **words: str) -> Say:
    return say_json(decision(way, reply, **words))


@asynccontextmanager
async def theatre(folder: Path, script: Script, **settings: Any) -> AsyncIterator[tuple[Client, ModelServer]]:
    """A server whose roles are all played by a scripted model."""
    async with ModelServer(script) as model, live_server(folder, **settings) as client:
        api = {"provider": "open_ai", "base_url": model.base_url, "api_key": "sk-x", "model": "scripted"}
        await client.call("api.create", api_id="scripted", display_name="Scripted", **api)
        bindings = {f"{role}_api_id": "scripted" for role in ROLES}
        await client.call("api_group.create", api_group_id="scripted", display_name="Scripted", bindings=bindings)
        yield client, model


async def at_the_guard(client: Client, source: str = GATE, **settings: Any) -> str:
    session, _ = await begin(client, source, **settings)
    await play(client, session, choice=1)
    return session


async def say(client: Client, session: str, words: str) -> dict[str, Any]:
    return outcome(await play(client, session, player_input=words))


async def decide(client: Client, session: str, id: str, words: str) -> httpx.Response:
    return await client.http.post(f"/api/plays/{session}/agent/decision", json={"id": id, "input": words})
