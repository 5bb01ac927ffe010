"""Previews show what would be sent; suggestions are fresh, few and never kept."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.live import Client, RpcFailed, gate_session, live_server
from tests.story_script import StoryScript, scripted_group, sea_resource

from fabula.testing.model_script import Fail, Say, say_json
from fabula.testing.model_server import ModelServer


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[Client]:
    async with live_server(tmp_path, model_attempts=1) as client:
        yield client


def compiled(preview: dict[str, Any]) -> list[dict[str, str]]:
    """The messages of a preview as they would be sent."""
    found = []
    for message in preview["messages"]:
        modules = [
            "\n\n".join(entry["compiled_text"] for entry in module["entries"] if entry["compiled_text"])
            for module in message["modules"]
        ]
        found.append({"role": message["role"], "content": "\n\n".join(module for module in modules if module)})
    return found


async def previewed(client: Client, agent: str, session_id: str | None = None, **params: Any) -> dict[str, Any]:
    return await client.call("preset_preview.runtime", session_id, preset_id="builtin", agent=agent, **params)


async def test_a_template_shows_placeholders_for_the_context(client: Client) -> None:
    preview = await client.call("preset_preview.template", preset_id="builtin", agent="director")
    assert preview["type"] == "preset_prompt_preview" and preview["preview_kind"] == "template"
    assert preview["message_role"] == "full" and "architect_mode" not in preview
    assert "<context:shared_history>" in compiled(preview)[-1]["content"]
    assert "shared_history" in preview["unresolved_context_keys"]


async def test_one_module_of_a_template_is_shown_alone(client: Client) -> None:
    preview = await client.call(
        "preset_preview.template",
        preset_id="builtin",
        agent="architect",
        module_id="output",
        architect_mode="draft_init",
    )
    assert preview["message_role"] == "system" and preview["module_id"] == "output"
    assert [module["module_id"] for message in preview["messages"] for module in message["modules"]] == ["output"]
    assert "introduction" in compiled(preview)[0]["content"]


async def test_what_planner_and_architect_are_sent_is_what_the_previews_showed(client: Client) -> None:
    script = StoryScript()
    async with ModelServer(script) as model:
        resource = await sea_resource(client, base_url=model.base_url)
        planner = await previewed(client, "planner", resource_id=resource)
        draft = await client.call("story_draft.start", resource_id=resource)
        opening = await previewed(client, "architect", architect_mode="draft_init", draft_id=draft["draft_id"])
        following = await previewed(client, "architect", architect_mode="draft_continue", draft_id=draft["draft_id"])
        await client.call("story_draft.continue", draft_id=draft["draft_id"])
        sent = [request.body["messages"] for request in model.requests]
    assert sent == [compiled(planner), compiled(opening), compiled(following)]
    assert opening["architect_mode"] == "draft_init" and opening["unresolved_context_keys"] == []
    whole = await previewed(client, "architect", architect_mode="graph", resource_id=resource)
    assert "A lighthouse keeper finds a door" in compiled(whole)[-1]["content"]


def answering(request: dict[str, Any]) -> Say:
    """Good answers for all roles of a turn: the keeper changes nothing, one beat, one line."""
    system = request["messages"][0]["content"]
    if "keeper" in system[:200].lower() and "ops" in system:
        return say_json({"ops": []})
    if "director" in system[:200].lower():
        return say_json({"role_actions": [], "beats": [{"type": "Narrator", "purpose": "DescribeScene"}]})
    return Say(text="Rain falls on the gate.")


async def test_what_the_roles_of_a_turn_are_sent_is_what_the_previews_showed(client: Client) -> None:
    async with ModelServer(answering) as model:
        await scripted_group(client, model.base_url)
        session_id = await gate_session(client)
        words = "I knock."
        keeper = await previewed(client, "keeper", session_id, player_input=words)
        director = await previewed(client, "director", session_id, player_input=words)
        narrator = await previewed(client, "narrator", session_id, player_input=words)
        frames = await client.turn(session_id, words)
        sent = [request.body["messages"] for request in model.requests]
    assert frames[-1]["type"] == "completed"
    assert sent[:3] == [compiled(keeper), compiled(director), compiled(narrator)]


async def test_an_actors_preview_has_its_card_and_not_the_players_variables(client: Client) -> None:
    session_id = await gate_session(client)
    preview = await previewed(client, "actor", session_id, character_id="mara", actor_purpose="advance_goal")
    system, user = compiled(preview)
    assert "You are Mara; User stands before you." in system["content"] and "advance_goal" in user["content"]
    card = next(module for module in preview["messages"][0]["modules"] if module["module_id"] == "character_card")
    assert card["entries"][0]["source"] == "synthetic"


async def test_a_preview_after_a_transition_knows_the_scene_before(client: Client) -> None:
    session_id = await gate_session(client)
    preview = await previewed(client, "narrator", session_id, previous_node_id="garden")
    assert "The scene before" in compiled(preview)[-1]["content"]


@pytest.mark.parametrize(
    ("params", "code"),
    [
        ({"agent": "architect"}, -32600),
        ({"agent": "planner", "architect_mode": "graph"}, -32600),
        ({"agent": "planner"}, -32600),
        ({"agent": "planner", "resource_id": "nobody"}, 40404),
        ({"agent": "architect", "architect_mode": "draft_init"}, -32600),
        ({"agent": "architect", "architect_mode": "draft_continue", "draft_id": "nobody"}, 40404),
        ({"agent": "director"}, -32600),
        ({"agent": "bard"}, -32602),
        ({"agent": "planner", "preset_id": "nobody"}, 40404),
    ],
)
async def test_a_preview_without_its_source_is_refused(client: Client, params: dict[str, Any], code: int) -> None:
    answer = await client.raw("preset_preview.runtime", **{"preset_id": "builtin", **params})
    assert answer["error"]["code"] == code


@pytest.mark.parametrize(
    "params",
    [
        {"agent": "actor"},
        {"agent": "actor", "character_id": "nobody"},
        {"agent": "narrator", "previous_node_id": "nowhere"},
        {"agent": "replyer", "reply_limit": 9},
        {"agent": "director", "module_id": "nothing"},
    ],
)
async def test_a_preview_of_what_is_not_in_the_session_is_refused(client: Client, params: dict[str, Any]) -> None:
    session_id = await gate_session(client)
    with pytest.raises(RpcFailed) as refused:
        await previewed(client, session_id=session_id, **params)
    assert refused.value.code == -32600


async def test_a_director_in_the_swift_pace_is_shown_as_it_is_asked(client: Client) -> None:
    session_id = await gate_session(client)
    agents = (await client.call("preset.get", preset_id="builtin"))["agents"]
    agents["director"]["extra"] = {"pace": "swift"}
    await client.call("preset.create", preset_id="quick", display_name="Quick", agents=agents)
    preview = await client.call("preset_preview.runtime", session_id, preset_id="quick", agent="director")
    assert preview["agent"] == "director" and "<narration>" in compiled(preview)[0]["content"]


async def test_the_understudy_suggests_as_many_replies_as_asked_for(client: Client) -> None:
    session_id = await gate_session(client)
    before = await client.call("session.get", session_id)
    default = await client.call("session.suggest_replies", session_id)
    assert default["type"] == "suggested_replies" and len(default["replies"]) == 3
    five = (await client.call("session.suggest_replies", session_id, limit=5))["replies"]
    assert len({reply["text"] for reply in five}) == len({reply["reply_id"] for reply in five}) == 5
    assert await client.call("session.get", session_id) == before


@pytest.mark.parametrize("limit", [-1, 0, 1, 6])
async def test_too_few_or_too_many_replies_are_refused(client: Client, limit: int) -> None:
    session_id = await gate_session(client)
    with pytest.raises(RpcFailed) as refused:
        await client.call("session.suggest_replies", session_id, limit=limit)
    assert refused.value.code == -32600


async def test_a_replyer_that_talks_nonsense_is_asked_once_more_and_then_replaced(client: Client) -> None:
    session_id = await gate_session(client)
    async with ModelServer(["no JSON", "none again"]) as model:
        await scripted_group(client, model.base_url)
        await client.call("session.update_config", session_id, api_group_id="scripted")
        answer = await client.call("session.suggest_replies", session_id)
        assert len(model.requests) == 2 and len(answer["replies"]) == 3
        assert answer == await client.call("session.suggest_replies", session_id)


async def test_a_broken_suggestion_is_repaired(client: Client) -> None:
    session_id = await gate_session(client)
    good = say_json(
        {"replies": [{"id": "x", "text": "Open up!"}, {"id": "y", "text": "open up"}, {"id": "z", "text": "Who?"}]}
    )
    async with ModelServer(["{", good]) as model:
        await scripted_group(client, model.base_url)
        await client.call("session.update_config", session_id, api_group_id="scripted")
        answer = await client.call("session.suggest_replies", session_id)
    assert [reply["text"] for reply in answer["replies"]] == ["Open up!", "Who?"]


async def test_a_replyer_that_is_down_is_told(client: Client) -> None:
    session_id = await gate_session(client)
    async with ModelServer([Fail(status=503)]) as model:
        await scripted_group(client, model.base_url)
        await client.call("session.update_config", session_id, api_group_id="scripted")
        with pytest.raises(RpcFailed) as failed:
            await client.call("session.suggest_replies", session_id)
    assert failed.value.code == 50001


async def test_the_replyer_reads_the_last_lines_and_only_the_latest_narration(client: Client) -> None:
    session_id = await gate_session(client)
    lines = (("narration", "An old tale."), ("dialogue", "Halt!"))
    for kind, text in lines:
        await client.call("session_message.create", session_id, kind=kind, speaker_id="x", speaker_name="X", text=text)
    await client.call(
        "session_message.create", session_id, kind="narration", speaker_id="x", speaker_name="X", text="A new tale."
    )
    told = compiled(await previewed(client, "replyer", session_id))[-1]["content"]
    play = told.partition("## The play so far")[2].partition("##")[0]
    assert "A new tale." in play and "Halt!" in play and "An old tale." not in play
