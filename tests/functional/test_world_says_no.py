"""A world says no for a reason, and offers another way: in the stream, in the prompt, in the trace and in the audit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.live import Client, bodies, gate_story, live_server, until_audited
from tests.scripted import theatre

from fabula.testing.model_script import say_json

CAPS: Any = {
    "technology": {"level": "medieval", "beyond": [{"words": ["pistol"], "instead": "a crossbow"}]},
    "magic": {"level": "none"},
}


async def in_a_world(client: Client, story: str, **more: Any) -> str:
    await client.call("world.create", world_id="salt", display_name="Salt", caps=CAPS)
    await client.call("story.update", story_id=story, world_id="salt")
    return str((await client.call("story.start_session", story_id=story, **more))["session_id"])


async def test_what_cannot_be_done_is_told_with_a_lead_and_nothing_is_rolled(tmp_path: Path) -> None:
    async with live_server(tmp_path) as client:
        session = await in_a_world(client, await gate_story(client), rules="d20")
        frames = await client.turn(session, "I cast a fireball at Mara.")
        kinds = [body["type"] for body in bodies(frames)]
        (judged,) = [body for body in bodies(frames) if body["type"] == "intent_judged"]
        assert (judged["rule"], judged["result"]) == ("magic", "deny") and judged["lead"]
        assert "check_asked" not in kinds
        told = (await client.call("session_message.list", session))["messages"]
        assert any("No magic of this world does" in line["text"] for line in told), told
        turn_id = frames[-1]["response"]["result"]["turn_id"]
        (verdict,) = (await client.call("session.explain_turn", session, turn_id=turn_id))["verdicts"]
        assert (verdict["rule"], verdict["result"]) == ("magic", "deny")
        (noted,) = await until_audited(client, about=session)
        assert (noted["why"], noted["what"]) == ("feasibility", "intent: magic")
        frames = await client.turn(session, "Hello, Mara.")
        assert "intent_judged" not in [body["type"] for body in bodies(frames)]


@pytest.mark.parametrize("pace", ["swift", "ensemble"])
async def test_models_are_told_what_the_world_says_at_the_end_of_the_prompt(tmp_path: Path, pace: str) -> None:
    async with theatre(tmp_path) as house:
        session = await in_a_world(house.client, house.story_id, api_group_id="troupe", preset_id=pace)
        plan: Any = {"role_actions": [], "beats": [{"type": "Narrator", "purpose": "DescribeResult"}]}
        house.troupe.misbehave("director", say_json(plan))
        await house.client.turn(session, "I draw my pistol.")
        prompts = [str(request.body["messages"]) for request in house.models.requests]
        assert any("What the world says to it" in one and "a crossbow" in one for one in prompts)
