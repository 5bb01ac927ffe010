"""What the server has beyond the telling, on the stage: dice, why a turn reads so, memories, journal and clock."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, ViewportSize, expect
from tests.browser.playhouse import (
    SLOW,
    Playhouse,
    box,
    newest,
    open_stage,
    playhouse,
    send,
    settled,
    turns,
    wait_until,
)
from tests.browser.scene import call, watch
from tests.scripted import PACES

from fabula.testing.model_script import Say

HEARD = """
  window.heard = [];
  addEventListener("DOMContentLoaded", () => new MutationObserver(() => {
    const text = document.querySelector("[aria-live=polite]")?.textContent.trim();
    if (text && window.heard.at(-1) !== text) window.heard.push(text);
  }).observe(document.body, { subtree: true, childList: true, characterData: true }));
"""
LATE = """
  const fetched = window.fetch;
  window.fetch = async (...given) => {
    if (String(given[1]?.body).includes("story.summary")) await new Promise((go) => setTimeout(go, 1000));
    return fetched(...given);
  };
"""
WIDE: ViewportSize = {"width": 1440, "height": 900}


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Playhouse]:
    with playhouse(tmp_path_factory.mktemp("house")) as opened:
        yield opened


@pytest.fixture(autouse=True)
def good_manners(house: Playhouse) -> None:
    house.players.forgive()
    house.players.narration = None


def risky(house: Playhouse) -> str:
    """A play by the rules of a game system."""
    made = house.call(
        "story.start_session", story_id=house.scenes, api_group_id="troupe", preset_id=PACES[0], rules="d20", seed=3
    )
    return str(made["session_id"])


def test_a_roll_is_shown_and_read_aloud_while_the_turn_is_told_and_stays_in_the_margin(
    page: Page, house: Playhouse
) -> None:
    page.add_init_script(HEARD)
    page.set_viewport_size(WIDE)
    session = risky(house)
    house.players.narration = Say(text=" ".join(["The stones are wet."] * 12), pace=SLOW)
    open_stage(page, house, session)
    send(page, "I climb the gate.")
    chip = newest(page).locator("aside .roll")
    expect(chip).to_contain_text(re.compile(r"Athletics \d+ vs 12"))
    expect(page.get_by_role("button", name="Stop", exact=True)).to_be_visible()
    assert newest(page).locator(".said").count() == 1
    settled(page)
    wait_until(page, r"window.heard.some((text) => /^Athletics: \d+ against 12, /.test(text))")
    shown = chip.inner_text()
    # The sentence of the transcript is not told a second time beside it.
    expect(newest(page).locator(".piece", has_text="against 12")).to_have_count(0)
    chip.locator("summary").click()
    expect(chip).to_contain_text("1d20")
    page.reload()
    expect(newest(page).locator("aside .roll")).to_contain_text(shown.splitlines()[0].strip())
    expect(newest(page).locator(".piece", has_text="against 12")).to_have_count(0)


def test_on_a_phone_a_roll_stands_in_the_text_and_falls_without_motion_where_none_is_wanted(
    page: Page, house: Playhouse
) -> None:
    page.emulate_media(reduced_motion="reduce")
    page.set_viewport_size({"width": 360, "height": 780})
    open_stage(page, house, risky(house))
    send(page, "I climb the gate.")
    chip = newest(page).locator(".in-text .roll")
    expect(chip).to_be_visible()
    expect(chip).to_contain_text("vs 12")
    settled(page)
    moving = "(chip) => parseFloat(getComputedStyle(chip.querySelector('.numbers')).animationDuration)"
    assert chip.evaluate(moving) <= 0.001


def test_dice_are_rolled_from_the_box_and_become_a_line(page: Page, house: Playhouse) -> None:
    session = house.begin()
    open_stage(page, house, session)
    send(page, "/roll 2d6+1 to climb")
    expect(page.locator("main")).to_contain_text(re.compile(r"rolls 2d6\+1 for climb: \d+"))
    assert [line["kind"] for line in house.lines(session)] == ["action"]


def test_why_a_turn_reads_as_it_does_is_a_key_away_and_leads_back_to_it(page: Page, house: Playhouse) -> None:
    session = house.begin()
    house.say(session, "Good evening, Mara.")
    open_stage(page, house, session)
    page.locator("main").focus()
    page.keyboard.press("y")
    expect(page.get_by_role("heading", name="Why this text")).to_be_visible()
    expect(page.get_by_role("region", name="Heard")).to_contain_text("Good evening, Mara.")
    expect(page.get_by_role("region", name="In time").get_by_role("listitem").first).to_be_visible()
    asked = page.get_by_role("region", name="Asked of models")
    asked.locator("summary", has_text="actor").first.click()
    expect(asked).to_contain_text("Good evening, Mara.")
    page.get_by_role("link", name="Back to the play").click()
    expect(newest(page)).to_be_focused()


def test_a_turn_that_is_not_there_is_said_to_be_missing(page: Page, house: Playhouse) -> None:
    watch(page).expects("404 ")
    page.goto(f"{house.address}/app/play/{house.begin()}/turn/turn_nowhere")
    expect(page.get_by_role("alert").filter(has_text="Nothing is known of this turn")).to_be_visible()


def test_what_somebody_remembers_is_found_with_reasons_pinned_corrected_and_forgotten(
    page: Page, house: Playhouse
) -> None:
    session = house.begin()
    house.say(session, "Good evening.")
    house.call("memory.add", session, owner_id="mara", text="The brass key lies under the third stone.")
    house.call("memory.add", session, owner_id="mara", text="Rain fell on the day of the wedding.")
    page.set_viewport_size(WIDE)
    open_stage(page, house, session)
    page.locator("main").focus()
    page.keyboard.press("c")
    page.get_by_role("link", name="What Mara remembers").click()
    expect(page.get_by_role("heading", name="What Mara remembers")).to_be_visible()
    expect(page.get_by_text("The brass key lies")).to_be_visible()
    page.get_by_role("searchbox", name="What about…").fill("Where is the key?")
    page.get_by_role("button", name="Ask", exact=True).click()
    first = page.locator("main").get_by_role("listitem").first
    expect(first).to_contain_text("The brass key")
    expect(first.locator("dl")).to_contain_text("shared words")
    first.get_by_role("button", name="Pin", exact=True).click()
    expect(first).to_contain_text("Pinned")
    first.get_by_role("button", name="Correct").click()
    first.get_by_label("The words").fill("The brass key lies under the fourth stone.")
    first.get_by_role("button", name="Save").click()
    expect(first).to_contain_text("It was: The brass key lies under the third stone.")
    first.get_by_role("button", name="Forget").click()
    first.get_by_role("button", name="Forget").click()
    expect(page.get_by_text("The brass key lies")).to_have_count(0)
    kept = house.call("memory.list", session, owner_id="mara")["memories"]
    assert all("brass key" not in one["text"] for one in kept)


def test_the_clock_and_the_journal_stand_beside_a_story_that_counts_time(page: Page, house: Playhouse) -> None:
    stories = call(house.address, "story.list")["stories"]
    assert isinstance(stories, list)
    story = next(one["story_id"] for one in stories if one["display_name"] == "The Walking Court")
    session = str(house.call("story.start_session", story_id=story)["session_id"])
    time = house.call("session.get", session)["snapshot"]["time"]
    page.set_viewport_size(WIDE)
    open_stage(page, house, session)
    page.locator("main").focus()
    page.keyboard.press("w")
    panel = page.get_by_role("tabpanel", name="Journal")
    expect(panel).to_contain_text(f"{time['weekday']}, {time['day']} {time['month']}")
    entries = house.call("journal.list", session)["entries"]
    for entry in entries:
        expect(panel).to_contain_text(entry["title"])
    if not entries:
        expect(panel).to_contain_text("Nothing is written in the journal yet.")


def test_a_play_that_is_not_there_is_not_being_opened(page: Page, house: Playhouse) -> None:
    watch(page).expects("404 ")
    page.goto(f"{house.address}/app/play/session_nowhere")
    expect(page.get_by_text("This play is no longer here").first).to_be_visible()
    expect(page.get_by_text("Opening the book")).to_have_count(0)


@pytest.mark.parametrize(("width", "height"), [(820, 1100), (360, 780), (1440, 900)])
@pytest.mark.parametrize("many", [3, 40])
def test_a_play_opens_where_its_text_ends_however_late_the_rest_of_the_page_comes(
    page: Page, house: Playhouse, width: int, height: int, many: int
) -> None:
    session = house.begin(swift=True)
    house.say(session, *[f"line {number}" for number in range(many)])
    page.set_viewport_size({"width": width, "height": height})
    # The title page comes a second after the text, and pushes it down.
    page.add_init_script(LATE)
    open_stage(page, house, session)
    expect(newest(page)).to_contain_text(f"line {many - 1}")
    expect(page.locator("main .title-page")).to_be_attached()
    page.wait_for_timeout(500)
    where = page.locator(".end-of-text").bounding_box()
    main = page.locator("main").bounding_box()
    assert where is not None and main is not None
    shown = page.locator("main").evaluate("(main) => [main.scrollTop, main.scrollHeight - main.clientHeight]")
    end = where["y"] - main["y"]
    tall = newest(page).locator(".said").bounding_box()
    assert tall is not None
    at_the_end = abs(end - 0.85 * main["height"]) < 4
    begins_near_the_top = abs(tall["y"] - main["y"] - 0.15 * main["height"]) < 60 and end > 0.85 * main["height"]
    fits = shown[0] == 0 and end <= 0.85 * main["height"] + 4
    assert at_the_end or begins_near_the_top or fits, (end, main["height"], shown)
    assert turns(page).count() == many
    expect(box(page)).to_be_visible()
