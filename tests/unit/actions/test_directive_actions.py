"""Directives of a world and of a play: kept, told to those they are for, undone by going back, enforced at tools."""

from __future__ import annotations

from typing import Any

import pytest
from tests.unit.actions.conftest import Stage

from fabula.actions.canon.worlds import CreateWorld, create_world
from fabula.actions.care.audit import ListAudit, list_audit
from fabula.actions.governance.directives import (
    CreateDirective,
    DirectiveView,
    ListDirectives,
    NameDirective,
    create_directive,
    delete_directive,
    list_directives,
)
from fabula.actions.library.stories import UpdateStory, update_story
from fabula.actions.plays.branches import Backtrack, backtrack
from fabula.actions.plays.preview_prompts import PreviewRuntime, preview_preset_runtime
from fabula.actions.plays.start_session import StartSession, start_session
from fabula.actions.tools.call_tool import call_tool
from fabula.actions.tools.callers import Agent
from fabula.actions.tools.registry import all_tools
from fabula.ports.actors import OPERATOR
from fabula.ports.errors import Denied, InvalidRequest, NotFound


async def told(stage: Stage, session_id: str | None, **given: Any) -> DirectiveView:
    return await create_directive(stage.house, OPERATOR, session_id, CreateDirective.model_validate(given))


async def listed(stage: Stage, session_id: str | None, **given: Any) -> list[str]:
    found = await list_directives(stage.house, OPERATOR, session_id, ListDirectives.model_validate(given))
    return [one.directive_id for one in found.directives]


async def prompt_of(stage: Stage, session_id: str, role: str) -> str:
    asked = {"preset_id": "builtin", "agent": role, **({"character_id": "mara"} if role == "actor" else {})}
    shown = await preview_preset_runtime(stage.house, OPERATOR, session_id, PreviewRuntime.model_validate(asked))
    return shown.model_dump_json()


async def test_a_directive_stands_in_the_prompts_of_those_it_is_for(stage: Stage) -> None:
    session_id = await stage.session()
    await told(stage, session_id, kind="do", text="Tell it in short sentences.", **{"for": "narrator"})
    await told(stage, session_id, kind="avoid", text="Smiling.", **{"for": "mara"})
    narrator, actor = await prompt_of(stage, session_id, "narrator"), await prompt_of(stage, session_id, "actor")
    assert "short sentences" in narrator and "Smiling" not in narrator
    assert "Avoid (Mara): Smiling." in actor and "short sentences" not in actor
    assert "Smiling" in await prompt_of(stage, session_id, "director")


async def test_going_back_undoes_it(stage: Stage) -> None:
    session_id = await stage.session()
    await told(stage, session_id, directive_id="brief", kind="do", text="Be brief.")
    await stage.say(session_id, "Good evening.")
    await delete_directive(stage.house, OPERATOR, session_id, NameDirective(directive_id="brief"))
    assert await listed(stage, session_id) == []
    await stage.play(session_id, backtrack, Backtrack(turns=1))
    assert await listed(stage, session_id) == ["brief"]


async def test_plays_have_those_of_their_world_beside_their_own(stage: Stage) -> None:
    await stage.do(create_world, CreateWorld(world_id="salt", display_name="Salt"))
    await told(stage, None, world_id="salt", directive_id="common", kind="avoid", text="Puns.", priority=3)
    story_id = await stage.story()
    await stage.do(update_story, UpdateStory(story_id=story_id, world_id="salt"))
    session_id = (await stage.do(start_session, StartSession(story_id=story_id))).session_id
    await told(stage, session_id, directive_id="own", kind="do", text="Rhyme.", priority=8, **{"for": "narrator"})
    assert await listed(stage, session_id) == ["own", "common"]
    assert await listed(stage, session_id, **{"for": "narrator"}) == ["own"]
    assert await listed(stage, None, world_id="salt") == ["common"]
    prompt = await prompt_of(stage, session_id, "narrator")
    assert prompt.index("Rhyme.") < prompt.index("Puns.")
    with pytest.raises(NotFound, match="in this play itself"):
        await delete_directive(stage.house, OPERATOR, session_id, NameDirective(directive_id="common"))


async def test_what_would_never_be_heard_is_refused(stage: Stage) -> None:
    session_id = await stage.session()
    with pytest.raises(InvalidRequest, match="neither an agent nor a character 'nobody'"):
        await told(stage, session_id, kind="do", text="Sing.", **{"for": "nobody"})
    with pytest.raises(InvalidRequest, match="there is no tool 'sing'"):
        await told(stage, session_id, kind="prohibit", tools=["sing"])
    await told(stage, session_id, directive_id="twice", kind="do", text="Sing.")
    with pytest.raises(InvalidRequest, match="there twice"):
        await told(stage, session_id, directive_id="twice", kind="do", text="Dance.")


async def test_a_prohibition_keeps_an_agent_from_a_tool_and_stands_in_the_audit(stage: Stage) -> None:
    session_id = await stage.session()
    registry = all_tools()
    keeper = Agent(name="canon_keeper", session_id=session_id)
    arguments = {"session_id": session_id}
    assert await call_tool(stage.house, registry, keeper, "read_transcript", dict(arguments))
    await told(
        stage, session_id, directive_id="hush", kind="prohibit", tools=["read_transcript"], **{"for": "canon_keeper"}
    )
    with pytest.raises(Denied, match="The directive 'hush' keeps the canon_keeper from read_transcript"):
        await call_tool(stage.house, registry, keeper, "read_transcript", dict(arguments))
    other = Agent(name="extractor", session_id=session_id)
    assert await call_tool(stage.house, registry, other, "read_transcript", dict(arguments))
    found = await stage.do(list_audit, ListAudit(about=session_id))
    assert [(one.caller, one.what, one.why) for one in found.violations] == [
        ("canon_keeper", "read_transcript", "prohibited")
    ]
