"""The shelf and a story's title page in a real browser: going on, searching, bringing files in."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import httpx
from playwright.sync_api import Browser, Page, expect
from tests.browser.scene import call, watch, watched_page
from tests.fork_server import PROGRAM, running_server
from tests.templates import fill_folder

from fabula.testing.server_process import clean_environment


def test_the_shelf_shows_every_story_and_finds_them_by_words(page: Page, address: str) -> None:
    page.goto(address)
    stories = call(address, "story.list")["stories"]
    assert isinstance(stories, list)
    shelf = page.get_by_role("region", name="On the shelf")
    for story in stories:
        expect(shelf.get_by_role("link", name=story["display_name"], exact=True)).to_be_visible()
    page.locator("h1").press("/")
    expect(page.get_by_label("Search the shelf")).to_be_focused()
    page.keyboard.type("unlit")
    expect(shelf.get_by_role("link", name="The Unlit Hour")).to_be_visible()
    expect(shelf.get_by_role("listitem")).to_have_count(1)
    page.get_by_label("Search the shelf").fill("nothing is called that")
    page.get_by_role("button", name="Show everything").click()
    expect(shelf.get_by_role("listitem")).to_have_count(len(stories))


def test_a_play_is_gone_on_with_from_its_last_line(page: Page, address: str) -> None:
    stories = call(address, "story.list")["stories"]
    assert isinstance(stories, list)
    ink = next(story for story in stories if story["kind"] == "ink")
    play = call(address, "story.start_session", story_id=ink["story_id"], display_name="My evening")
    listed = call(address, "session.list", order="updated", limit=1)["sessions"]
    assert isinstance(listed, list) and listed[0]["last_line"]
    page.goto(address)
    expect(page.get_by_role("region", name="Go on playing")).to_contain_text(listed[0]["last_line"][:40])
    page.get_by_role("link", name="Go on: My evening").click()
    page.wait_for_url(f"{address}/app/play/{play['session_id']}")
    page.go_back()
    expect(page.get_by_role("link", name="Go on: My evening")).to_be_visible()


def test_a_title_page_shows_the_story_its_cast_and_its_plays_and_begins_one(page: Page, address: str) -> None:
    page.goto(address)
    shelf = page.get_by_role("region", name="On the shelf")
    shelf.get_by_role("link", name="The Walking Court").click()
    expect(page.get_by_role("heading", name="The Walking Court", level=1)).to_be_visible()
    expect(page).to_have_title("The Walking Court · Fabula")
    expect(page.get_by_role("region", name="The cast").get_by_role("listitem").first).to_be_visible()
    for portrait in page.locator("img").all():
        assert portrait.evaluate("image => image.decode().then(() => image.naturalWidth)") > 0
    page.get_by_text("Who you are, models, seed").click()
    page.get_by_label("Seed").fill("seven")
    expect(page.get_by_text("A seed is a whole number.")).to_be_visible()
    page.get_by_label("Seed").fill("7")
    page.get_by_label("Name of this play").fill("With a seed")
    page.get_by_role("button", name=re.compile("^Begin")).click()
    page.wait_for_url(re.compile(r"/app/play/"))
    page.go_back()
    expect(page.get_by_role("link", name=re.compile("With a seed"))).to_be_visible()


def test_a_story_that_is_gone_is_told_and_leads_to_the_shelf(page: Page, address: str) -> None:
    watch(page).expects("404 ", "400 ")
    page.goto(f"{address}/app/story/no-such-story")
    expect(page.get_by_role("heading", name="There is no such story")).to_be_visible()


def test_files_are_brought_in_or_told_why_not(page: Page, address: str) -> None:
    watch(page).expects("409 ", "400 ")
    package = export(address)
    page.goto(address)
    page.get_by_role("heading", name="Bring in a file").wait_for()
    files = page.locator("input[type=file]")
    files.set_input_files(
        {"name": "the-old_well.ink", "mimeType": "text/plain", "buffer": b"The well is dry.\n* Go home. -> END\n"}
    )
    expect(page.get_by_text("“The old well” is on the shelf.").first).to_be_visible()
    files.set_input_files({"name": "bad.ink", "mimeType": "text/plain", "buffer": b"Hello.\n-> nowhere_at_all\n"})
    expect(page.get_by_role("alert").filter(has_text="bad.ink was not taken in")).to_contain_text("Line 2")
    files.set_input_files({"name": "photo.jpg", "mimeType": "image/jpeg", "buffer": b"x"})
    expect(page.get_by_role("alert").filter(has_text="“photo.jpg” is none of the files")).to_be_visible()
    files.set_input_files({"name": "broken.zip", "mimeType": "application/zip", "buffer": b"no zip"})
    expect(page.get_by_role("alert").filter(has_text="broken.zip was not taken in")).to_be_visible()
    files.set_input_files({"name": "house.zip", "mimeType": "application/zip", "buffer": package})
    page.get_by_role("button", name="Take it under new names").click()
    expect(page.get_by_text(re.compile("house.zip is in: .*1 story")).first).to_be_visible()
    drop(page, "the-pier.ink", "The pier creaks.\n-> END\n")
    expect(page.get_by_text("“The pier” is on the shelf.").first).to_be_visible()


def test_a_character_is_brought_in_without_saying_whom_the_file_holds(page: Page, address: str, tmp_path: Path) -> None:
    archive = httpx.get(f"{address}/download/character:{character_with_cover(address)}/archive").content
    with running_server(tmp_path, settings={"FABULA_SAMPLES": "false"}) as other:
        page.goto(other)
        page.get_by_role("heading", name="Bring in a file").wait_for()
        page.locator("input[type=file]").set_input_files({"name": "someone.chr", "mimeType": "x/y", "buffer": archive})
        expect(page.get_by_text("has joined the cast of the house.").first).to_be_visible()
        page.goto("about:blank")


def test_a_players_token_sees_the_shelf_and_nothing_of_the_house(browser: Browser, tmp_path: Path) -> None:
    fill_folder(tmp_path, "samples")
    made = subprocess.run(
        [*PROGRAM, "token", "create", "--role", "player", "--json", "--data-dir", str(tmp_path)],
        capture_output=True,
        env=clean_environment(),
        check=True,
        timeout=120,
    )
    with (
        running_server(tmp_path, settings={"FABULA_REQUIRE_TOKENS": "true"}) as address,
        watched_page(browser) as page,
    ):
        watch(page).expects("401 ")
        page.goto(address)
        page.get_by_label("Access token").fill(json.loads(made.stdout)["token"])
        page.get_by_role("button", name="Come in").click()
        expect(page.get_by_role("button", name=re.compile("^Begin “"))).to_be_visible()
        rooms = page.get_by_role("navigation", name="Rooms")
        expect(rooms.get_by_role("link")).to_have_text(["Shelf", "Me"])
        expect(page.get_by_text("Bring in a file")).to_have_count(0)
        expect(page.get_by_text("Connect a model")).to_have_count(0)
        page.get_by_role("link", name="The Unlit Hour").first.click()
        page.get_by_role("button", name="Begin").click()
        page.wait_for_url(re.compile(r"/app/play/"))
        page.goto(f"{address}/app/me")
        page.get_by_role("button", name="Leave (forget my token)").click()
        expect(page.get_by_label("Access token")).to_be_visible()


def export(address: str) -> bytes:
    stories = call(address, "story.list")["stories"]
    assert isinstance(stories, list)
    story_id = next(story["story_id"] for story in stories if story["display_name"] == "The Ferry Inn")
    prepared = call(address, "data_package.export_prepare", story_ids=[story_id])
    place = prepared["archive"]
    assert isinstance(place, dict)
    return httpx.get(f"{address}/download/{place['resource_id']}/{place['file_id']}").content


def character_with_cover(address: str) -> str:
    listed = call(address, "character.list")["characters"]
    assert isinstance(listed, list)
    return str(next(one["character_id"] for one in listed if one["cover_file_name"]))


def drop(page: Page, name: str, text: str) -> None:
    """Drops a file onto the page, as from a file manager."""
    carried = page.evaluate_handle(
        """([name, text]) => {
          const carried = new DataTransfer();
          carried.items.add(new File([text], name));
          return carried;
        }""",
        [name, text],
    )
    page.dispatch_event("main", "dragenter", {"dataTransfer": carried})
    expect(page.get_by_text("Let go, and it is put on the shelf")).to_be_visible()
    page.dispatch_event("main", "drop", {"dataTransfer": carried})
