"""Where a preset says so, a model is asked what can be done in a world: only about what the rules leave open."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.live import bodies, until_audited
from tests.scripted import ROLES, Theatre, theatre

from fabula.testing.model_script import Behaviour, Fail, Say, say_json
from fabula.testing.troupe import is_for_judge

CAPS: Any = {"technology": {"level": "medieval", "beyond": [{"words": ["pistol"]}]}, "magic": {"level": "none"}}
OPEN = "I build a machine that talks across the sea."
NO: Any = {"result": "deny", "rule": "technology", "lead": "A letter and a fast rider reach as far."}


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Theatre]:
    async with theatre(tmp_path) as stage:
        await stage.client.call("world.create", world_id="salt", display_name="Salt", caps=CAPS)
        await stage.client.call("story.update", story_id=stage.story_id, world_id="salt")
        agents: dict[str, Any] = {role: {"modules": []} for role in ROLES}
        agents["director"]["extra"] = {"pace": "ensemble", "feasibility": "model"}
        await stage.client.call("preset.create", preset_id="asking", display_name="Asking", agents=agents)
        yield stage


async def judged(stage: Theatre, line: str, preset: str = "asking") -> list[tuple[str, str, str]]:
    session = await stage.session(preset)
    frames = await stage.client.turn(session, line)
    assert frames[-1]["type"] == "completed", frames[-1]
    return [(one["rule"], one["result"], one["lead"]) for one in bodies(frames) if one["type"] == "intent_judged"]


def asked(stage: Theatre) -> int:
    return sum(is_for_judge(request.body) for request in stage.models.requests)


async def test_a_model_says_no_by_a_rule_of_the_world_and_the_teller_is_told(stage: Theatre) -> None:
    stage.troupe.judgement = say_json(NO)
    assert await judged(stage, OPEN) == [("model", "deny", NO["lead"])]
    prompts = [str(request.body["messages"]) for request in stage.models.requests]
    assert any("The newest technology that there is here is medieval." in one for one in prompts)
    assert any("A letter and a fast rider" in one and "attempt comes to nothing" in one for one in prompts)
    wanted = [("intent: model", "feasibility")]
    await until_audited(stage.client, lambda noted: [(one["what"], one["why"]) for one in noted] == wanted)


@pytest.mark.parametrize(
    "answer",
    [
        say_json({"result": "allow"}),
        say_json({"result": "deny", "rule": "whim", "lead": "No."}),
        say_json({"result": "forbid", "rule": "technology", "lead": "No."}),
        say_json({"result": "deny", "rule": "technology"}),
        Say(text="It cannot be done, I think."),
        Fail(status=500),
    ],
)
async def test_an_answer_that_allows_or_does_not_fit_leaves_what_the_rules_said(
    stage: Theatre, answer: Behaviour
) -> None:
    stage.troupe.judgement = answer
    assert await judged(stage, OPEN) == []
    assert asked(stage) >= 1


async def test_nobody_is_asked_where_the_preset_does_not_say_so_or_the_rules_decide(stage: Theatre) -> None:
    stage.troupe.judgement = say_json({"result": "allow"})
    assert await judged(stage, OPEN, "ensemble") == []
    assert await judged(stage, OPEN, "swift") == []
    ((rule, result, _),) = await judged(stage, "I fire my pistol at the lock.")
    assert (rule, result) == ("technology", "deny"), "a model that allows it was not asked"
    assert await judged(stage, "I look around.") == []
    assert asked(stage) == 0


async def test_a_line_of_the_table_stands_before_the_gate_and_holds_what_it_leads_to(stage: Theatre) -> None:
    stage.troupe.judgement = say_json({**NO, "lead": "A spider could carry it."})
    session = await stage.session("asking")
    await stage.client.call("boundary.update", session, lines=["spiders"])
    frames = await stage.client.turn(session, OPEN)
    (found,) = [one for one in bodies(frames) if one["type"] == "intent_judged"]
    assert found["result"] == "deny" and "pider" not in str(frames)
