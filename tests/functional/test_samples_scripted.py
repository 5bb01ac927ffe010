"""The sample stories with a scripted model in both paces; and a player who stops a turn while it is told."""

from __future__ import annotations

import asyncio
import io
import os
import signal
from pathlib import Path

from rich.console import Console
from tests.live import bodies
from tests.mass import crossed
from tests.scripted import PACES, theatre

from fabula.actions.library.samples import install_samples
from fabula.actions.turns.run_turn import RunTurn, run_turn
from fabula.cli.player.commands import COMMANDS, run_command
from fabula.cli.player.input_loop import open_play
from fabula.cli.player.lines import PipedLines
from fabula.cli.player.player_session import player_at
from fabula.cli.player.terminal_writer import TerminalWriter
from fabula.ports.actors import OPERATOR
from fabula.testing.model_script import Pace, Say

STORIES = ("lighthouse-the-unlit-hour", "caravan-the-walking-court")


@crossed("story_id, pace", STORIES, PACES)
async def test_a_scripted_model_plays_a_sample_story_to_its_end(tmp_path: Path, story_id: str, pace: str) -> None:
    async with theatre(tmp_path) as stage:
        await install_samples(stage.client.house)
        started = await stage.client.raw(
            "story.start_session", story_id=story_id, api_group_id="troupe", preset_id=pace
        )
        for _ in range(40):
            told = bodies(await stage.client.turn(started["session_id"], "Let us go on."))
            if any(body["type"] == "story_ended" for body in told):
                break
        session = await stage.client.call("session.get", started["session_id"])
        assert session["status"] == "ended"
        assert session["snapshot"]["world_state"]["current_node"].startswith("ending-")


async def test_ctrl_c_stops_the_turn_and_keeps_the_words(tmp_path: Path) -> None:
    async with theatre(tmp_path) as stage:
        out = io.StringIO()
        writer = TerminalWriter(Console(file=out, soft_wrap=True))
        session_id = await stage.session()
        player_session = await player_at(
            stage.client.house, session_id, seed=None, writer=writer, lines=PipedLines(writer)
        )
        stage.troupe.misbehave("narrator", Say(text="Slowly.", pace=Pace(first_token_ms=60_000)))
        telling = asyncio.create_task(player_session.say("I knock."))
        while "narrator" not in stage.troupe.calls:
            await asyncio.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)
        await asyncio.wait_for(telling, 120)
        assert "/retry" in out.getvalue()
        stage.troupe.forgive()
        await run_command(player_session, "/retry", COMMANDS)
        session = await player_session.session()
        assert (session.turn_index, session.history[0].text) == (1, "I knock.")


async def test_who_comes_back_while_a_turn_is_played_hears_its_end(tmp_path: Path) -> None:
    async with theatre(tmp_path) as stage:
        out = io.StringIO()
        writer = TerminalWriter(Console(file=out, soft_wrap=True))
        session_id = await stage.session()
        stage.troupe.misbehave("narrator", Say(text="The rain does not end.", pace=Pace(first_token_ms=1_500)))
        await run_turn(stage.client.house, OPERATOR, session_id, RunTurn(player_input="I knock."), request_id="play")
        player_session = await player_at(
            stage.client.house, session_id, seed=None, writer=writer, lines=PipedLines(writer)
        )
        await asyncio.wait_for(open_play(player_session), 120)
        told = out.getvalue().partition("Your last words are still being played.")[2]
        assert "> I knock.\n\nThe rain does not end.\n" in told
        assert (await player_session.session()).turn_index == 1
