"""A server for the stage's scenes, whose roles a scripted model plays: as slowly, and as badly, as a scene needs it."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from playwright.sync_api import Locator, Page, expect
from tests.browser.scene import PATIENCE_MS
from tests.fork_server import running_server
from tests.ink_live import GATE
from tests.live import GATE_GRAPH
from tests.scripted import PACES, ROLES
from tests.templates import fill_folder

from fabula.story.values import JsonObject
from fabula.testing.model_script import Behaviour, Pace, Say, Script, say_json
from fabula.testing.model_server import ModelServer
from fabula.testing.troupe import Troupe

SLOW = Pace(first_token_ms=50, tokens_per_second=12)
"""About three seconds for a beat: long enough to look at the page while it is told."""
LONG = " ".join(
    f"The bell tolls for the {number}th time, and the rain goes on over the roofs." for number in range(1, 60)
)


class Players(Troupe):
    """The troupe of a scene play, and the characters of Ink stories as lined up in `talks`."""

    def __init__(self) -> None:
        super().__init__()
        self.talks: list[Behaviour] = []
        self.narration: Say | None = None

    def __call__(self, request: JsonObject) -> Behaviour | str:
        try:
            answer = super().__call__(request)
        except AssertionError:
            # A prompt of no role of the troupe's: somebody in an Ink story is spoken to.
            return self.talks.pop(0) if self.talks else says("NEEDS_INPUT", "Hm, I see.")
        if self.narration is not None and self.calls[-1] == "narrator":
            return self.narration
        return answer


def says(way: str, reply: str, **words: str) -> Say:
    """What a character of an Ink story answers, and where that leads."""
    return say_json({"weights": {way: 1.0}, "reply": reply, "bridge_text": "", "guidance": "", "reason": "so", **words})


@dataclass(frozen=True, kw_only=True)
class Playhouse:
    """The server, those who play in it, and the stories that are there."""

    address: str
    players: Players
    scenes: str
    ink: str

    def call(self, method: str, session_id: str | None = None, /, **params: Any) -> dict[str, Any]:
        body = {"jsonrpc": "2.0", "id": "1", "method": method, "params": params}
        sent = body if session_id is None else {**body, "session_id": session_id}
        answer = httpx.post(f"{self.address}/rpc", json=sent, timeout=120)
        found: dict[str, Any] = answer.json()
        assert "result" in found, found
        result: dict[str, Any] = found["result"]
        return result

    def begin(self, *, ink: bool = False, swift: bool = False, story: str | None = None) -> str:
        """A new play, with the scripted models."""
        story_id = story or (self.ink if ink else self.scenes)
        preset = {} if ink else {"preset_id": PACES[1] if swift else PACES[0]}
        return str(self.call("story.start_session", story_id=story_id, api_group_id="troupe", **preset)["session_id"])

    def say(self, session: str, *lines: str) -> None:
        """Plays turns without the browser."""
        for line in lines:
            body = {"jsonrpc": "2.0", "id": "1", "session_id": session, "method": "session.run_turn"}
            answer = httpx.post(f"{self.address}/rpc", json={**body, "params": {"player_input": line}}, timeout=120)
            assert '"type":"completed"' in answer.text, answer.text

    def lines(self, session: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.call("session.get", session)["history"]
        return found


@contextmanager
def playhouse(folder: Path, **settings: str) -> Iterator[Playhouse]:
    players = Players()
    with (
        model_server(players) as base_url,
        running_server(fill_folder(folder, "samples"), settings=settings) as address,
    ):
        house = Playhouse(address=address, players=players, scenes="", ink="")
        bind(house, base_url)
        yield Playhouse(address=address, players=players, scenes=write_scenes(house), ink=write_ink(house))


@contextmanager
def model_server(script: Script) -> Iterator[str]:
    """The scripted model in a thread of its own; answers its address."""
    ready, ends = threading.Event(), threading.Event()
    found: list[str] = []

    async def serve() -> None:
        async with ModelServer(script) as server:
            found.append(server.base_url)
            ready.set()
            while not ends.is_set():
                await asyncio.sleep(0.05)

    thread = threading.Thread(target=lambda: asyncio.run(serve()), daemon=True)
    thread.start()
    assert ready.wait(30)
    try:
        yield found[0]
    finally:
        ends.set()
        thread.join(30)


def bind(house: Playhouse, base_url: str) -> None:
    api = {"provider": "open_ai", "base_url": base_url, "api_key": "sk-troupe", "model": "scripted-small"}
    house.call("api.create", api_id="troupe", display_name="Troupe", **api)
    bindings = {f"{role}_api_id": "troupe" for role in ROLES}
    house.call("api_group.create", api_group_id="troupe", display_name="Troupe", bindings=bindings)
    for pace in PACES:
        agents: dict[str, Any] = {role: {"modules": []} for role in ROLES}
        agents["director"]["extra"] = {"pace": pace}
        house.call("preset.create", preset_id=pace, display_name=pace, agents=agents)


def write_scenes(house: Playhouse) -> str:
    gate = {"gate_open": {"value_type": "bool", "default": False, "description": "Is the gate open?"}}
    lamps = {"lamp_oil": {"value_type": "int", "default": 3, "description": "How much oil is left."}}
    skies = {"value_type": "string", "default": "rain", "enum_values": ["rain", "fog", "stars"], "description": "Sky."}
    fields = {**gate, **lamps, "weather": skies}
    house.call("schema.create", schema_id="gate-world", display_name="World", fields=fields)
    house.call("schema.create", schema_id="gate-player", display_name="Player", fields={})
    trust = {"trust": {"value_type": "int", "default": 0, "description": None}}
    house.call("schema.create", schema_id="gate-keeper", display_name="Keeper", fields=trust)
    mara = {"id": "mara", "name": "Mara", "personality": "A wary gatekeeper.", "style": "dry", "system_prompt": ""}
    house.call("character.create", content={**mara, "schema_id": "gate-keeper"})
    resource = house.call("story_resources.create", story_concept="A gate.", character_ids=["mara"])
    story = house.call(
        "story.create",
        resource_id=resource["resource_id"],
        display_name="The Gate",
        graph=GATE_GRAPH,
        world_schema_id="gate-world",
        player_schema_id="gate-player",
        introduction="Rain falls on the old road.",
        common_variables=[{"scope": "world", "key": "lamp_oil", "display_name": "Oil in the lamp", "pinned": True}],
    )
    return str(story["story_id"])


def write_ink(house: Playhouse) -> str:
    return str(house.call("story.create_ink", display_name="The Guard", source=GATE, files={})["story_id"])


# ---- the page, as a player sees it


def open_stage(page: Page, house: Playhouse, session: str) -> Page:
    page.goto(f"{house.address}/app/play/{session}")
    expect(page.locator("main .prose")).to_be_visible()
    return page


def wait_until(page: Page, told: str) -> None:
    """Waits until an expression is true; the page's policy forbids to wait for it inside of the page."""
    until = time.monotonic() + PATIENCE_MS / 1000
    while not page.evaluate(told):
        assert time.monotonic() < until, told
        page.wait_for_timeout(20)


def box(page: Page) -> Locator:
    return page.locator("footer textarea")


def send(page: Page, words: str) -> None:
    box(page).fill(words)
    box(page).press("Enter")


def turns(page: Page) -> Locator:
    return page.locator("article.turn")


def newest(page: Page) -> Locator:
    return turns(page).last


def settled(page: Page) -> None:
    """Waits until the turn is told and its tools are there."""
    expect(newest(page).get_by_role("group", name="For this turn")).to_be_visible()
