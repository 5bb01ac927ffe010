"""Reading on the stage: only the text, bookmarks, long plays, other people, screen readers."""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, Page, Response, expect
from tests.browser.playhouse import Playhouse, box, newest, open_stage, playhouse, send, settled, turns, wait_until
from tests.browser.scene import watch, watched_page
from tests.fork_server import PROGRAM, running_server
from tests.live import gate_session, live_server
from tests.long_play import lengthen
from tests.templates import fill_folder

from fabula.testing.server_process import clean_environment

AXE = Path(__file__).parents[2] / "web" / "node_modules" / "axe-core" / "axe.min.js"
RULES = ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa", "best-practice"]


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Playhouse]:
    with playhouse(tmp_path_factory.mktemp("house")) as opened:
        yield opened


@pytest.fixture(autouse=True)
def good_manners(house: Playhouse) -> None:
    house.players.forgive()
    house.players.narration = None


def test_immersive_hides_everything_but_the_text_and_esc_brings_it_back(page: Page, house: Playhouse) -> None:
    session = house.begin()
    house.say(session, "Good evening.")
    open_stage(page, house, session)
    page.locator("main").focus()
    page.keyboard.press("f")
    expect(page.get_by_role("banner")).to_have_count(0)
    expect(page.get_by_role("navigation", name="Tree of lines")).to_have_count(0)
    expect(box(page)).to_have_count(0)
    expect(turns(page).first).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("banner")).to_be_visible()
    expect(box(page)).to_be_visible()


def test_a_bookmark_with_a_name_is_found_in_the_palette_and_jumped_to(page: Page, house: Playhouse) -> None:
    session = house.begin()
    house.say(session, *[f"line {number}" for number in range(8)])
    open_stage(page, house, session)
    turns(page).nth(1).hover()
    turns(page).nth(1).get_by_role("button", name="Bookmark", exact=True).click()
    page.get_by_label("Name").fill("The cellar")
    page.get_by_role("button", name="Keep it").click()
    expect(turns(page).nth(1).locator(".flag")).to_have_text("The cellar")
    page.keyboard.press("Control+k")
    page.keyboard.type("cellar")
    page.get_by_role("option", name="The cellar").first.click()
    expect(turns(page).nth(1)).to_be_focused()
    expect(turns(page).nth(1).locator(".said")).to_be_in_viewport()


def test_the_address_of_a_bookmark_opens_the_play_there_and_moves_nothing(page: Page, house: Playhouse) -> None:
    session = house.begin()
    house.say(session, *[f"line {number}" for number in range(9)])
    marked = house.lines(session)[0]["turn_id"]
    head = house.call("session.get", session)["head_turn_id"]
    page.goto(f"{house.address}/app/play/{session}#{marked}")
    expect(page.locator(f'article.turn[data-turn="{marked}"]')).to_be_focused()
    house.call("session.backtrack", session, turns=9)
    page.goto(f"{house.address}/app/me")
    page.goto(f"{house.address}/app/play/{session}#{head}")
    expect(page.get_by_text("line 8").first).to_be_visible()
    assert house.call("session.get", session)["turn_index"] == 0


def test_a_dialog_that_asks_for_words_takes_them_at_once(page: Page, house: Playhouse) -> None:
    session = house.begin()
    house.say(session, "Good evening.")
    open_stage(page, house, session)
    page.keyboard.press("Control+Shift+F")
    dialog = page.get_by_role("dialog", name="Find in this play")
    expect(dialog.get_by_label("Words")).to_be_focused()
    page.keyboard.type("evening")
    page.keyboard.press("Enter")
    expect(dialog.get_by_role("button", name="Good evening.")).to_be_visible()
    dialog.get_by_role("button", name="Close").click()
    page.locator("main").focus()
    page.keyboard.press("g")
    expect(page.get_by_role("dialog", name="Go to a turn or bookmark").get_by_label("Turn")).to_be_focused()


def test_who_the_player_could_be_is_shown_whole_on_a_phone(browser: Browser, house: Playhouse) -> None:
    with watched_page(browser, viewport={"width": 360, "height": 640}) as page:
        open_stage(page, house, house.begin())
        page.get_by_role("button", name="Who you are in this play").click()
        shown = page.get_by_role("dialog", name="Who you are in this play")
        expect(shown.get_by_role("listitem").nth(1)).to_be_visible()
        hangs = "document.querySelector('[popover]:popover-open').getBoundingClientRect().bottom > innerHeight"
        wait_until(page, f"!({hangs})")
        assert shown.evaluate("it => it.scrollHeight <= it.clientHeight && it.getBoundingClientRect().top >= 0")


def test_two_browsers_in_one_play_see_the_same_order_and_each_other(
    page: Page, house: Playhouse, browser: Browser
) -> None:
    session = house.begin()
    page.add_init_script("localStorage.setItem('fabula.name', 'Ada')")
    open_stage(page, house, session)
    with watched_page(browser) as other:
        open_stage(other, house, session)
        expect(page.get_by_role("banner").get_by_text("somebody else")).to_be_visible()
        expect(other.get_by_role("banner").get_by_text("Ada")).to_be_visible()
        other.locator("main").focus()
        other.keyboard.press("c")
        other.get_by_role("button", name="Change it").click()
        other.get_by_label("Your name").fill("Ben <b>")
        other.get_by_label("Your name").press("Enter")
        expect(page.get_by_role("banner").get_by_text("Ben <b>")).to_be_visible()
        send(page, "Good evening.")
        settled(page)
        expect(turns(other)).to_have_count(1)
        settled(other)
        send(other, "Who goes there?")
        settled(other)
        expect(turns(page)).to_have_count(2)
        expect(newest(page)).to_contain_text("Who goes there?")
        order = [turns(each).locator(".piece > p").all_inner_texts() for each in (page, other)]
        assert order[0] == order[1] and len(order[0]) >= 4
        assert [line["text"] for line in house.lines(session) if line["kind"] == "player_input"] == [
            "Good evening.",
            "Who goes there?",
        ]
    expect(page.get_by_role("banner").get_by_text("Ben <b>")).to_have_count(0)


def test_a_players_token_shows_the_stage_with_title_cast_and_portraits_and_no_workshop(
    page: Page, tmp_path: Path
) -> None:
    fill_folder(tmp_path, "samples")
    made = subprocess.run(
        [*PROGRAM, "token", "create", "--role", "player", "--json", "--data-dir", str(tmp_path)],
        capture_output=True,
        env=clean_environment(),
        check=True,
        timeout=120,
    )
    token = json.loads(made.stdout)["token"]
    watch(page).expects("401 ")
    with running_server(tmp_path, settings={"FABULA_REQUIRE_TOKENS": "true"}) as address:
        body = {"jsonrpc": "2.0", "id": "1", "method": "story.start_session"}
        asked = {**body, "params": {"story_id": "lighthouse-the-unlit-hour"}}
        found = httpx.post(f"{address}/rpc", json=asked, headers={"authorization": f"Bearer {token}"}, timeout=120)
        page.set_viewport_size({"width": 1440, "height": 900})
        page.goto(f"{address}/app/play/{found.json()['session_id']}")
        page.get_by_label("Access token").fill(token)
        page.get_by_role("button", name="Come in").click()
        expect(page.get_by_role("heading", level=1)).to_contain_text("The Unlit Hour")
        expect(page.get_by_role("heading", level=1)).to_contain_text("The Jetty")
        page.locator("main").focus()
        page.keyboard.press("c")
        panel = page.get_by_role("tabpanel", name="Cast")
        expect(panel.get_by_text("Tobias Finch")).to_be_visible()
        portraits = "[...document.querySelectorAll('[role=tabpanel] img')]"
        wait_until(page, f"{portraits}.some((img) => img.naturalWidth > 0)")
        send(page, "Who are you?")
        settled(page)
        page.keyboard.press("Control+k")
        expect(page.get_by_text("Workshop")).to_have_count(0)
        expect(page.get_by_role("option", name="House")).to_have_count(0)


def test_a_screen_reader_hears_each_finished_speech_once_and_then_whose_turn_it_is(
    page: Page, house: Playhouse
) -> None:
    page.add_init_script("""
      window.heard = [];
      addEventListener("DOMContentLoaded", () => new MutationObserver(() => {
        const text = document.querySelector("[aria-live=polite]")?.textContent.trim();
        if (text && window.heard.at(-1) !== text) window.heard.push(text);
      }).observe(document.body, { subtree: true, childList: true, characterData: true }));
    """)
    session = house.begin()
    open_stage(page, house, session)
    send(page, "Good evening, Mara.")
    settled(page)
    wait_until(page, "window.heard.at(-1) === 'Your turn.'")
    heard = [text for text in page.evaluate("window.heard") if text not in ("Mara answers…", "The story is told…")]
    assert len(heard) == 3
    assert heard[0].startswith("Somewhere a bell rings")
    assert heard[1].startswith("Mara: nods at")


@pytest.mark.skipif(not AXE.is_file(), reason="axe-core is not installed (npm install in web/)")
@pytest.mark.parametrize("paper", ["day", "lamp", "night"])
@pytest.mark.parametrize("width", [360, 1440])
def test_axe_finds_nothing_on_the_stage(browser: Browser, house: Playhouse, paper: str, width: int) -> None:
    session = house.begin()
    house.say(session, "Good evening.", "go on")
    house.call("session.backtrack", session, turns=1)
    house.say(session, "I wait.")
    ink = house.begin(ink=True)
    with watched_page(browser, viewport={"width": width, "height": 800}) as page:
        page.add_init_script(f"localStorage.setItem('fabula.reading', JSON.stringify({{paper: '{paper}'}}))")
        found: list[str] = []
        open_stage(page, house, session)
        send(page, "I look around.") if width > 400 else None
        if width > 400:
            settled(page)
            page.locator("main").focus()
            page.keyboard.press("s")
        found += violations(page)
        page.goto(f"{house.address}/app/play/{session}/tree")
        expect(page.get_by_role("tree")).to_be_visible()
        found += violations(page)
        open_stage(page, house, ink)
        expect(page.get_by_role("button", name="Turn back")).to_be_visible()
        found += violations(page)
        assert found == []


def violations(page: Page) -> list[str]:
    page.evaluate(AXE.read_text("utf-8"))
    answer = page.evaluate("(rules) => axe.run(document, { runOnly: rules })", RULES)
    return [
        f"{one['id']}: {node['html'][:160]} {node['failureSummary'][:200]}"
        for one in answer["violations"]
        for node in one["nodes"]
    ]


def test_a_play_opens_with_its_newest_turns_and_earlier_ones_come_when_they_are_near(
    page: Page, house: Playhouse
) -> None:
    session = house.begin(swift=True)
    house.say(session, *[f"line {number}" for number in range(130)])
    open_stage(page, house, session)
    expect(newest(page)).to_contain_text("line 129")
    assert turns(page).count() <= 100
    page.locator("main").evaluate("(main) => main.scrollTo(0, 0)")
    expect(turns(page).first).to_contain_text("line 0")
    expect(turns(page)).to_have_count(130)


def test_export_as_markdown_contains_every_visible_line_of_this_branch_and_none_of_another(
    page: Page, house: Playhouse
) -> None:
    session = house.begin()
    house.say(session, "I take the left door.")
    house.call("session.backtrack", session, turns=1)
    house.say(session, "I take the right door.", "I go on.")
    open_stage(page, house, session)
    page.get_by_role("button", name="This play", exact=True).click()
    page.get_by_role("menuitem", name="Save as a book (export)").click()
    page.get_by_role("button", name="Save", exact=True).click()
    with page.expect_download() as download:
        page.get_by_role("link", name="Download").click()
    book = Path(download.value.path()).read_text("utf-8")
    for line in house.lines(session):
        assert line["text"] in book
    assert "left door" not in book


def test_words_are_found_in_the_play_and_jumped_to(page: Page, house: Playhouse) -> None:
    session = house.begin()
    house.say(session, "I look for the heron.", *[f"line {number}" for number in range(12)])
    open_stage(page, house, session)
    page.keyboard.press("Control+Shift+f")
    page.get_by_role("searchbox", name="Words").fill("heron")
    page.get_by_role("searchbox", name="Words").press("Enter")
    page.get_by_role("dialog").get_by_role("button", name="heron").first.click()
    expect(page.locator("article.turn:focus")).to_contain_text("heron")


async def write_long_plays(folder: Path, *many: int) -> list[str]:
    """Plays of so many turns, written before the server that the browser sees is started."""
    async with live_server(folder) as client:
        sessions = [await gate_session(client)]
        story_id = (await client.call("session.get", sessions[0]))["story_id"]
        while len(sessions) < len(many):
            sessions.append((await client.call("story.start_session", story_id=story_id))["session_id"])
        for session, turns in zip(sessions, many, strict=True):
            await lengthen(client.house, session, turns)
        return sessions


class Fetched:
    """What a page asks the server for."""

    def __init__(self, page: Page) -> None:
        self._answers: list[Response] = []
        page.on("response", lambda answer: self._answers.append(answer))

    def calls(self) -> list[str]:
        """Methods since the last time."""
        asked = [answer.request.post_data_json["method"] for answer in self._answers if answer.url.endswith("/rpc")]
        self._answers.clear()
        return asked


def test_ten_thousand_turns_cost_what_a_hundred_do_and_going_to_the_first_and_back_does_not_leak(
    page: Page, tmp_path: Path
) -> None:
    # In a thread, because Playwright's own loop runs in this one.
    with ThreadPoolExecutor() as pool:
        short, long = pool.submit(lambda: asyncio.run(write_long_plays(tmp_path, 100, 10_000))).result(120)
    fetched = Fetched(page)
    with running_server(tmp_path) as address:
        opened = {}
        for session, last in ((short, "100"), (long, "10000")):
            page.goto(f"{address}/app/play/{session}")
            expect(newest(page)).to_have_attribute("data-index", last)
            expect(page.get_by_role("navigation", name="Tree of lines")).to_contain_text("turns")
            expect(turns(page)).to_have_count(60)
            page.wait_for_timeout(300)
            opened[session] = (turns(page).count(), nodes(page), sorted(fetched.calls()))
        # The same questions, the same turns, and but for a few numbers the same page.
        assert opened[long][0] == opened[short][0] and opened[long][2] == opened[short][2]
        assert opened[long][1] <= min(6_000, opened[short][1] + 50)
        counted = []
        for _ in range(3):
            page.keyboard.press("Control+k")
            page.keyboard.type("The beginning")
            page.get_by_role("option", name="The beginning").first.click()
            expect(turns(page).first).to_have_attribute("data-index", "1")
            page.get_by_role("button", name="To the newest turn").click()
            expect(newest(page)).to_have_attribute("data-index", "10000")
            page.wait_for_timeout(200)
            counted.append(held(page))
        assert nodes(page) <= 6_000
        assert counted[2]["nodes"] <= counted[1]["nodes"] * 1.1 + 200
        assert counted[2]["jsEventListeners"] <= counted[1]["jsEventListeners"] + 50
        page.goto("about:blank")


def nodes(page: Page) -> int:
    return int(page.evaluate("document.querySelectorAll('*').length"))


def held(page: Page) -> dict[str, int]:
    """What the browser holds of the page after it has thrown away what nobody needs."""
    cdp = page.context.new_cdp_session(page)
    cdp.send("HeapProfiler.collectGarbage")
    counted: dict[str, int] = cdp.send("Memory.getDOMCounters")
    cdp.detach()
    return counted
