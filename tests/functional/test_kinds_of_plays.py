"""Both kinds of plays through the same methods: what one of them cannot do it says, and what it does is true."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.ink_live import begin, play
from tests.knot_theatre import at_the_guard, say, says, theatre
from tests.live import Client, RpcFailed, live_server

WINTERS = "Eleven winters I have stood here."


async def rewrite(client: Client, session: str, old: str, new: str | None) -> None:
    """Changes a message of the transcript, found by its words, or strikes it out."""
    history = (await client.call("session.get", session))["history"]
    message = next(one for one in history if old in one["text"])
    named = {"message_id": message["message_id"]}
    if new is None:
        await client.call("session_message.delete", session, **named)
    else:
        fields = {name: message[name] for name in ("kind", "speaker_id", "speaker_name")}
        await client.call("session_message.update", session, **named, **fields, text=new)


async def prompt_after(client: Client, model: Any, session: str, words: str) -> str:
    await say(client, session, words)
    return json.dumps(model.requests[-1].body["messages"])


async def test_a_character_remembers_its_reply_as_it_was_rewritten(tmp_path: Path) -> None:
    async with theatre(tmp_path, [says("NEEDS_INPUT", WINTERS)] * 2) as (client, model):
        session = await at_the_guard(client)
        await say(client, session, "Who are you?")
        await rewrite(client, session, WINTERS, "I came here yesterday.")
        prompt = await prompt_after(client, model, session, "And before?")
        assert "I came here yesterday." in prompt and WINTERS not in prompt


async def test_words_that_were_struck_out_were_never_said(tmp_path: Path) -> None:
    async with theatre(tmp_path, [says("NEEDS_INPUT", WINTERS)] * 2) as (client, model):
        session = await at_the_guard(client)
        await say(client, session, "I am a thief.")
        await rewrite(client, session, "I am a thief.", None)
        prompt = await prompt_after(client, model, session, "Hello.")
        assert "thief" not in prompt and WINTERS in prompt


async def test_a_told_line_that_was_rewritten_is_what_characters_know_and_going_back_brings_the_old(
    tmp_path: Path,
) -> None:
    async with theatre(tmp_path, [says("NEEDS_INPUT", WINTERS)] * 2) as (client, model):
        session = await at_the_guard(client)
        before = (await client.call("session.get", session))["head_turn_id"]
        await rewrite(client, session, "Rain falls", "Snow lies on the old road.")
        prompt = await prompt_after(client, model, session, "Hello.")
        assert "Snow lies" in prompt and "Rain falls" not in prompt
        await client.call("session.switch_branch", session, turn_id=before)
        assert "Rain falls" in await prompt_after(client, model, session, "Hello again.")


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("session.update_player_description", {"player_description": "Tall."}),
        ("session_character.create", {"display_name": "Dog", "personality": "", "style": "", "system_prompt": ""}),
        ("session.update_variables", {"update": {"ops": []}}),
        ("session.suggest_replies", {}),
        ("session.follow_story", {}),
    ],
)
async def test_what_means_nothing_in_an_ink_play_is_refused_with_a_reason(
    tmp_path: Path, method: str, params: dict[str, Any]
) -> None:
    async with live_server(tmp_path) as client:
        session, _ = await begin(client)
        before = (await client.call("session.get", session))["head_turn_id"]
        with pytest.raises(RpcFailed, match=r"of kind 'ink': .{10,}"):
            await client.call(method, session, **params)
        assert (await client.call("session.get", session))["head_turn_id"] == before


async def test_an_ink_story_has_the_fields_that_every_story_has(tmp_path: Path) -> None:
    async with live_server(tmp_path) as client:
        session, _ = await begin(client)
        await play(client, session, choice=0)
        story_id = (await client.call("session.get", session))["story_id"]
        story = await client.call("story.get", story_id=story_id)
        assert [node["title"] for node in story["graph"]["nodes"]] == ["The Gate"]
        assert story["common_variables"] == [] and story["resource_id"] == ""
