"""A model fails in a play: the player is told in one sentence, and can go on at once, without it or with another."""

from __future__ import annotations

import asyncio
import io
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from rich.console import Console
from tests.live import GATE_GRAPH, bodies, gate_story, live_server, sse
from tests.scripted import ROLES, Theatre, theatre

from fabula.actions.library.model_choice import UseModel, use_model
from fabula.actions.plays.sessions import get_config
from fabula.actions.views import Nothing
from fabula.agents.presets.templates import PromptRole
from fabula.cli.check_up import check_up
from fabula.cli.player.commands import COMMANDS, run_command
from fabula.cli.player.lines import Lines
from fabula.cli.player.player_session import PlayerSession, player_at
from fabula.cli.player.terminal_writer import TerminalWriter
from fabula.cli.player.wait_notice import wait_notice
from fabula.ports.actors import OPERATOR
from fabula.settings import Settings
from fabula.story.events import ActorStarted
from fabula.testing.model_script import Behaviour, CutMidStream, Fail, Silence, sound_model
from fabula.testing.model_server import ModelServer
from fabula.testing.world import FixedClock
from fabula.wiring import open_house

pytestmark = pytest.mark.asyncio(loop_scope="module")

BROKEN = [Fail(status=500)] * 8
STEPPED_IN: list[tuple[str, PromptRole, Behaviour]] = [
    ("ensemble", "keeper", Fail(status=401)),
    ("ensemble", "keeper", Fail(status=500)),
    ("ensemble", "director", Fail(status=500)),
    ("ensemble", "narrator", Silence()),
    ("ensemble", "actor", Fail(status=500)),
    ("swift", "swift", Fail(status=401)),
    ("swift", "swift", Silence()),
]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stage(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Theatre]:
    async with theatre(tmp_path_factory.mktemp("failures")) as opened:
        for pace in ("ensemble", "swift"):
            agents: dict[str, Any] = {role: {"modules": []} for role in ROLES}
            agents["director"]["extra"] = {"pace": pace, "on_model_failure": "understudy"}
            await opened.client.call("preset.create", preset_id=f"{pace}-on", display_name=pace, agents=agents)
        yield opened


@pytest_asyncio.fixture(loop_scope="module")
async def house(stage: Theatre) -> AsyncIterator[Theatre]:
    stage.troupe.forgive()
    yield stage


async def retry(house: Theatre, session_id: str, **params: Any) -> list[dict[str, Any]]:
    response = await house.client.http.post(
        "/rpc", json=house.client.request("session.retry_turn", session_id, **params)
    )
    assert response.headers["content-type"].startswith("text/event-stream"), response.text
    return [event["data"]["frame"] for event in sse(response.text) if event["event"] == "message"]


@pytest.mark.parametrize("pace", ["ensemble", "swift"])
async def test_a_failed_turn_goes_on_with_the_understudy_for_this_turn_alone(house: Theatre, pace: str) -> None:
    session_id = await house.session(pace)
    role: PromptRole = "swift" if pace == "swift" else "keeper"
    house.troupe.misbehave(role, *BROKEN)
    failed = await house.client.turn(session_id, "I knock at the gate.")
    assert failed[-1]["type"] == "failed" and failed[-1]["error"]["data"]["cause"] == "model_busy"
    asked = len(house.troupe.calls)
    again = await retry(house, session_id, **{"with": "understudy"})
    assert again[-1]["type"] == "completed"
    assert again[-1]["response"]["result"]["player_input"] == "I knock at the gate."
    assert len(house.troupe.calls) == asked, "no model was asked"
    house.troupe.forgive()
    assert (await house.client.turn(session_id, "I wait."))[-1]["type"] == "completed"
    assert len(house.troupe.calls) > asked, "the next turn asks the model again"


async def test_only_the_understudy_can_be_named_to_play_a_turn_again(house: Theatre) -> None:
    session_id = await house.session()
    answer = await house.client.raw("session.retry_turn", session_id, **{"with": "somebody"})
    assert answer["error"]["code"] == -32602


@pytest.mark.parametrize(("pace", "role", "fault"), STEPPED_IN)
async def test_where_the_preset_says_so_the_understudy_steps_in_by_itself(
    house: Theatre, pace: str, role: PromptRole, fault: Behaviour
) -> None:
    answer = await house.client.raw(
        "story.start_session", story_id=house.story_id, api_group_id="troupe", preset_id=f"{pace}-on"
    )
    house.troupe.misbehave(role, *[fault] * 8)
    frames = await house.client.turn(str(answer["session_id"]), "I knock at the gate.")
    assert frames[-1]["type"] == "completed"
    told = [body for body in bodies(frames) if body["type"] == "agent_degraded"]
    assert [body["stand_in"] for body in told] == ["understudy"]


async def test_what_was_read_already_is_not_taken_back_by_the_understudy(house: Theatre) -> None:
    answer = await house.client.raw(
        "story.start_session", story_id=house.story_id, api_group_id="troupe", preset_id="ensemble-on"
    )
    house.troupe.misbehave("narrator", *[CutMidStream()] * 4)
    frames = await house.client.turn(str(answer["session_id"]), "I knock at the gate.")
    assert frames[-1]["type"] == "failed" and frames[-1]["error"]["data"]["cause"] == "model_cut_off"


class NoLines:
    async def next(self, prompt: str = "> ") -> str | None:
        return None


async def seated(house: Theatre, session_id: str) -> tuple[PlayerSession, io.StringIO]:
    out = io.StringIO()
    lines: Lines = NoLines()
    writer = TerminalWriter(Console(file=out, highlight=False, soft_wrap=True, markup=False))
    return await player_at(house.client.house, session_id, seed=None, writer=writer, lines=lines), out


async def test_the_player_reads_one_plain_sentence_and_three_ways_on(house: Theatre) -> None:
    player, out = await seated(house, await house.session())
    house.troupe.misbehave("keeper", *BROKEN)
    await player.say("I knock at the gate.")
    told = out.getvalue()
    assert "The model is too busy to answer. Your words are kept." in told
    assert "/retry" in told and "/understudy" in told and "/model [NAME]" in told
    assert "keeper" not in told and player.writer.failed_turns == 1
    await run_command(player, "/understudy", COMMANDS)
    assert (await player.session()).turn_index == 1


async def test_a_play_takes_another_model_in_the_middle(house: Theatre) -> None:
    player, out = await seated(house, await house.session())
    await run_command(player, "/model", COMMANDS)
    assert "This play uses the models of 'troupe'." in out.getvalue() and "/model understudy" in out.getvalue()
    await run_command(player, "/model understudy", COMMANDS)
    config = await get_config(house.client.house, OPERATOR, player.session_id, Nothing())
    assert config.api_group_id == "builtin"


async def test_waiting_shows_on_a_terminal_who_is_thinking_and_in_a_pipe_nothing() -> None:
    shown, piped = io.StringIO(), io.StringIO()
    writer = TerminalWriter(Console(file=shown, force_terminal=True, width=80))
    clock = FixedClock()
    async with wait_notice(writer, clock, {"tobias": "Tobias"}) as notice:
        notice.saw(ActorStarted(beat_index=0, speaker_id="tobias", purpose="ReactToPlayer"))
        clock.advance(3000)
        await asyncio.sleep(1.2)
        assert "Tobias is thinking… 3 s (Ctrl+C stops)" in shown.getvalue()
        writer.say("“Aye.”")
    assert shown.getvalue().index("\r\x1b[2K“Aye.”") > 0, "the line is taken away before the words come"
    async with wait_notice(TerminalWriter(Console(file=piped)), clock, {}):
        clock.advance(3000)
        await asyncio.sleep(0)
    assert piped.getvalue() == ""


async def test_the_doctor_tells_what_the_last_real_call_did(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path, model_attempts=1, samples=False)
    async with ModelServer(sound_model, models=("m",)) as server:
        async with open_house(settings) as opened:
            await use_model(opened, OPERATOR, UseModel(base_url=server.base_url, model="m"))
        findings = {one.part: one for one in await check_up(settings)}
        assert "last call" in findings["model default"].sentence and ": ok, " in findings["model default"].sentence
        server.script = lambda body: Fail(status=401)
        async with open_house(settings) as opened:
            await use_model(opened, OPERATOR, UseModel(name="default"))
        found = {one.part: one for one in await check_up(settings)}["model default"]
        assert "refuses" in found.sentence and found.next_step == "fabula models test default"


async def test_a_story_that_says_the_same_again_and_again_is_told_without_a_model(tmp_path: Path) -> None:
    async with live_server(tmp_path) as client:
        story = await gate_story(client)
        nodes = [{**node, "scene": "Somebody knocks on wood, " * 60, "characters": []} for node in GATE_GRAPH["nodes"]]
        await client.call("story.update_graph", story_id=story, graph={**GATE_GRAPH, "nodes": nodes})
        session = str((await client.raw("story.start_session", story_id=story))["session_id"])
        frames = await client.turn(session, "I look around.")
    assert "".join(one["delta"] for one in bodies(frames) if one["type"] == "narrator_text_delta"), frames[-1]
    assert frames[-1]["type"] == "completed", frames[-1]
