"""Canon on the stage: what is true in the world of a play, what the play adds, and for authors why."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, Page, expect
from tests.browser.playhouse import Playhouse, open_stage, playhouse
from tests.browser.scene import watched_page
from tests.browser.test_hostile_texts import HOSTILE, assert_shown

AUTHOR_SAYS = {"verdict": "accept", "reason": "the author says so"}


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Playhouse]:
    with playhouse(tmp_path_factory.mktemp("house")) as opened:
        house = opened
        house.call("world.create", world_id="sarn", display_name="Sarn")
        gate = {"kind": "entity", "entity_id": "old-gate", "entity_kind": "place", "name": "the Old Gate"}
        sworn = {"kind": "fact", "subject": "mara", "predicate": "sworn_to", "object": "old-gate"}
        debt = {"kind": "fact", "subject": "mara", "predicate": "owes", "object": "a debt", "known_to": ["orr"]}
        house.call("canon.propose", world_id="sarn", changes=[{"content": one} for one in (gate, sworn, debt)])
        for change in house.call("canon.list", world_id="sarn")["changes"]:
            house.call("canon.decide", change_id=change["change_id"], **AUTHOR_SAYS)
        house.call("story.update", story_id=house.scenes, world_id="sarn")
        yield house


def open_canon(page: Page) -> Locator:
    page.locator("main").focus()
    page.keyboard.press("l")
    return page.get_by_role("tabpanel", name="Canon")


def test_what_is_true_is_a_key_away_and_secrets_only_where_an_author_wants_them(page: Page, house: Playhouse) -> None:
    open_stage(page, house, house.begin())
    panel = open_canon(page)
    expect(panel.get_by_text("Mara is sworn to the Old Gate.")).to_be_visible()
    expect(panel.get_by_text("Mara owes a debt.")).to_have_count(0)
    panel.get_by_label("Also what only others know").check()
    expect(panel.get_by_text("Mara owes a debt.")).to_be_visible()
    expect(panel.get_by_text("Known to orr alone")).to_be_visible()
    panel.get_by_role("button", name="the Old Gate").click()
    expect(panel.get_by_role("heading", name="the Old Gate")).to_be_visible()
    panel.get_by_role("button", name="Here and now").click()
    expect(panel.get_by_role("heading", name="Here and now")).to_be_visible()


def test_what_the_play_adds_stands_there_with_its_verdict_and_why(page: Page, house: Playhouse) -> None:
    session = house.begin()
    house.say(session, "Good evening.")
    open_stage(page, house, session)
    panel = open_canon(page)
    expect(panel.get_by_role("heading", name="Here and now")).to_be_visible()
    lame = {"kind": "fact", "subject": "mara", "predicate": "carries", "object": "a lantern"}
    proposed = {"content": lame, "authority": "player", "confidence": 0.2}
    house.call("canon.propose", session, changes=[proposed])
    house.call("canon.review", session)
    added = panel.get_by_role("listitem").filter(has_text="Mara carries a lantern.")
    expect(added.get_by_text("refused", exact=True)).to_be_visible()
    expect(added.get_by_text("is below 0.3.").first).to_be_visible()
    added.get_by_text("Mara carries a lantern.").click()
    expect(added.get_by_text("On the word of a player, with a confidence of 0.2.")).to_be_visible()
    house.call("session.backtrack", session, turns=1)
    expect(added).to_have_count(0)


def test_hostile_names_and_facts_are_text_on_a_phone(browser: Browser, house: Playhouse) -> None:
    session = house.begin()
    texts = [text for text in HOSTILE if len(text) < 200]
    contents = [{"kind": "fact", "subject": "mara", "predicate": "says", "object": text} for text in texts]
    house.call("canon.propose", session, changes=[{"content": one} for one in contents])
    with watched_page(browser, viewport={"width": 360, "height": 740}) as page:
        open_stage(page, house, session)
        panel = open_canon(page)
        expect(panel.get_by_text("not judged yet").first).to_be_visible()
        assert_shown(page, "#panel-canon", *texts)
