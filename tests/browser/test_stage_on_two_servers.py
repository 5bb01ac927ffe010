"""The stage before two servers on one Postgres, of which each request meets the next: it plays as with one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect
from tests.browser.playhouse import (
    LONG,
    Players,
    Playhouse,
    bind,
    box,
    model_server,
    newest,
    open_stage,
    says,
    send,
    settled,
    turns,
    write_ink,
    write_scenes,
)
from tests.browser.round_robin import RoundRobin, round_robin
from tests.browser.scene import watched_page
from tests.conftest import Place
from tests.fork_server import running_server

from fabula.testing.model_script import Pace, Say

pytestmark = pytest.mark.all


@pytest.fixture
def table(postgres_place: Place, tmp_path: Path) -> Iterator[tuple[Playhouse, RoundRobin]]:
    players = Players()
    with ExitStack() as open:
        base_url = open.enter_context(model_server(players))
        settings = {**postgres_place.environment, "FABULA_SAMPLES": "false", "FABULA_SECRET_KEY": "k" * 43 + "="}
        folders = [tmp_path / name for name in ("one", "two")]
        addresses = [open.enter_context(running_server(folder, settings=settings)) for folder in folders]
        address, robin = open.enter_context(round_robin(*addresses))
        house = Playhouse(address=address, players=players, scenes="", ink="")
        bind(house, base_url)
        yield Playhouse(address=address, players=players, scenes=write_scenes(house), ink=write_ink(house)), robin
        assert min(robin.asked.values()) > 5, "both servers played"


def test_a_play_is_played_told_again_reloaded_in_the_middle_and_stopped(
    page: Page, table: tuple[Playhouse, RoundRobin]
) -> None:
    house, _ = table
    session = house.begin()
    open_stage(page, house, session)
    send(page, "Good evening.")
    settled(page)
    newest(page).get_by_role("button", name="Tell it again (regenerate)").click()
    expect(newest(page).get_by_text("2/2", exact=True)).to_be_visible()
    house.players.narration = Say(text=LONG, pace=Pace(first_token_ms=20, tokens_per_second=60))
    send(page, "I listen to the bell.")
    expect(newest(page)).to_contain_text("the 3th time")
    page.reload()
    expect(newest(page)).to_contain_text("the 5th time")
    assert newest(page).locator(".narration").inner_text().count("the 3th time") == 1
    page.get_by_role("button", name="Stop", exact=True).click()
    expect(box(page)).to_be_editable()
    page.get_by_role("button", name="Other words").click()
    expect(turns(page)).to_have_count(1)
    house.players.narration = None
    send(page, "I wait.")
    settled(page)
    said = [line["text"] for line in house.lines(session) if line["kind"] == "player_input"]
    assert said == ["Good evening.", "I wait."]


def test_two_browsers_see_each_other_and_the_same_order(
    page: Page, browser: Browser, table: tuple[Playhouse, RoundRobin]
) -> None:
    house, _ = table
    session = house.begin()
    page.add_init_script("localStorage.setItem('fabula.name', 'Ada')")
    open_stage(page, house, session)
    with watched_page(browser) as other:
        open_stage(other, house, session)
        expect(other.get_by_role("banner").get_by_text("Ada")).to_be_visible()
        expect(page.get_by_role("banner").get_by_text("somebody else")).to_be_visible()
        for number, (speaker, listener) in enumerate(((page, other), (other, page), (page, other)), start=1):
            send(speaker, f"Line {number}.")
            settled(speaker)
            expect(turns(listener)).to_have_count(number)
            settled(listener)
        for each in (page, other):
            assert [text.split()[-1] for text in turns(each).locator(".said p").all_inner_texts()] == ["1.", "2.", "3."]


def test_a_talk_of_an_ink_story_goes_on_whichever_server_hears_it(
    page: Page, table: tuple[Playhouse, RoundRobin]
) -> None:
    house, _ = table
    house.players.talks += [says("NEEDS_INPUT", "Eleven winters."), says("DIRECT_CONTINUE", "")]
    session = house.begin(ink=True)
    open_stage(page, house, session)
    page.get_by_role("button", name="Talk to the guard").click()
    expect(page.get_by_role("textbox", name="Say to Guard")).to_be_visible()
    send(page, "How long?")
    expect(newest(page).locator(".speech")).to_contain_text("Eleven winters.")
    expect(box(page)).to_be_editable()
    send(page, "The lantern is lit.")
    expect(page.get_by_role("button", name="Go in")).to_be_visible()
    page.reload()
    expect(page.get_by_role("button", name="Go in")).to_be_visible()
    expect(page.get_by_text("Eleven winters.", exact=True)).to_be_visible()


def test_a_branch_bookmark_and_variable_are_the_same_on_both(page: Page, table: tuple[Playhouse, RoundRobin]) -> None:
    house, _ = table
    session = house.begin()
    page.set_viewport_size({"width": 1440, "height": 900})
    house.say(session, "left one", "left two")
    house.call("session.backtrack", session, turns=2)
    house.say(session, "right")
    open_stage(page, house, session)
    turns(page).first.hover()
    turns(page).first.get_by_role("button", name="The telling before this one").click()
    expect(turns(page)).to_have_count(2)
    turns(page).first.hover()
    turns(page).first.get_by_role("button", name="Bookmark", exact=True).click()
    page.get_by_label("Name").fill("The cellar")
    page.get_by_role("button", name="Keep it").click()
    expect(turns(page).first.locator(".flag")).to_have_text("The cellar")
    page.locator("main").focus()
    page.keyboard.press("s")
    page.get_by_role("combobox", name="Change weather").select_option("fog")
    expect(page.get_by_role("region", name="Notices").get_by_text("weather is changed.")).to_be_visible()
    for _ in range(2):
        assert house.call("session.get_variables", session)["custom"]["weather"] == "fog"
        page.reload()
        expect(turns(page).first.locator(".flag")).to_have_text("The cellar")
