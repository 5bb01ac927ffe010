"""Samples are installed whole, once, and can be played to an ending through the actions."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from fabula.actions.care.overview import get_dashboard
from fabula.actions.house import House
from fabula.actions.library.characters import NameCharacter, get_character, list_characters
from fabula.actions.library.samples import install_samples, install_samples_at_first, read_worlds, sample_folder
from fabula.actions.library.stories import NameStory, delete_story, list_stories
from fabula.actions.listing import Listing
from fabula.actions.plays.sessions import ShowSession, get_session
from fabula.actions.plays.start_session import StartSession, start_session
from fabula.actions.repositories import LOREBOOKS
from fabula.actions.turns.run_turn import RunTurn, run_turn
from fabula.actions.views import Nothing
from fabula.ports.actors import OPERATOR
from fabula.ports.errors import StoreError
from fabula.settings import Settings
from fabula.story.events import Completed, Told
from fabula.wiring import open_house

WORLDS = read_worlds(sample_folder())


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    async with open_house(Settings(data_dir=tmp_path / "data")) as house:
        yield house


async def test_installing_twice_is_harmless(house: House) -> None:
    first = await install_samples(house)
    again = await install_samples(house)
    assert all(one.added for one in first)
    assert {one.added for one in again} == {0}
    counts = (await get_dashboard(house, OPERATOR, Nothing())).counts
    assert (counts.stories_total, counts.characters_total, counts.characters_with_cover) == (6, 25, 25)


async def test_what_the_author_changed_stays(house: House) -> None:
    await install_samples(house)
    book = WORLDS[0].lorebooks[0]
    async with house.store.writing() as unit:
        await LOREBOOKS.put(unit, book.lorebook_id, book.model_copy(update={"display_name": "Mine now"}))
    await install_samples(house)
    async with house.store.reading() as unit:
        assert (await LOREBOOKS.get(unit, book.lorebook_id)).display_name == "Mine now"


async def test_a_deleted_piece_comes_back(house: House) -> None:
    await install_samples(house)
    await delete_story(house, OPERATOR, NameStory(story_id=WORLDS[0].story.story_id))
    assert [one.added for one in await install_samples(house)] == [1, 0, 0, 0, 0, 0]


async def test_a_world_is_installed_whole_or_not_at_all(house: House) -> None:
    story = WORLDS[0].story
    async with house.store.writing() as unit:
        # Something in the way that is found last: a damaged document under the story's own name.
        await unit.resources.add("story", story.story_id, {}, references=[])
    with pytest.raises(StoreError):
        await install_samples(house)
    assert (await list_characters(house, OPERATOR, Listing())).characters == []


async def test_the_first_start_installs_and_later_ones_leave_the_store_alone(house: House) -> None:
    assert len(await install_samples_at_first(house)) == 6
    assert await install_samples_at_first(house) == []


async def test_who_wants_no_samples_gets_none(tmp_path: Path) -> None:
    async with open_house(Settings(data_dir=tmp_path / "data", samples=False)) as house:
        assert await install_samples_at_first(house) == []
        assert (await list_stories(house, OPERATOR, Listing())).stories == []


async def test_sample_characters_can_travel_as_archives(house: House) -> None:
    await install_samples(house)
    content = WORLDS[0].characters[0]
    view = await get_character(house, OPERATOR, NameCharacter(character_id=content.id))
    assert (view.content.name, view.cover_mime_type) == (content.name, "image/png")


@pytest.mark.parametrize(
    "words",
    [
        "I am ready. Let us go on.",
        pytest.param("Nice weather today.", marks=pytest.mark.all),
        pytest.param("What is that?", marks=pytest.mark.all),
    ],
)
@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.story.story_id)
async def test_a_sample_story_goes_nowhere_by_words_that_mean_no_way(house: House, world: object, words: str) -> None:
    await install_samples(house)
    story = world.story  # type: ignore[attr-defined]
    started = await start_session(house, OPERATOR, StartSession(story_id=story.story_id))
    for turn in range(8):
        last = await play(house, started.session_id, words, seed=turn)
        assert isinstance(last, Completed), last
    session = await get_session(house, OPERATOR, started.session_id, ShowSession())
    assert (session.status, session.snapshot.world_state.current_node) == ("open", story.graph.start_node)


async def play(house: House, session_id: str, words: str, *, seed: int) -> Told | None:
    turn = await run_turn(house, OPERATOR, session_id, RunTurn(player_input=words), request_id="1", seed=seed)
    frames = await house.bus.subscribe(turn.turn_id)
    assert frames is not None
    last: Told | None = None
    async for frame in frames:
        last = frame.event
    return last
