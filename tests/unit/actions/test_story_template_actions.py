"""A play follows a story template of its world: its beats are reached by playing, and what is against it is shown."""

from __future__ import annotations

from typing import Any

import pytest
from tests.unit.actions.conftest import Stage

from fabula.actions.canon.worlds import CreateWorld, create_world
from fabula.actions.governance.story_templates import (
    FollowTemplate,
    ListTemplates,
    NameTemplate,
    TemplateChecked,
    TemplateView,
    UpdateTemplate,
    check_template,
    delete_template,
    follow_story_template,
    list_templates,
    update_template,
)
from fabula.actions.library.stories import UpdateStory, update_story
from fabula.actions.plays.branches import Backtrack, backtrack
from fabula.actions.plays.preview_prompts import PreviewRuntime, preview_preset_runtime
from fabula.actions.plays.start_session import StartSession, start_session
from fabula.actions.views import Nothing
from fabula.ports.actors import OPERATOR
from fabula.ports.errors import InvalidRequest, NotFound

BEATS: Any = [
    {"beat_id": "meet", "title": "They meet at the gate", "people": ["mara"], "places": ["gate"]},
    {"beat_id": "enter", "title": "They enter the garden", "places": ["garden"]},
]


async def written(stage: Stage, **changes: Any) -> TemplateView:
    acts = [{"act_id": "one", "title": "The gate", "beats": BEATS}]
    template = {"template_id": "gate", "title": "A gate", "acts": acts, **changes}
    command = UpdateTemplate.model_validate({"world_id": "salt", "template": template})
    return await stage.do(update_template, command)


@pytest.fixture
async def session_id(stage: Stage) -> str:
    await stage.do(create_world, CreateWorld(world_id="salt", display_name="Salt"))
    story_id = await stage.story()
    await stage.do(update_story, UpdateStory(story_id=story_id, world_id="salt"))
    return (await stage.do(start_session, StartSession(story_id=story_id, seed=7))).session_id


async def followed(stage: Stage, session_id: str, template_id: str | None = "gate") -> TemplateChecked:
    return await stage.play(session_id, follow_story_template, FollowTemplate(template_id=template_id))


async def checked(stage: Stage, session_id: str) -> TemplateChecked:
    return await stage.play(session_id, check_template, Nothing())


async def test_beats_are_reached_by_playing_and_going_back_takes_them_back(stage: Stage, session_id: str) -> None:
    await written(stage, forbidden=["mara"])
    begun = await followed(stage, session_id)
    assert [(one.beat_id, one.due) for one in begun.beats] == [("meet", True), ("enter", False)]
    await stage.say(session_id, "Good evening, Mara.")
    after = await checked(stage, session_id)
    assert [(one.beat_id, one.due, one.reached is not None) for one in after.beats] == [
        ("meet", False, True),
        ("enter", True, False),
    ]
    await stage.play(session_id, backtrack, Backtrack(turns=1))
    assert [one.reached for one in (await checked(stage, session_id)).beats] == [None, None]


async def test_the_director_is_told_what_is_due(stage: Stage, session_id: str) -> None:
    await written(stage)
    await followed(stage, session_id)
    shown = await preview_preset_runtime(
        stage.house, OPERATOR, session_id, PreviewRuntime.model_validate({"preset_id": "builtin", "agent": "director"})
    )
    assert "They meet at the gate. With: Mara." in shown.model_dump_json()


async def test_a_play_follows_only_what_it_can(stage: Stage, session_id: str) -> None:
    view = await written(stage, acts=[{"act_id": "a", "title": "A", "beats": [{**BEATS[0], "people": ["nobody"]}]}])
    assert "The beat 'meet' needs 'nobody', who is not there." in view.missing
    with pytest.raises(InvalidRequest, match="needs 'nobody'"):
        await followed(stage, session_id)
    with pytest.raises(NotFound, match="no story template named 'other'"):
        await followed(stage, session_id, "other")


async def test_templates_are_replaced_listed_and_deleted_and_plays_go_on_without(stage: Stage, session_id: str) -> None:
    await written(stage)
    await followed(stage, session_id)
    await written(stage, flexibility="strict")
    listed = await stage.do(list_templates, ListTemplates(world_id="salt"))
    assert [one.template.flexibility for one in listed.templates] == ["strict"]
    await stage.do(delete_template, NameTemplate(world_id="salt", template_id="gate"))
    assert (await checked(stage, session_id)).template_id is None
    await stage.say(session_id, "Good evening.")
    await followed(stage, session_id, None)
    with pytest.raises(NotFound):
        await stage.do(delete_template, NameTemplate(world_id="salt", template_id="gate"))
