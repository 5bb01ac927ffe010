"""Palette, keys, reading settings and the house, in a real browser."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page, expect
from tests.browser.scene import call, watch, watched_page
from tests.fork_server import running_server


@contextmanager
def scripted_model() -> Iterator[str]:
    respond = "fabula.testing.model_script:sound_model"
    command = [sys.executable, "-m", "fabula.testing.model_server", "--respond", respond]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
    finally:
        process.terminate()
        process.wait()


def ready(page: Page, address: str, path: str = "/") -> None:
    page.goto(address + path)
    page.get_by_role("navigation", name="Rooms").wait_for()
    page.locator("main h1").first.wait_for(state="attached")


def test_the_palette_goes_anywhere_and_does_things_by_keyboard_alone(page: Page, address: str) -> None:
    ready(page, address)
    page.keyboard.press("Control+k")
    box = page.get_by_role("combobox", name="Go anywhere, do anything")
    expect(box).to_be_focused()
    page.keyboard.type("unlit")
    expect(page.get_by_role("option", selected=True)).to_contain_text("The Unlit Hour")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="The Unlit Hour", level=1)).to_be_visible()
    page.keyboard.press("Control+k")
    page.keyboard.type("night")
    page.keyboard.press("Enter")
    expect(page.locator("html[data-paper=night]")).to_be_attached()
    page.keyboard.press("Control+k")
    page.keyboard.type("zzzz")
    expect(page.get_by_text("Nothing is called that.")).to_be_visible()
    page.keyboard.press("Escape")
    expect(box).to_be_hidden()


def test_a_play_is_found_in_the_palette(page: Page, address: str) -> None:
    stories = call(address, "story.list")["stories"]
    assert isinstance(stories, list)
    made = call(address, "story.start_session", story_id=stories[0]["story_id"], display_name="Rain on Tuesday")
    ready(page, address)
    page.keyboard.press("Control+k")
    page.keyboard.type("rain tu")
    page.get_by_role("option", name=re.compile("Rain on Tuesday")).click()
    page.wait_for_url(f"{address}/app/play/{made['session_id']}")


def test_the_palette_finds_plays_that_are_no_longer_among_the_newest(page: Page, tmp_path: Path) -> None:
    with running_server(tmp_path) as address:
        stories = call(address, "story.list")["stories"]
        assert isinstance(stories, list)
        story = next(story["story_id"] for story in stories if story["kind"] == "ink")
        old = call(address, "story.start_session", story_id=story, display_name="Quinces in October")
        for number in range(26):
            call(address, "story.start_session", story_id=story, display_name=f"Evening {number}")
        ready(page, address)
        page.keyboard.press("Control+k")
        page.keyboard.type("quinces")
        page.get_by_role("option", name=re.compile("Quinces in October")).click()
        page.wait_for_url(f"{address}/app/play/{old['session_id']}")
        page.goto("about:blank")


def test_keys_are_shown_and_a_dialog_gives_the_focus_back(page: Page, address: str) -> None:
    ready(page, address)
    opener = page.get_by_role("button", name="Keys", exact=True)
    opener.focus()
    page.keyboard.press("?")
    sheet = page.get_by_role("dialog", name="Keys")
    expect(sheet).to_contain_text("Go anywhere, do anything")
    page.keyboard.press("Escape")
    expect(sheet).to_be_hidden()
    expect(opener).to_be_focused()


def test_a_single_letter_never_takes_what_is_typed(page: Page, address: str) -> None:
    ready(page, address)
    page.get_by_label("Search the shelf").focus()
    page.keyboard.type("what? /")
    expect(page.get_by_label("Search the shelf")).to_have_value("what? /")
    expect(page.get_by_role("dialog", name="Keys")).to_have_count(0)


def test_keys_can_be_changed_and_are_kept(page: Page, address: str) -> None:
    ready(page, address, "/app/me")
    change = page.get_by_role("button", name="Change the keys for: Go anywhere, do anything")
    change.click()
    page.keyboard.press("p")
    expect(page.get_by_role("cell", name="A single letter would be swallowed")).to_be_visible()
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("cell", name="is taken by “Tell the last turn again (regenerate)”")).to_be_visible()
    page.keyboard.press("Control+j")
    page.reload()
    page.get_by_role("navigation", name="Rooms").wait_for()
    page.keyboard.press("Control+j")
    expect(page.get_by_role("combobox")).to_be_focused()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="All keys as they were").click()
    page.keyboard.press("Control+k")
    expect(page.get_by_role("combobox")).to_be_focused()


def test_reading_settings_change_the_text_and_are_kept(page: Page, address: str) -> None:
    ready(page, address, "/app/me")
    sample = page.get_by_role("group", name="Sample")
    before = sample.evaluate("one => [getComputedStyle(one).fontSize, getComputedStyle(one).fontFamily]")
    page.get_by_role("radio", name="30").check()
    page.get_by_role("radio", name="Clear letters").check()
    page.reload()
    after = sample.evaluate("one => [getComputedStyle(one).fontSize, getComputedStyle(one).fontFamily]")
    assert before[0] == "21px" and after[0] == "30px"
    assert "Atkinson" in after[1] and "Atkinson" not in before[1]


def test_the_language_changes_at_once_and_is_kept(page: Page, address: str) -> None:
    ready(page, address, "/app/me")
    page.get_by_role("radio", name="Deutsch").check()
    expect(page.get_by_role("navigation", name="Räume")).to_be_visible()
    page.goto(address)
    expect(page.get_by_role("heading", name="Im Regal")).to_be_visible()
    assert page.evaluate("document.documentElement.lang") == "de"


def test_a_browser_in_german_is_greeted_in_german(browser: Browser, address: str) -> None:
    with watched_page(browser, locale="de-DE") as page:
        page.goto(address)
        expect(page.get_by_role("heading", name="Im Regal")).to_be_visible()


def test_the_house_says_how_it_is_and_what_to_do_next(page: Page, address: str) -> None:
    ready(page, address, "/app/house")
    expect(page.get_by_text("The store answers (SQLite).")).to_be_visible()
    expect(page.get_by_text("The understudy tells all stories")).to_be_visible()
    expect(page.get_by_text("Connect a model below")).to_be_visible()
    page.get_by_role("button", name=re.compile("^Test ")).first.click()
    expect(page.get_by_text(re.compile("streams, keeps to JSON"))).to_be_visible()


def test_a_house_that_was_not_ready_says_so_when_it_is_without_being_opened_again(page: Page, address: str) -> None:
    loads = {"status": "not ready", "reason": "The server still loads what the first turn needs."}
    page.route("**/readyz", lambda route: route.fulfill(status=503, json=loads))
    page.add_init_script("Element.prototype.scrollIntoView = () => { window.scrolls = (window.scrolls ?? 0) + 1 }")
    ready(page, address, "/app/house#models")
    expect(page.get_by_text(re.compile("still loads what the first turn needs"))).to_be_visible()
    for _ in range(2):
        with page.expect_response("**/readyz"):
            pass
    assert page.evaluate("window.scrolls") == 1, "the page stays where its reader scrolled"
    page.unroute("**/readyz")
    expect(page.get_by_text(re.compile("still loads what the first turn needs"))).to_have_count(0)
    expect(page.get_by_text("The store answers (SQLite).")).to_be_visible()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.wait_for_timeout(2500)
    assert not asked, "who is ready is asked no more"


def test_a_model_is_connected_tested_used_and_forgotten_without_the_terminal(page: Page, tmp_path: Path) -> None:
    with scripted_model() as base_url, running_server(tmp_path) as address:
        ready(page, address, "/app/house")
        page.get_by_label("Address", exact=True).fill("http://127.0.0.1:9/v1")
        page.get_by_label("Model", exact=True).fill("scripted-small")
        page.get_by_role("button", name="Try it and use it").click()
        expect(page.get_by_role("alert").filter(has_text="Nothing was changed")).to_be_visible()
        page.get_by_label("Address", exact=True).fill(base_url)
        page.get_by_role("button", name="Try it and use it").click()
        expect(page.get_by_text("New plays are told by scripted-small.")).to_be_visible()
        page.get_by_role("button", name="Test scripted-small").click()
        expect(page.get_by_text(re.compile("^First word after"))).to_be_visible()
        page.get_by_role("button", name="Forget scripted-small").click()
        page.get_by_role("dialog").get_by_role("button", name="Forget it").click()
        expect(page.get_by_text("The understudy tells all stories")).to_be_visible()
        page.goto("about:blank")


def test_a_page_whose_code_cannot_be_fetched_says_so(page: Page, address: str) -> None:
    watch(page).expects("/assets/Me-", "dynamically imported module")
    ready(page, address)
    page.route("**/assets/Me-*.js", lambda route: route.abort())
    page.get_by_role("link", name="Me", exact=True).click()
    expect(page.get_by_role("alert").filter(has_text="This page could not be fetched")).to_be_visible()
    page.unroute("**/assets/Me-*.js")
    page.get_by_role("button", name="Load again").click()
    expect(page.get_by_role("heading", name="Me", level=1)).to_be_visible()


def test_a_link_with_a_modifier_opens_a_tab_of_its_own(page: Page, address: str) -> None:
    ready(page, address)
    with page.context.expect_page() as opened:
        page.get_by_role("link", name="Me", exact=True).click(modifiers=["Control"])
    assert opened.value.url == f"{address}/app/me"
    assert page.url == f"{address}/"
