"""What of a mind goes into whose prompt: a character's own actor knows what it hides, and nobody else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.live import bodies
from tests.scripted import PACES, Theatre, theatre

HIDDEN, RELIVED = "terribly homesick", "The ferry went down in the fog."
MIND = {
    "mask": {"presented": ["unshakeable"], "hidden": [HIDDEN], "touches": ["letter"]},
    "traumas": [{"text": RELIVED, "triggers": ["ferry"], "told": "A horn in the fog."}],
}


async def mindful_session(stage: Theatre, pace: str) -> str:
    content = (await stage.client.call("character.get", character_id="mara"))["content"]
    await stage.client.call("character.update", character_id="mara", content={**content, **MIND})
    return await stage.session(pace)


def result_in(frames: list[dict[str, Any]]) -> dict[str, Any]:
    return dict(frames[-1]["response"]["result"])


async def calls_of(stage: Theatre, session_id: str, turn_id: str) -> list[dict[str, Any]]:
    told = await stage.client.call("session.explain_turn", session_id, turn_id=turn_id)
    return list(told["calls"])


@pytest.mark.parametrize("pace", PACES)
async def test_what_is_hidden_stands_in_its_own_actors_prompt_alone(tmp_path: Path, pace: str) -> None:
    async with theatre(tmp_path) as stage:
        session_id = await mindful_session(stage, pace)
        frames = await stage.client.turn(session_id, "Good evening, did a letter come?")
        calls = await calls_of(stage, session_id, result_in(frames)["turn_id"])
        knowing = {call["agent"] for call in calls if HIDDEN in json.dumps(call["messages"])}
        showing = {call["agent"] for call in calls if "unshakeable" in json.dumps(call["messages"])}
        assert knowing == ({"actor"} if pace == "ensemble" else set())
        assert showing >= ({"actor", "director"} if pace == "ensemble" else {"swift"})
        assert HIDDEN not in json.dumps(frames)


async def test_a_flashback_is_an_event_of_its_own_and_its_actor_is_told_what_it_was(tmp_path: Path) -> None:
    async with theatre(tmp_path) as stage:
        session_id = await mindful_session(stage, "ensemble")
        for number in range(20):
            frames = await stage.client.turn(session_id, f"Is that the ferry? {number}")
            came = [body for body in bodies(frames) if body["type"] == "flashback"]
            if came:
                break
        assert len(came) == 1 and "A horn in the fog." in came[0]["text"]
        assert RELIVED not in json.dumps(frames)
        assert result_in(frames)["flashback"]["text"] == came[0]["text"]
        calls = await calls_of(stage, session_id, result_in(frames)["turn_id"])
        assert {call["agent"] for call in calls if RELIVED in json.dumps(call["messages"])} == {"actor"}
