"""Session zero: three answers that reach every role that plans, tells and plays, and can be revised in play."""

from __future__ import annotations

import pytest
from tests.unit.actions.conftest import Stage

from fabula.actions.canon.worlds import CreateWorld, create_world
from fabula.actions.library.stories import UpdateStory, update_story
from fabula.actions.plays.boundaries import AskBoundaries, get_boundaries
from fabula.actions.plays.branches import Backtrack, backtrack
from fabula.actions.plays.preview_prompts import PreviewRuntime, preview_preset_runtime
from fabula.actions.plays.session_zero import (
    AnswerSessionZero,
    AskSessionZero,
    SessionZeroView,
    get_session_zero,
    update_session_zero,
)
from fabula.actions.plays.start_session import StartSession, start_session
from fabula.ports.actors import OPERATOR, Actor
from fabula.ports.errors import Denied, InvalidRequest
from fabula.story.session_zero import boundaries_in, themes_in

ANSWERS = {
    "premise": "A ferry that never arrives.",
    "themes": "hope, dry humour and betrayal",
    "boundaries": "No harm to children. Never spiders; fade to black at torture. Wounds are not shown.",
}


async def agreed(stage: Stage, session_id: str | None, **given: str) -> SessionZeroView:
    return await update_session_zero(stage.house, OPERATOR, session_id, AnswerSessionZero.model_validate(given))


async def shown(stage: Stage, session_id: str) -> SessionZeroView:
    return await get_session_zero(stage.house, OPERATOR, session_id, AskSessionZero())


def test_boundaries_are_read_as_lines_and_veils() -> None:
    assert boundaries_in(ANSWERS["boundaries"]) == (["harm to children", "spiders"], ["torture", "Wounds"])
    assert themes_in(ANSWERS["themes"]) == ["hope", "dry humour", "betrayal"]
    assert boundaries_in("") == ([], [])


async def test_what_is_agreed_stands_in_the_prompts_of_director_narrator_and_actors(stage: Stage) -> None:
    session_id = await stage.session()
    await agreed(stage, session_id, **ANSWERS)
    for role in ("director", "narrator", "actor"):
        asked = {"preset_id": "builtin", "agent": role, "character_id": "mara" if role == "actor" else None}
        told = await preview_preset_runtime(
            stage.house,
            OPERATOR,
            session_id,
            PreviewRuntime.model_validate({name: value for name, value in asked.items() if value is not None}),
        )
        text = told.model_dump_json()
        assert "harm to children" in text and "This must not happen" in text, role


async def test_it_is_revised_in_play_and_going_back_undoes_that(stage: Stage) -> None:
    session_id = await stage.session()
    await agreed(stage, session_id, **ANSWERS)
    await stage.say(session_id, "Good evening.")
    revised = await agreed(stage, session_id, boundaries="No fire.")
    assert (revised.lines, revised.veils, revised.premise) == (["fire"], [], ANSWERS["premise"])
    await stage.say(session_id, "Good night.")
    await stage.play(session_id, backtrack, Backtrack(turns=1))
    assert (await shown(stage, session_id)).lines == ["fire"]
    await stage.play(session_id, backtrack, Backtrack(turns=1))
    assert (await shown(stage, session_id)).lines == ["harm to children", "spiders"]


async def test_the_boundaries_of_a_world_count_at_its_tables_whatever_those_say(stage: Stage) -> None:
    await stage.do(create_world, CreateWorld(world_id="salt", display_name="Salt"))
    await agreed(stage, None, world_id="salt", **ANSWERS)
    story_id = await stage.story()
    await stage.do(update_story, UpdateStory(story_id=story_id, world_id="salt"))
    session_id = (await stage.do(start_session, StartSession(story_id=story_id))).session_id
    assert (await shown(stage, session_id)).premise == ANSWERS["premise"]
    await agreed(stage, session_id, premise="", themes="", boundaries="No fire.")
    view = await get_boundaries(stage.house, OPERATOR, session_id, AskBoundaries())
    assert view.counts.lines == ["harm to children", "spiders", "fire"]
    assert view.counts.veils == ["torture", "Wounds"]


async def test_a_world_is_for_authors_and_has_to_be_named(stage: Stage) -> None:
    with pytest.raises(InvalidRequest):
        await agreed(stage, None, premise="A ferry.")
    player = Actor(role="player", token_id="t")
    with pytest.raises(Denied):
        await update_session_zero(stage.house, player, None, AnswerSessionZero(world_id="salt", premise="Mine."))
