"""The frame of the app in a real browser: rooms, papers, door, and what it says when something is in the way."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from tests.browser.scene import watch
from tests.fork_server import PROGRAM, running_server

from fabula.testing.server_process import clean_environment

_DESK = "getComputedStyle(document.documentElement).backgroundColor"


def test_a_paper_is_chosen_and_is_there_from_the_first_paint(page: Page, address: str) -> None:
    page.goto(address)
    page.get_by_role("button", name="Reading").click()
    page.get_by_role("radio", name="Day").check()
    day = page.evaluate(_DESK)
    page.get_by_role("radio", name="Lamp").check()
    lamp = page.evaluate(_DESK)
    page.get_by_role("radio", name="Night").check()
    night = page.evaluate(_DESK)
    assert len({day, lamp, night}) == 3
    page.reload(wait_until="commit")
    page.wait_for_selector("html[data-paper=night]", state="attached")
    page.wait_for_load_state()
    assert page.evaluate(_DESK) == night


def test_a_server_that_does_not_answer_is_told_plainly(page: Page, address: str) -> None:
    watch(page).expects("/rpc")
    page.route("**/rpc", lambda route: route.abort())
    page.goto(address)
    expect(page.get_by_role("alert").filter(has_text="The server does not answer.")).to_be_visible()
    page.unroute("**/rpc")
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("navigation", name="Rooms")).to_be_visible()


def test_an_address_with_nothing_behind_it_leads_back_to_the_shelf(page: Page, address: str) -> None:
    page.goto(f"{address}/app/no/such/place")
    expect(page.get_by_role("heading", name="There is no such page")).to_be_visible()
    page.get_by_role("link", name="To the shelf", exact=True).click()
    page.wait_for_url(f"{address}/")


@pytest.mark.parametrize("role", ["player", "admin"])
def test_a_server_with_tokens_asks_who_is_there(page: Page, tmp_path: Path, role: str) -> None:
    made = subprocess.run(
        [*PROGRAM, "token", "create", "--role", role, "--json", "--data-dir", str(tmp_path)],
        capture_output=True,
        env=clean_environment(),
        check=True,
        timeout=120,
    )
    watch(page).expects("401 ")
    with running_server(tmp_path, settings={"FABULA_REQUIRE_TOKENS": "true"}) as address:
        page.goto(f"{address}/app/house")
        page.get_by_label("Access token").fill("nonsense")
        page.get_by_role("button", name="Come in").click()
        expect(page.get_by_text("unknown or revoked")).to_be_visible()
        page.get_by_label("Access token").fill(json.loads(made.stdout)["token"])
        page.get_by_role("button", name="Come in").click()
        rooms = page.get_by_role("navigation", name="Rooms")
        if role == "admin":
            expect(rooms.get_by_role("link", name="House")).to_be_visible()
        else:
            expect(page.get_by_text("This room is not open to you")).to_be_visible()
            expect(rooms.get_by_role("link", name="House")).to_have_count(0)
        assert page.evaluate("document.cookie") == ""
        assert page.evaluate("JSON.stringify([localStorage, sessionStorage])").count("fab_") == 0


def test_the_first_load_brings_few_fonts_and_is_soon_there(page: Page, address: str) -> None:
    page.goto(address)
    page.get_by_role("heading", name="On the shelf").wait_for()
    page.wait_for_load_state("networkidle")
    fetched = page.evaluate(
        "performance.getEntriesByType('resource').map((one) => [new URL(one.name).pathname, one.decodedBodySize])"
    )
    fonts = {path: size for path, size in fetched if path.endswith(".woff2")}
    assert sum(fonts.values()) <= 140 * 1024, fonts
    assert len(fonts) <= 4, fonts


def test_a_page_that_is_gone_back_to_stands_where_it_was_left(page: Page, address: str) -> None:
    page.set_viewport_size({"width": 700, "height": 500})
    page.goto(f"{address}/app/me")
    page.get_by_role("heading", name="Who you are here").wait_for()
    page.evaluate("scrollTo(0, 900)")
    page.evaluate("document.querySelector('header nav a').click()")
    page.get_by_role("heading", name="On the shelf").wait_for()
    assert page.evaluate("scrollY") == 0
    page.go_back()
    page.get_by_role("heading", name="Who you are here").wait_for()
    page.wait_for_function("scrollY > 800")
