"""The loops are shown as they are, and where one stands can be asked while it runs."""

from __future__ import annotations

import asyncio
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import Place
from tests.fork_server import PROGRAM
from tests.ink_live import begin
from tests.live import RpcFailed, live_server
from tests.scripted import theatre

from fabula.agents.presets.templates import PromptRole
from fabula.testing.model_script import Pace, Say
from fabula.testing.server_process import clean_environment

LATE = Say(text="The gate stands.", pace=Pace(first_token_ms=60_000))


def draw(*words: str) -> subprocess.CompletedProcess[str]:
    command = [*PROGRAM, "loops", "draw", *words]
    return subprocess.run(
        command, capture_output=True, text=True, env=clean_environment(None), timeout=120, check=False
    )


def test_a_loop_is_drawn_with_its_steps_in_their_order() -> None:
    told = draw("scene").stdout
    names = [line.split("[")[1].rstrip("]") for line in told.splitlines() if "[" in line]
    assert names == ["load_context", "resolve", "narrate", "persist_turn_artifacts", "canonize"]
    assert told.splitlines()[1] == "flowchart TD" and told.count("-->") == 5 and told.count("-.->") == 1


def test_all_loops_are_drawn_and_an_unknown_one_is_named() -> None:
    listed = json.loads(draw("--json").stdout)
    assert {"scene", "ink_talk", "ink", "generation"} <= {line["name"] for line in listed}
    refused = draw("nonsense")
    assert refused.returncode == 2 and "no loop 'nonsense'" in refused.stderr


@pytest.mark.parametrize(("role", "node"), [("narrator", "narrate"), ("director", "resolve")])
async def test_a_turn_that_waits_for_a_model_says_at_which_step(
    tmp_path: Path, place: Place, role: PromptRole, node: str
) -> None:
    async with theatre(tmp_path, database_url=place.settings.database_url) as house:
        session_id = await house.session()
        assert (await house.client.call("loop.state", session_id))["loops"] == []
        house.troupe.misbehave(role, LATE)
        playing = asyncio.create_task(house.client.turn(session_id, "I knock."))
        while role not in house.troupe.calls:
            await asyncio.sleep(0.01)
        (found,) = (await house.client.call("loop.state", session_id))["loops"]
        assert (found["loop"], found["status"], found["node"], found["attempt"]) == ("scene", "running", node, 1)
        await house.client.call("session.cancel_turn", session_id)
        await playing
        (over,) = (await house.client.call("loop.state", session_id, turn_id=found["thread_id"]))["loops"]
        assert (over["status"], over["node"]) == ("cancelled", None)


async def test_a_loop_is_asked_of_a_turn_of_the_same_session(tmp_path: Path) -> None:
    async with live_server(tmp_path) as client:
        session, _ = await begin(client)
        assert {line["name"] for line in (await client.call("loop.list"))["loops"]} >= {"scene", "ink"}
        first = (await client.call("session.get", session))["head_turn_id"]
        with pytest.raises(RpcFailed, match="no turn"):
            await client.call("loop.state", session, turn_id=first)
        other, _ = await begin(client)
        with pytest.raises(RpcFailed, match="no turn"):
            await client.call("loop.state", other, turn_id="turn_x")


async def test_a_talk_that_is_being_left_is_among_the_loops(tmp_path: Path) -> None:
    # A model is asked to sum the talk up, and keeps whoever leaves it waiting; by rule it would be over at once.
    async with theatre(tmp_path, summaries="model") as house:
        client, session = house.client, await house.session()
        await client.call("conversation.open", session, character_ids=["mara"])
        await client.turn(session, "Good evening.")
        house.troupe.summary = LATE
        leaving = asyncio.create_task(client.call("conversation.close", session))
        loops: list[dict[str, Any]] = []
        while not leaving.done() and [one["node"] for one in loops] != ["close_session"]:
            loops = (await client.call("loop.state", session))["loops"]
            await asyncio.sleep(0.01)
        (found,) = loops
        assert (found["loop"], found["status"], found["attempt"]) == ("conversation", "running", 1)
        await client.house.work.cancel(found["thread_id"])
        await asyncio.wait([leaving])
