"""Turns on the stage: words that appear while they are told, a view that holds still, stopping, failing, tellings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from tests.browser.playhouse import (
    LONG,
    SLOW,
    Playhouse,
    box,
    newest,
    open_stage,
    playhouse,
    send,
    settled,
    turns,
)
from tests.fork_server import running_server
from tests.templates import fill_folder

from fabula.testing.model_script import Fail, Pace, Say

SCROLLED = "document.querySelector('main.scroll').scrollTop"

# Every height that the foot of the page has had.
WATCH_THE_FOOT = """() => {
  const foot = document.querySelector("footer.composer");
  window.heights = new Set();
  new ResizeObserver(() => window.heights.add(foot.offsetHeight)).observe(foot);
}"""


A_PIXEL = 1.01
"""Heights are fractions of a pixel: the browser may round what it scrolls by the other way when it lays out anew."""


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Playhouse]:
    with playhouse(tmp_path_factory.mktemp("house"), FABULA_MODEL_ATTEMPTS="1") as opened:
        yield opened


@pytest.fixture(autouse=True)
def good_manners(house: Playhouse) -> None:
    house.players.forgive()
    house.players.pace = None
    house.players.narration = None


def test_a_stranger_plays_the_first_turn_of_a_sample_within_three_clicks_of_an_empty_server(
    page: Page, tmp_path: Path
) -> None:
    page.add_init_script("addEventListener('click', () => sessionStorage.n = Number(sessionStorage.n ?? 0) + 1, true)")
    with running_server(fill_folder(tmp_path, "samples")) as address:
        page.goto(address)
        page.get_by_role("button", name=re.compile("^Begin “")).click()
        page.wait_for_url(re.compile(r"/app/play/"))
        page.get_by_role("textbox").click()
        page.keyboard.type("Hello. Who are you?")
        page.get_by_role("button", name="Send").click()
        turn = page.locator("article.turn").last
        expect(turn.get_by_role("group", name="For this turn")).to_be_visible()
        expect(turn.locator(".said")).to_contain_text("Hello. Who are you?")
        expect(turn.locator(".piece").first).not_to_be_empty()
        assert page.evaluate("Number(sessionStorage.n)") <= 3
        page.goto("about:blank")


def test_words_appear_while_the_model_still_writes_and_the_line_that_is_being_read_does_not_move(
    page: Page, house: Playhouse
) -> None:
    session = house.begin()
    house.say(session, "Good evening.", "I wait.")
    open_stage(page, house, session)
    house.players.narration = Say(text=LONG, pace=Pace(first_token_ms=20, tokens_per_second=150))
    send(page, "I listen to the bell.")
    expect(newest(page)).to_contain_text("the 3th time")
    top, scrolled = top_of_said(page), page.evaluate(SCROLLED)
    assert newest(page).get_attribute("aria-busy") == "true"
    expect(newest(page)).to_contain_text("the 50th time")
    assert top_of_said(page) == pytest.approx(top, abs=A_PIXEL)
    assert page.evaluate(SCROLLED) == pytest.approx(scrolled, abs=A_PIXEL)
    expect(page.get_by_role("button", name="More below")).to_be_visible()
    settled(page)
    assert top_of_said(page) == pytest.approx(top, abs=A_PIXEL)


def top_of_said(page: Page) -> float:
    place = newest(page).locator(".said").bounding_box()
    assert place is not None
    return place["y"]


def test_the_foot_of_the_page_keeps_its_place_from_sending_to_the_end_of_a_turn(page: Page, house: Playhouse) -> None:
    session = house.begin()
    open_stage(page, house, session)
    page.evaluate(WATCH_THE_FOOT)
    house.players.misbehave("actor", Say(text=f"<dialogue>{LONG}</dialogue>", pace=SLOW))
    send(page, "Good evening.")
    expect(newest(page).locator(".speech")).to_contain_text("The bell")
    keep = page.get_by_role("button", name="Stop and keep this")
    for width in (1440, 820, 360):
        page.set_viewport_size({"width": width, "height": 740})
        button, manner = keep.bounding_box(), page.locator(".manners label").last.bounding_box()
        assert button is not None
        assert manner is not None
        assert manner["x"] + manner["width"] <= button["x"]
        assert button["x"] + button["width"] <= width
    keep.click()
    settled(page)
    assert page.evaluate("window.heights.size") == 1


def test_follow_the_text_follows_and_lets_go_at_the_first_turn_of_the_wheel(page: Page, house: Playhouse) -> None:
    page.add_init_script("localStorage.setItem('fabula.reading', JSON.stringify({scroll: 'follow'}))")
    session = house.begin()
    open_stage(page, house, session)
    house.players.narration = Say(text=LONG, pace=Pace(first_token_ms=20, tokens_per_second=120))
    send(page, "I listen to the bell.")
    expect(newest(page)).to_contain_text("the 30th time")
    followed = page.evaluate(SCROLLED)
    assert followed > 200
    page.mouse.move(600, 300)
    page.mouse.wheel(0, -120)
    page.wait_for_timeout(200)
    left = page.evaluate(SCROLLED)
    expect(newest(page)).to_contain_text("the 50th time")
    assert page.evaluate(SCROLLED) == left


# Looks at the page in the second frame after a click on Stop: a frame is what a reader sees.
STOPPED = """() => new Promise((resolve) => addEventListener("click", () =>
  requestAnimationFrame(() => requestAnimationFrame(() => resolve({
    box: document.querySelector("footer textarea").value,
    shown: [...document.querySelectorAll("article.turn")].at(-1).querySelector(".narration").innerText,
    said: document.querySelector("[role=feed]").innerText,
  }))), { once: true, capture: true }))"""


def test_stop_takes_effect_within_two_frames_and_the_words_come_back_to_the_box(page: Page, house: Playhouse) -> None:
    session = house.begin()
    open_stage(page, house, session)
    house.players.narration = Say(text=LONG, pace=Pace(first_token_ms=20, tokens_per_second=60))
    send(page, "I listen to the bell.")
    expect(newest(page)).to_contain_text("The bell tolls")
    expect(box(page)).to_have_value("")
    page.evaluate(f"window.stopped = ({STOPPED})(); undefined")
    page.get_by_role("button", name="Stop", exact=True).click()
    seen = page.evaluate("window.stopped")
    assert seen["box"] == "I listen to the bell."
    assert "Stopped. It is not part of the story." in seen["said"]
    # Nothing is told after that, although the model would have gone on.
    page.wait_for_timeout(700)
    assert newest(page).locator(".narration").inner_text() == seen["shown"]
    page.get_by_role("button", name="Other words").click()
    expect(turns(page)).to_have_count(0)
    assert house.lines(session) == []


def test_a_failed_turn_says_why_and_again_plays_the_same_words(page: Page, house: Playhouse) -> None:
    session = house.begin()
    open_stage(page, house, session)
    house.players.misbehave("narrator", Fail(status=500))
    send(page, "I listen to the bell.")
    expect(page.get_by_role("feed").get_by_text("The turn failed:")).to_be_visible()
    expect(box(page)).to_have_value("I listen to the bell.")
    page.get_by_role("group", name="The turn could not be told.").get_by_role(
        "button", name="Again", exact=True
    ).click()
    settled(page)
    said = [line["text"] for line in house.lines(session) if line["kind"] == "player_input"]
    assert said == ["I listen to the bell."]


def test_a_failed_turn_can_be_played_by_the_understudy(page: Page, house: Playhouse) -> None:
    session = house.begin()
    open_stage(page, house, session)
    house.players.misbehave("narrator", Fail(status=500))
    send(page, "I look around.")
    page.get_by_role("button", name="With the understudy").click()
    settled(page)
    expect(newest(page)).to_contain_text("I look around.")


def test_telling_again_makes_two_of_two_and_the_left_arrow_returns_the_first_byte_for_byte(
    page: Page, house: Playhouse
) -> None:
    session = house.begin()
    open_stage(page, house, session)
    send(page, "Good evening, Mara.")
    settled(page)
    first = newest(page).locator(".piece").all_inner_texts()
    newest(page).get_by_role("button", name="Tell it again (regenerate)").click()
    expect(newest(page).get_by_text("2/2", exact=True)).to_be_visible()
    page.locator("main").focus()
    page.keyboard.press("ArrowLeft")
    expect(newest(page).get_by_text("1/2", exact=True)).to_be_visible()
    assert newest(page).locator(".piece").all_inner_texts() == first


def test_stop_and_keep_leaves_what_was_told_in_the_story(page: Page, house: Playhouse) -> None:
    session = house.begin()
    open_stage(page, house, session)
    house.players.misbehave("actor", Say(text=f"<dialogue>{LONG}</dialogue>", pace=SLOW))
    send(page, "Good evening, Mara.")
    expect(newest(page).locator(".speech")).to_contain_text("The bell")
    page.get_by_role("button", name="Stop and keep this").click()
    settled(page)
    expect(newest(page).get_by_text("cut short here")).to_be_visible()
    kept = house.lines(session)
    assert [line["kind"] for line in kept][:2] == ["player_input", "narration"]
    expect(newest(page)).to_contain_text(kept[1]["text"])
    expect(box(page)).to_have_value("")


def test_say_it_differently_leaves_the_old_line_in_the_tree(page: Page, house: Playhouse) -> None:
    session = house.begin()
    open_stage(page, house, session)
    send(page, "I knock.")
    settled(page)
    send(page, "I wait.")
    expect(turns(page)).to_have_count(2)
    settled(page)
    turns(page).first.hover()
    turns(page).first.get_by_role("button", name="Edit").click()
    page.get_by_label("You", exact=True).fill("I shout.")
    page.get_by_role("button", name="Say it differently").click()
    expect(turns(page)).to_have_count(1)
    settled(page)
    expect(newest(page).get_by_text("2/2", exact=True)).to_be_visible()
    expect(newest(page).locator(".said")).to_contain_text("I shout.")
    page.locator("main").focus()
    page.keyboard.press("ArrowLeft")
    expect(turns(page)).to_have_count(2)
    expect(turns(page).first.locator(".said")).to_contain_text("I knock.")


def test_a_turn_is_told_again_with_a_wish(page: Page, house: Playhouse) -> None:
    session = house.begin()
    open_stage(page, house, session)
    send(page, "I knock.")
    settled(page)
    newest(page).get_by_role("button", name="More for this turn").click()
    page.get_by_role("menuitem", name="Tell it again with a wish…").click()
    page.get_by_label("Your wish").fill("let her refuse")
    page.get_by_role("dialog").get_by_role("button", name="Tell it again (regenerate)").click()
    expect(newest(page).get_by_text("2/2", exact=True)).to_be_visible()


def test_the_last_words_are_kept_in_the_box_across_a_reload(page: Page, house: Playhouse) -> None:
    session = house.begin()
    open_stage(page, house, session)
    box(page).fill("Half a thought")
    page.reload()
    expect(box(page)).to_have_value("Half a thought")


def test_at_an_even_pace_the_same_words_are_told(page: Page, house: Playhouse) -> None:
    page.add_init_script("localStorage.setItem('fabula.reading', JSON.stringify({pace: 'even'}))")
    session = house.begin()
    open_stage(page, house, session)
    house.players.narration = Say(text=LONG, pace=Pace(first_token_ms=20, tokens_per_second=400))
    send(page, "I listen to the bell.")
    settled(page)
    told = next(line["text"] for line in house.lines(session) if line["kind"] == "narration")
    assert newest(page).locator(".narration p").first.inner_text() == told


def test_the_second_click_of_a_double_click_on_send_does_not_stop(page: Page, house: Playhouse) -> None:
    session = house.begin()
    open_stage(page, house, session)
    house.players.narration = Say(text=LONG[:300], pace=Pace(first_token_ms=300, tokens_per_second=200))
    box(page).fill("I listen to the bell.")
    page.get_by_role("button", name="Send").dblclick()
    settled(page)
    assert [line["kind"] for line in house.lines(session)][:2] == ["player_input", "narration"]
