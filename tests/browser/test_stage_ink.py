"""Ink on the stage: choices by key, by Enter and by their text, and the four outcomes of a talk."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from playwright.sync_api import Page, expect
from tests.browser.playhouse import SLOW, Playhouse, box, newest, open_stage, playhouse, says, send, settled, turns

from fabula.testing.model_script import Behaviour

TALK = "Say to Guard"


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Playhouse]:
    with playhouse(tmp_path_factory.mktemp("house")) as opened:
        yield opened


@pytest.fixture(autouse=True)
def silence(house: Playhouse) -> None:
    house.players.talks.clear()


def at_the_guard(page: Page, house: Playhouse, *answers: Behaviour) -> str:
    session = house.begin(ink=True)
    house.players.talks.extend(answers)
    open_stage(page, house, session)
    page.get_by_role("button", name="Talk to the guard").click()
    expect(page.get_by_role("textbox", name=TALK)).to_be_visible()
    return session


def test_a_choice_is_taken_with_the_key_2(page: Page, house: Playhouse) -> None:
    session = house.begin(ink=True)
    open_stage(page, house, session)
    expect(page.get_by_role("list", name="What you can do").get_by_role("button")).to_have_count(2)
    page.locator("main").focus()
    page.keyboard.press("2")
    expect(page.get_by_role("textbox", name=TALK)).to_be_visible()
    expect(newest(page)).to_contain_text("Talk to the guard")


def test_a_choice_is_taken_with_enter(page: Page, house: Playhouse) -> None:
    open_stage(page, house, house.begin(ink=True))
    page.get_by_role("button", name="Turn back").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.get_by_role("textbox", name=TALK)).to_be_visible()


def test_a_choice_is_taken_by_its_text(page: Page, house: Playhouse) -> None:
    open_stage(page, house, house.begin(ink=True))
    page.get_by_role("button", name="or say something").click()
    send(page, "Talk to the guard")
    expect(page.get_by_role("textbox", name=TALK)).to_be_visible()


def test_in_a_talk_that_needs_input_the_reply_stands_as_speech_and_the_box_opens_again(
    page: Page, house: Playhouse
) -> None:
    at_the_guard(page, house, says("NEEDS_INPUT", "Eleven winters, and no end of rain."))
    send(page, "How long have you stood here?")
    expect(newest(page).locator(".speech")).to_contain_text("Eleven winters, and no end of rain.")
    expect(newest(page).locator(".speaker").last).to_have_text("Guard")
    expect(page.get_by_role("textbox", name=TALK)).to_be_editable()
    expect(box(page)).to_have_value("")


def test_words_that_do_not_belong_stand_faint_and_come_back_with_a_hint(page: Page, house: Playhouse) -> None:
    answer = says("INVALID_INPUT", "Talk sense, stranger.", guidance="Ask about the gate.")
    at_the_guard(page, house, answer)
    send(page, "Beam me up.")
    expect(newest(page).get_by_text("did not belong here")).to_be_visible()
    expect(newest(page).locator(".speech")).to_contain_text("Talk sense, stranger.")
    expect(box(page)).to_have_value("Beam me up.")
    expect(page.get_by_text("Ask about the gate.")).to_be_visible()


def test_a_bridge_leads_over_to_the_story_after_an_ornament(page: Page, house: Playhouse) -> None:
    answer = says("BRIDGE_AND_CONTINUE", "Very well.", bridge_text="He looks up at the rain, and nods.")
    at_the_guard(page, house, answer)
    send(page, "The lantern is lit for a friend.")
    expect(newest(page)).to_contain_text("He looks up at the rain, and nods.")
    expect(newest(page)).to_contain_text("The guard lifts the lantern")
    expect(newest(page).locator(".ornament")).to_have_count(1)
    expect(page.get_by_role("button", name="Go in")).to_be_visible()
    expect(page.get_by_role("textbox", name=TALK)).to_have_count(0)


def test_a_talk_that_goes_on_directly_shows_the_storys_lines(page: Page, house: Playhouse) -> None:
    at_the_guard(page, house, says("DIRECT_CONTINUE", ""))
    send(page, "The lantern is lit when a friend comes home.")
    expect(newest(page)).to_contain_text("The guard lifts the lantern")
    expect(newest(page).locator(".speech")).to_have_count(0)
    expect(page.get_by_role("button", name="Go in")).to_be_visible()


def test_in_a_talk_the_box_is_closed_while_a_message_is_in_flight(page: Page, house: Playhouse) -> None:
    reply = " ".join(f"I have counted {number} winters." for number in range(40))
    at_the_guard(page, house, replace(says("NEEDS_INPUT", reply), pace=SLOW))
    send(page, "How many winters have you seen?")
    expect(page.get_by_role("button", name="Stop", exact=True)).to_be_visible()
    expect(box(page)).not_to_be_editable()
    expect(box(page)).to_have_attribute("aria-busy", "true")
    box(page).press("Enter")
    page.get_by_role("button", name="Stop", exact=True).click()
    expect(box(page)).to_be_editable()
    expect(box(page)).to_have_value("How many winters have you seen?")


def test_the_end_offers_what_can_be_done_now(page: Page, house: Playhouse) -> None:
    session = house.begin(ink=True)
    open_stage(page, house, session)
    page.get_by_role("button", name="Turn back").click()
    expect(newest(page)).to_contain_text("The end")
    page.get_by_role("button", name="Go back").click()
    choices = page.get_by_role("list", name="What you can do")
    expect(choices.get_by_role("button", name="Turn back")).to_be_visible()


def test_an_ink_play_is_the_same_after_a_reload(page: Page, house: Playhouse) -> None:
    at_the_guard(page, house, says("BRIDGE_AND_CONTINUE", "Very well.", bridge_text="He nods."))
    send(page, "Please.")
    expect(page.get_by_role("button", name="Go in")).to_be_visible()
    settled(page)
    before = [text.strip() for text in turns(page).locator(".piece p").all_inner_texts()]
    page.reload()
    expect(page.get_by_role("button", name="Go in")).to_be_visible()
    assert [text.strip() for text in turns(page).locator(".piece p").all_inner_texts()] == before


TAGGED = """
A lamp burns in the window. # title: The Lamp # author: Ada # rain
* [Knock] -> knock
=== knock
Who goes there? # speaker: Guard
(He has been drinking.) # aside
The door opens. # clear
-> END
"""


def test_lines_look_as_their_tags_say_and_tags_are_never_shown(page: Page, house: Playhouse) -> None:
    story = house.call("story.create_ink", display_name="A Light", source=TAGGED)["story_id"]
    open_stage(page, house, house.begin(ink=True, story=str(story)))
    opening = turns(page).first
    expect(opening.locator(".heading")).to_contain_text("The Lamp")
    expect(opening.locator(".author")).to_have_text("Ada")
    expect(opening.locator("[data-tag=rain]")).to_have_count(1)
    page.get_by_role("button", name="Knock").click()
    for _ in ("as it is told", "after a reload"):
        expect(newest(page)).to_contain_text("The door opens.")
        expect(newest(page).locator(".spoken-by .speaker")).to_have_text("Guard")
        expect(newest(page).locator(".aside")).to_contain_text("He has been drinking.")
        expect(newest(page).locator("hr")).to_have_count(1)
        assert "#" not in page.locator("main").inner_text() and "speaker:" not in page.locator("main").inner_text()
        page.reload()


def test_a_talk_that_is_over_folds_to_one_line(page: Page, house: Playhouse) -> None:
    at_the_guard(
        page, house, says("NEEDS_INPUT", "Eleven winters."), says("NEEDS_INPUT", "Hm."), says("DIRECT_CONTINUE", "")
    )
    for words in ("How long?", "And before?"):
        send(page, words)
        expect(newest(page).locator(".said")).to_contain_text(words)
        settled(page)
    expect(page.get_by_role("button", name="Fold this talk")).to_have_count(0)
    send(page, "The lantern is lit.")
    expect(page.get_by_role("button", name="Go in")).to_be_visible()
    count = turns(page).count()
    page.get_by_role("button", name="Fold this talk").click()
    expect(page.get_by_role("button", name="You talked with Guard: 4 messages")).to_be_visible()
    expect(turns(page)).to_have_count(count - 2)
    expect(page.get_by_text("Eleven winters.", exact=True)).to_have_count(0)
    page.get_by_role("button", name="You talked with Guard").click()
    expect(page.get_by_text("Eleven winters.", exact=True)).to_be_visible()
