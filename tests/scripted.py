"""A live server whose sessions talk to the scripted troupe."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.live import Client, gate_story, live_server

from fabula.testing.model_server import ModelServer
from fabula.testing.troupe import Troupe

ROLES = ("planner", "architect", "director", "actor", "narrator", "keeper", "replyer")
PACES = ("ensemble", "swift")


@dataclass(frozen=True, kw_only=True)
class Theatre:
    """A server, the troupe that plays in it, and a story to play."""

    client: Client
    troupe: Troupe
    models: ModelServer
    story_id: str

    async def session(self, pace: str = "ensemble") -> str:
        answer = await self.client.raw(
            "story.start_session", story_id=self.story_id, api_group_id="troupe", preset_id=pace
        )
        return str(answer["session_id"])


@asynccontextmanager
async def theatre(data_dir: Path, **settings: Any) -> AsyncIterator[Theatre]:
    """Opens a theatre; model calls are tried twice unless the settings say otherwise."""
    troupe = Troupe()
    async with ModelServer(troupe) as models, live_server(data_dir, **{"model_attempts": 2, **settings}) as client:
        await bind_troupe(client, models.base_url)
        yield Theatre(client=client, troupe=troupe, models=models, story_id=await gate_story(client))


async def bind_troupe(client: Client, base_url: str) -> None:
    """Makes the api and the group `troupe`, and a preset for each pace."""
    await client.call(
        "api.create",
        api_id="troupe",
        display_name="Troupe",
        provider="open_ai",
        base_url=base_url,
        api_key="sk-troupe",
        model="scripted-small",
    )
    bindings = {f"{role}_api_id": "troupe" for role in ROLES}
    await client.call("api_group.create", api_group_id="troupe", display_name="Troupe", bindings=bindings)
    for pace in PACES:
        agents: dict[str, Any] = {role: {"modules": []} for role in ROLES}
        agents["director"]["extra"] = {"pace": pace}
        await client.call("preset.create", preset_id=pace, display_name=pace, agents=agents)
