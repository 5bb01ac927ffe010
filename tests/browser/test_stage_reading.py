"""Reading on the stage: only the text, bookmarks, long plays, other people, screen readers and hostile texts."""

from __future__ import annotations

import asyncio
import json
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect
from tests.browser.playhouse import Playhouse, box, newest, open_stage, playhouse, send, settled, turns, wait_until
from tests.browser.scene import watch, watched_page
from tests.fork_server import PROGRAM, running_server
from tests.live import gate_session, live_server
from tests.long_play import lengthen
from tests.templates import fill_folder

from fabula.testing.model_script import Say
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


def test_a_second_browser_sees_the_turns_of_the_first_in_the_same_order(
    page: Page, house: Playhouse, browser: Browser
) -> None:
    session = house.begin()
    open_stage(page, house, session)
    with watched_page(browser) as other:
        open_stage(other, house, session)
        send(page, "Good evening.")
        settled(page)
        expect(turns(other)).to_have_count(1, timeout=15_000)
        settled(other)
        send(other, "Who goes there?")
        settled(other)
        expect(turns(page)).to_have_count(2, timeout=15_000)
        expect(newest(page)).to_contain_text("Who goes there?")
        order = [turns(each).locator(".piece").all_inner_texts() for each in (page, other)]
        assert [text.split("\n")[0] for text in order[0]] == [text.split("\n")[0] for text in order[1]]


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
        found = httpx.post(f"{address}/rpc", json=asked, headers={"authorization": f"Bearer {token}"}, timeout=30)
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


MARKUP = [
    "<script>document.title = 'taken'</script>",
    "<svg onload=\"document.title='taken'\"></svg>",
    "<iframe src='javascript:alert(1)'></iframe>",
    "<object data='x'></object><embed src='x'>",
    "<form action='https://example.org'><input name=a></form>",
    "<base href='https://example.org/'>",
    "<meta http-equiv=refresh content='0;url=https://example.org'>",
    "<link rel=stylesheet href='https://example.org/x.css'>",
    "<video src=x onerror=alert(1)></video>",
    "<details open ontoggle=alert(1)><summary>x</summary></details>",
    "<math><mtext><style><img src=x onerror=alert(1)></style></mtext></math>",
    "<noscript><p title='</noscript><img src=x onerror=alert(1)>'></noscript>",
    "<template><script>alert(1)</script></template>",
    "<!-- --><script>alert(1)</script><!-- -->",
    "]]><script>alert(1)</script><![CDATA[",
    "&lt;b&gt; &amp; &#60;script&#62; &#x202e;",
    "<b style='position:fixed;inset:0;background:red'>over all</b>",
    "javascript:alert(1) data:text/html,<script>alert(1)</script>",
    "![picture](https://example.org/x.png) [link](https://example.org)",
    "# heading\n- list\n> quote\n```code```",
    "{#if true}{@html '<i>x</i>'}{/if}",
    "<%= 7 * 7 %> #{7 * 7} {{constructor.constructor('alert(1)')()}}",
    "' OR 1=1; DROP TABLE turns; --",
    '\r\nevent: message\r\ndata: {"type": "completed"}\r\n\r\n',
    "id: 99\nretry: 1\n: comment",
    "\u2028line\u2029paragraph\u0085next",
    "\u202eright to left\u202c \u2066isolate\u2069 \u200fmark",
    "zero\u200bwidth\u200cjoin\u200der\ufeff",
    "\u0301\u0302\u0303" * 60 + " combining",
    "🏴\u200d☠️👩‍👩‍👧‍👦" * 40,
    "\x1b[31mred\x1b[0m \x07\x08",
]
"""With those below, forty texts that are meant to be anything but text."""

HOSTILE = [
    "<script>document.title = 'taken'</script>",
    "<img src=x onerror=alert(1)>",
    "<style>body { display: none }</style>",
    "[a link](javascript:alert(1)) <a href='https://example.org'>out</a>",
    "{@html '<b>bold</b>'} {{char}} ${window}",
    "\u202egnp.exe\u202c \u0000\u0007 zero\u200bwidth",
    "*" * 400 + '"' * 400 + "“" * 400,
    "".join(Random(7).choices("abcdefghijklmnopqrstuvwxyz", k=3000)),
    "漢字かな交じり文 العربية עברית",
]


def test_markup_in_names_titles_lines_and_replies_shows_as_text(page: Page, house: Playhouse) -> None:
    session = house.begin()
    open_stage(page, house, session)
    house.players.narration = Say(text=" ".join(f"It begins. {text} It ends." for text in MARKUP))
    send(page, " ".join(text.replace("\n", " ").replace("\r", " ") for text in MARKUP[:12]))
    settled(page)
    house.call("session.update", session, display_name=MARKUP[0] + MARKUP[16])
    profile = {"player_profile_id": "hostile", "display_name": MARKUP[1], "description": MARKUP[2]}
    house.call("player_profile.create", **profile)
    house.call("session.set_player_profile", session, player_profile_id="hostile")
    open_stage(page, house, session)
    told = page.locator("article.turn")
    expect(told.last).to_contain_text("<iframe src='javascript:alert(1)'></iframe>")
    assert told.locator("script, iframe, object, embed, form, svg[onload], base, link, video, template, a").count() == 0
    assert page.title() != "taken"
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_texts_show_as_text(page: Page, house: Playhouse, text: str) -> None:
    session = house.begin()
    open_stage(page, house, session)
    house.players.narration = Say(text=f"It begins. {text} It ends.")
    send(page, text.replace("\u0000", ""))
    settled(page)
    expect(newest(page)).to_contain_text("It ends.")
    assert newest(page).locator("script, img, style, a").count() == 0
    assert page.title() != "taken"
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


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
    began = time.monotonic()
    open_stage(page, house, session)
    expect(newest(page)).to_contain_text("line 129")
    assert time.monotonic() - began < 5
    assert turns(page).count() <= 100
    page.locator("main").evaluate("(main) => main.scrollTo(0, 0)")
    expect(turns(page).first).to_contain_text("line 0", timeout=20_000)
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


async def write_long_play(folder: Path, many: int) -> str:
    """A play of so many turns, written before the server that the browser sees is started."""
    async with live_server(folder) as client:
        session = await gate_session(client)
        await lengthen(client.house, session, many)
        return session


def test_ten_thousand_turns_open_within_the_budget_and_going_to_the_first_and_back_does_not_leak(
    page: Page, tmp_path: Path
) -> None:
    # In a thread, because Playwright's own loop runs in this one.
    with ThreadPoolExecutor() as pool:
        session = pool.submit(lambda: asyncio.run(write_long_play(tmp_path, 10_000))).result(120)
    with running_server(tmp_path) as address:
        page.goto(f"{address}/")
        page.goto(f"{address}/app/play/{session}")
        expect(newest(page)).to_be_visible()
        opened = page.evaluate("performance.now()")
        expect(page.get_by_role("navigation", name="Tree of lines")).to_contain_text("turns")
        assert page.evaluate("document.querySelectorAll('*').length") <= 6_000
        assert opened < 4_000, opened
        page.keyboard.press("Control+k")
        page.keyboard.type("The beginning")
        page.get_by_role("option", name="The beginning").first.click()
        expect(turns(page).first).to_have_attribute("data-index", "1")
        page.get_by_role("button", name="To the newest turn").click()
        expect(newest(page)).to_have_attribute("data-index", "10000")
        assert page.evaluate("document.querySelectorAll('*').length") <= 6_000
