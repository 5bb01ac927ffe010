"""The stage over a network that fails: nothing is lost, and nothing is said twice."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from tests.browser.playhouse import (
    LONG,
    Players,
    Playhouse,
    bind,
    box,
    model_server,
    newest,
    open_stage,
    playhouse,
    send,
    settled,
    turns,
    write_scenes,
)
from tests.browser.scene import watch
from tests.fork_server import Child, fork_server
from tests.templates import fill_folder

from fabula.testing.cut_line import CutLine
from fabula.testing.model_script import Pace, Say
from fabula.testing.server_process import clean_environment

SOME_SECONDS = Say(text=LONG, pace=Pace(first_token_ms=20, tokens_per_second=90))


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Playhouse]:
    with playhouse(tmp_path_factory.mktemp("house")) as opened:
        yield opened


@pytest.fixture(autouse=True)
def good_manners(house: Playhouse) -> None:
    house.players.forgive()
    house.players.narration = None


class Line:
    """The line between the browser and the server, in a thread of its own; it can be cut and mended."""

    def __init__(self, port: int) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._line = CutLine(port=port)
        self.mend()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._line.port}"

    def cut(self) -> None:
        asyncio.run_coroutine_threadsafe(self._line.cut(), self._loop).result(10)

    def mend(self) -> None:
        asyncio.run_coroutine_threadsafe(self._line.start(), self._loop).result(10)

    def close(self) -> None:
        self.cut()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)


@pytest.fixture
def line(house: Playhouse) -> Iterator[Line]:
    opened = Line(int(house.address.rpartition(":")[2]))
    yield opened
    opened.close()


def go_offline(page: Page, offline: bool) -> None:
    """The network as the browser sees it; streams that are open are cut."""
    watch(page).expects("request failed")
    page.context.set_offline(offline)


def test_a_turn_that_is_cut_in_the_middle_is_complete_afterwards_and_nothing_stands_there_twice(
    page: Page, house: Playhouse, line: Line
) -> None:
    watch(page).expects("request failed")
    session = house.begin()
    open_stage(page, replace(house, address=line.address), session)
    house.players.narration = SOME_SECONDS
    send(page, "I listen to the bell.")
    expect(newest(page)).to_contain_text("the 5th time")
    line.cut()
    expect(page.get_by_text("The connection is lost. Trying again…").first).to_be_visible()
    page.wait_for_timeout(5000)
    line.mend()
    expect(newest(page)).to_contain_text("the 59th time")
    settled(page)
    assert newest(page).locator(".narration").inner_text().count("the 5th time") == 1
    told = next(line["text"] for line in house.lines(session) if line["kind"] == "narration")
    assert newest(page).locator(".narration p").first.inner_text() == told


def test_words_that_were_not_sent_are_back_and_sending_again_plays_one_turn(page: Page, house: Playhouse) -> None:
    session = house.begin()
    open_stage(page, house, session)
    go_offline(page, True)
    send(page, "Good evening.")
    expect(box(page)).to_have_value("Good evening.")
    expect(page.get_by_text("Not sent yet")).to_be_visible()
    for _ in range(3):
        page.get_by_role("button", name="Try now").click()
    expect(page.get_by_text("Not sent yet")).to_be_visible()
    # The page tries by itself as soon as the network is back. Whatever stands under the pointer by then is not Stop.
    place = page.get_by_role("button", name="Try now").bounding_box()
    assert place is not None
    go_offline(page, False)
    page.mouse.click(place["x"] + place["width"] / 2, place["y"] + place["height"] / 2)
    settled(page)
    expect(box(page)).to_have_value("")
    assert [line["text"] for line in house.lines(session) if line["kind"] == "player_input"] == ["Good evening."]
    expect(turns(page)).to_have_count(1)


def test_a_server_that_was_killed_in_a_turn_tells_it_anew_when_it_is_there_again(page: Page, tmp_path: Path) -> None:
    watch(page).expects("request failed")
    players = Players()
    with model_server(players) as base_url:
        child = start(tmp_path, "0")
        address = child.address()
        house = Playhouse(address=address, players=players, scenes="", ink="")
        bind(house, base_url)
        session = house.begin(story=write_scenes(house))
        open_stage(page, house, session)
        players.narration = SOME_SECONDS
        send(page, "I listen to the bell.")
        expect(newest(page)).to_contain_text("the 9th time")
        child.kill()
        expect(page.get_by_text("The connection is lost. Trying again…").first).to_be_visible()
        again = start(tmp_path, address.rpartition(":")[2])
        try:
            again.address()
            settled_later(page)
            assert newest(page).locator(".narration").inner_text().count("the 9th time") == 1
            told = [line["text"] for line in house.lines(session) if line["kind"] == "player_input"]
            assert told == ["I listen to the bell."]
        finally:
            again.kill()


def settled_later(page: Page) -> None:
    tools = newest(page).get_by_role("group", name="For this turn")
    expect(tools).to_be_visible()


def start(folder: Path, port: str) -> Child:
    fill_folder(folder, "samples")
    settings = {**clean_environment(), "FABULA_DATA_DIR": str(folder)}
    return fork_server().start(["serve", "--port", port], settings, log=folder / "log")
