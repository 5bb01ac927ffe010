"""Lines of a play on the stage: tellings at any depth, edits, struck lines, other lines looked at, bookmarks, state."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect
from tests.browser.playhouse import Playhouse, box, newest, open_stage, playhouse, send, settled, turns
from tests.browser.scene import watched_page

from fabula.testing.model_script import say_json


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Playhouse]:
    with playhouse(tmp_path_factory.mktemp("house")) as opened:
        yield opened


@pytest.fixture(autouse=True)
def good_manners(house: Playhouse) -> None:
    house.players.forgive()


def said(page: Page) -> list[str]:
    return [text.removeprefix("You").strip() for text in turns(page).locator(".said p").all_inner_texts()]


def tool(page: Page, turn: int, name: str) -> None:
    turns(page).nth(turn).hover()
    turns(page).nth(turn).get_by_role("button", name=name, exact=True).click()


def test_changing_to_the_other_telling_five_turns_up_brings_its_own_later_turns_back(
    page: Page, house: Playhouse
) -> None:
    session = house.begin()
    house.say(session, "one", "two", "three", "four", "five", "six")
    start = house.call("session.get", session)["head_turn_id"]
    house.call("session.backtrack", session, turns=6)
    house.say(session, "other one", "other two")
    open_stage(page, house, session)
    assert said(page) == ["other one", "other two"]
    tool(page, 0, "The telling before this one")
    expect(turns(page)).to_have_count(6)
    assert said(page) == ["one", "two", "three", "four", "five", "six"]
    assert house.call("session.get", session)["head_turn_id"] == start
    tool(page, 0, "The next telling")
    expect(turns(page)).to_have_count(2)
    assert said(page) == ["other one", "other two"]


def test_only_correct_the_words_leaves_no_other_line_in_the_tree(page: Page, house: Playhouse) -> None:
    session = house.begin()
    open_stage(page, house, session)
    send(page, "I whistel.")
    settled(page)
    tool(page, 0, "Edit")
    page.get_by_label("You", exact=True).fill("I whistle.")
    page.get_by_role("button", name="Only correct the words").first.click()
    expect(newest(page).locator(".said")).to_contain_text("I whistle.")
    expect(newest(page).get_by_text("1/2")).to_have_count(0)
    assert house.lines(session)[0]["text"] == "I whistle."


def test_a_struck_line_can_be_brought_back(page: Page, house: Playhouse) -> None:
    session = house.begin()
    open_stage(page, house, session)
    send(page, "Good evening.")
    settled(page)
    told = house.lines(session)
    tool(page, 0, "Edit")
    page.get_by_role("button", name="Strike this line out").nth(1).click()
    expect(page.get_by_text("1 line struck out")).to_be_visible()
    assert len(house.lines(session)) == len(told) - 1
    page.get_by_role("button", name="Bring back").click()
    expect(page.get_by_text("1 line struck out")).to_have_count(0)
    expect(newest(page).locator(".narration")).to_have_count(1)
    assert house.lines(session) == told


def test_a_branch_can_be_read_without_moving_there_and_a_second_tab_sees_no_change(
    page: Page, house: Playhouse, browser: Browser
) -> None:
    session = house.begin()
    house.say(session, "left")
    house.call("session.backtrack", session, turns=1)
    house.say(session, "right")
    open_stage(page, house, session)
    page.get_by_role("tree", name="Tree of lines").get_by_role("treeitem", name="left").get_by_role("button").click()
    expect(page.get_by_text("You are looking at another line.")).to_be_visible()
    assert said(page) == ["left"]
    with watched_page(browser) as other:
        open_stage(other, house, session)
        assert said(other) == ["right"]
    page.get_by_role("button", name="Back", exact=True).click()
    assert said(page) == ["right"]
    expect(box(page)).to_be_editable()


def test_suggestions_fill_the_box_and_do_not_send(page: Page, house: Playhouse) -> None:
    session = house.begin()
    open_stage(page, house, session)
    page.keyboard.press("Alt+r")
    first = page.get_by_role("group", name="You could say").get_by_role("button").first
    words = first.inner_text()
    first.click()
    expect(box(page)).to_have_value(words)
    assert house.lines(session) == []
    first.click()
    settled(page)
    assert house.lines(session)[0]["text"] == words


def test_a_variable_that_changes_is_shown_with_its_old_value_and_a_refused_one_with_its_reason(
    page: Page, house: Playhouse
) -> None:
    session = house.begin()
    page.set_viewport_size({"width": 1440, "height": 900})
    open_stage(page, house, session)
    house.players.misbehave("keeper", say_json({"ops": [{"type": "SetState", "key": "gate_open", "value": "wide"}]}))
    send(page, "I push the gate wide.")
    settled(page)
    refused = newest(page).get_by_role("complementary", name="Notes on this line").first
    expect(refused).to_contain_text("gate open was not changed")
    expect(refused).to_contain_text("quoted")
    send(page, "go on")
    settled(page)
    changed = newest(page).get_by_role("complementary", name="Notes on this line").first
    expect(changed).to_contain_text("gate open no → yes")
    expect(changed).to_contain_text("by the keeper")
    # The margin is the same for whoever opens the play later.
    page.reload()
    settled(page)
    again = turns(page).get_by_role("complementary", name="Notes on this line")
    expect(again.filter(has_text="gate open was not changed").filter(has_text="quoted")).to_have_count(1)
    expect(again.filter(has_text="gate open no → yes").filter(has_text="by the keeper")).to_have_count(1)
    expect(newest(page).get_by_role("separator", name="A new scene: The Garden")).to_have_count(1)


def test_a_variable_edited_by_hand_is_a_turn_that_can_be_undone(page: Page, house: Playhouse) -> None:
    session = house.begin()
    page.set_viewport_size({"width": 1440, "height": 900})
    open_stage(page, house, session)
    page.locator("main").focus()
    page.keyboard.press("s")
    page.get_by_role("button", name="Change Oil in the lamp: 3").click()
    page.get_by_role("spinbutton", name="Change Oil in the lamp").fill("7")
    page.get_by_role("spinbutton", name="Change Oil in the lamp").press("Enter")
    expect(page.get_by_role("button", name="Change Oil in the lamp: 7")).to_be_visible()
    assert house.call("session.get_variables", session)["custom"]["lamp_oil"] == 7
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("button", name="Change Oil in the lamp: 3")).to_be_visible()
    assert house.call("session.get_variables", session)["custom"]["lamp_oil"] == 3


def test_a_variable_of_the_wrong_type_is_refused_beside_its_field(page: Page, house: Playhouse) -> None:
    session = house.begin()
    page.set_viewport_size({"width": 1440, "height": 900})
    open_stage(page, house, session)
    page.locator("main").focus()
    page.keyboard.press("s")
    page.get_by_role("button", name="Change Oil in the lamp: 3").click()
    page.get_by_role("spinbutton", name="Change Oil in the lamp").fill("1.5")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("tabpanel").get_by_role("alert")).to_be_visible()
    assert house.call("session.get_variables", session)["custom"]["lamp_oil"] == 3


def test_a_variable_with_listed_values_is_chosen_from_a_list(page: Page, house: Playhouse) -> None:
    session = house.begin()
    page.set_viewport_size({"width": 1440, "height": 900})
    open_stage(page, house, session)
    page.locator("main").focus()
    page.keyboard.press("s")
    chooser = page.get_by_role("combobox", name="Change weather")
    expect(chooser.get_by_role("option")).to_have_text(["rain", "fog", "stars"])
    chooser.select_option("fog")
    expect(page.get_by_role("region", name="Notices").get_by_text("weather is changed.")).to_be_visible()
    assert house.call("session.get_variables", session)["custom"]["weather"] == "fog"
    page.get_by_role("button", name="Undo").click()
    expect(chooser).to_have_value("0")
    assert house.call("session.get_variables", session)["custom"]["weather"] == "rain"


def test_two_lines_are_read_side_by_side_from_where_they_part(page: Page, house: Playhouse) -> None:
    session = house.begin()
    house.say(session, "shared", "left one", "left two")
    house.call("session.backtrack", session, turns=2)
    house.say(session, "right one")
    page.goto(f"{house.address}/app/play/{session}/tree")
    tree = page.get_by_role("tree", name="Tree of lines")
    before = tree.get_by_role("treeitem").first.bounding_box()
    page.get_by_role("button", name="Smaller").click()
    smaller = tree.get_by_role("treeitem").first.bounding_box()
    assert before is not None and smaller is not None and smaller["height"] < before["height"]
    tree.get_by_role("treeitem", name="left two").click()
    page.get_by_role("button", name="Compare with another").click()
    tree.get_by_role("treeitem", name="right one").click()
    together = page.get_by_role("region", name="Two lines side by side")
    expect(together.get_by_text("They part after turn 1.")).to_be_visible()
    first, second = together.get_by_role("group", name="The first line"), together.get_by_role("group").last
    expect(first).to_contain_text("left one")
    expect(first).to_contain_text("left two")
    expect(second).to_contain_text("right one")
    expect(together).not_to_contain_text("shared")
    assert house.call("session.get", session)["turn_index"] == 2
