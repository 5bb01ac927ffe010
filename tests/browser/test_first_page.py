"""The first page in a real browser: it shows the server and its stories, on a phone and in the dark too."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright
from tests.fork_server import PROGRAM, running_server
from tests.templates import fill_folder

from fabula.server.web import is_built
from fabula.testing.server_process import clean_environment

CHROMIUM = shutil.which("chromium")
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed (apt-get install chromium)"),
    pytest.mark.skipif(not is_built(), reason="the browser app is not built (make web)"),
]
NODE = {"id": "pier", "title": "The pier", "scene": "Fog.", "goal": "Find the boat.", "characters": ["ada"]}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running_server(fill_folder(tmp_path_factory.mktemp("house"), "samples")) as found:
        write_story(found)
        yield found


def write_story(address: str) -> None:
    nothing: dict[str, object] = {}
    call(address, "schema.create", schema_id="plain", display_name="Plain", fields=nothing)
    content = {
        "id": "ada",
        "name": "Ada",
        "personality": "calm",
        "style": "short",
        "schema_id": "plain",
        "system_prompt": "",
        "tags": [],
        "folder": "",
    }
    call(address, "character.create", content=content)
    made = call(address, "story_resources.create", story_concept="A harbour.", character_ids=["ada"])
    graph = {"start_node": "pier", "nodes": [{**NODE, "transitions": [], "on_enter_updates": []}]}
    call(
        address,
        "story.create",
        resource_id=made["resource_id"],
        display_name="The Fog Harbour",
        graph=graph,
        world_schema_id="plain",
        player_schema_id="plain",
        introduction="The bell rings <twice>.",
    )


def call(address: str, method: str, **params: object) -> dict[str, str]:
    answer = httpx.post(
        f"{address}/rpc", json={"jsonrpc": "2.0", "id": "1", "method": method, "params": params}, timeout=30
    ).json()
    assert "result" in answer, answer
    return dict(answer["result"])


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context()
    opened = context.new_page()
    said: list[str] = []
    opened.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
    opened.on("pageerror", lambda error: said.append(str(error)))
    yield opened
    context.close()
    assert [line for line in said if not line.startswith("Failed to load resource")] == []


def test_the_page_shows_the_servers_state_and_every_story(page: Page, address: str) -> None:
    page.goto(address)
    expect(page.get_by_role("heading", name="Fabula", level=1)).to_be_visible()
    expect(page.get_by_text("The server is running.")).to_be_visible()
    for story in call(address, "story.list")["stories"]:
        expect(page.get_by_role("heading", name=story["display_name"], exact=True)).to_be_visible()
    expect(page.get_by_text("The bell rings <twice>.")).to_be_visible()


def test_the_page_says_that_the_understudy_plays_until_a_model_is_connected(page: Page, address: str) -> None:
    page.goto(address)
    expect(page.get_by_text("The understudy tells the stories for now")).to_be_visible()


def test_colours_can_be_changed_and_are_remembered(page: Page, address: str) -> None:
    page.goto(address)
    paper = "getComputedStyle(document.body).backgroundColor"
    page.get_by_role("button", name="Colours").click()
    light = page.evaluate(paper)
    page.get_by_role("button", name="Colours").click()
    dark = page.evaluate(paper)
    assert light != dark
    page.reload()
    expect(page.get_by_role("button", name="Colours: dark")).to_be_visible()
    assert page.evaluate(paper) == dark


def test_on_a_phone_nothing_is_cut_off(page: Page, address: str) -> None:
    page.set_viewport_size({"width": 360, "height": 700})
    page.goto(address)
    expect(page.get_by_text("The server is running.")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_a_server_with_tokens_asks_who_is_there(page: Page, tmp_path: Path) -> None:
    made = subprocess.run(
        [*PROGRAM, "token", "create", "--role", "player", "--json", "--data-dir", str(tmp_path)],
        capture_output=True,
        env=clean_environment(),
        check=True,
        timeout=120,
    )
    with running_server(tmp_path, settings={"FABULA_REQUIRE_TOKENS": "true"}) as address:
        page.goto(address)
        page.get_by_label("Access token").fill("nonsense")
        page.get_by_role("button", name="Come in").click()
        expect(page.get_by_text("unknown or revoked")).to_be_visible()
        page.get_by_label("Access token").fill(json.loads(made.stdout)["token"])
        page.get_by_role("button", name="Come in").click()
        expect(page.get_by_text("The server is running.")).to_be_visible()


def test_a_server_that_does_not_answer_is_told_plainly(page: Page, address: str) -> None:
    page.route("**/rpc", lambda route: route.abort())
    page.goto(address)
    expect(page.get_by_role("alert")).to_contain_text("The server does not answer.")
    page.unroute("**/rpc")
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_text("The server is running.")).to_be_visible()
