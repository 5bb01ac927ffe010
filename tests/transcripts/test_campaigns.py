"""Two whole campaigns, each told by the understudy and by a scripted model: folders of plain files to be read.

`play.json` is how the play was started, `lines.txt` what the player said, `transcript.txt` what they read. The world is
a sample, or `world.txt` is what its author said about it, and `world.json` what moves in it. `model.txt` is what the
scripted model tells after which line, `model-transcript.txt` what the player reads then. After a wanted change, write
the transcripts anew with `FABULA_WRITE_TRANSCRIPTS=1`, and read them before you commit.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.functional.test_followers import all_done
from tests.live import Client, live_server
from tests.scripted import bind_troupe

from fabula.actions.campaigns.story_loop import lead_on
from fabula.actions.library.samples import install_samples, sample_folder
from fabula.actions.turns.run_turn import RunTurn, run_turn
from fabula.ports.actors import OPERATOR
from fabula.testing.model_server import ModelServer
from fabula.testing.told_model import ToldModel

FOLDER = Path(__file__).parent / "campaigns"
CAMPAIGNS = sorted(folder for folder in FOLDER.iterdir() if folder.is_dir())
# With every change the longest is played, the others by `make test-all`.
PLAYED = [CAMPAIGNS[-1], *(pytest.param(folder, marks=pytest.mark.all) for folder in CAMPAIGNS[:-1])]
SAMPLE = sample_folder() / "the-drowned-toll"
WRITE = "FABULA_WRITE_TRANSCRIPTS" in os.environ


@asynccontextmanager
async def campaign(folder: Path, data: Path) -> AsyncIterator[Client]:
    """A server with the world of a campaign."""
    async with live_server(data) as client:
        if not (folder / "world.txt").is_file():
            await install_samples(client.house, SAMPLE)
        else:
            await build(client, folder)
        yield client


async def build(client: Client, folder: Path) -> None:
    """The world as its author talks of it, and what moves in it."""
    world_id = json.loads((folder / "play.json").read_text("utf-8"))["world_id"]
    await client.call("world.create", world_id=world_id, display_name=folder.name.title())
    building = (await client.call("building.open", world_id=world_id))["building_id"]
    for line in (folder / "world.txt").read_text("utf-8").splitlines():
        said = await client.call("building.say", building_id=building, text=line)
        assert not said["refused"], said["refused"]
    moves = json.loads((folder / "world.json").read_text("utf-8"))
    await client.call("world.update", world_id=world_id, free=moves["free"])
    for clock in moves["clocks"]:
        await client.call("clock.create", world_id=world_id, **clock)
    for thread in moves["threads"]:
        await client.call("thread.update", world_id=world_id, **thread)


async def played(client: Client, folder: Path, **more: Any) -> tuple[str, str]:
    """The session, after all lines were said, and what the player read."""
    started = await client.raw("story.start_session", **json.loads((folder / "play.json").read_text("utf-8")), **more)
    session = str(started["session_id"])
    for number, line in enumerate((folder / "lines.txt").read_text("utf-8").splitlines()):
        said = RunTurn(player_input=line)
        turn = await run_turn(client.house, OPERATOR, session, said, request_id="campaign", seed=1000 + number)
        await client.house.work.wait(turn.turn_id)
        await lead_on(client.house, session)
    await all_done(client)
    return session, await written(client, session)


async def written(client: Client, session: str) -> str:
    """The play as it is read."""
    shown = await client.call("session.get", session)
    text = [
        f"> {line['text']}"
        if line["kind"] == "player_input"
        else f"{line['speaker_name']}: “{line['text']}”"
        if line["kind"] == "dialogue"
        else f"[{line['text']}]"
        if line["speaker_id"] == "player"
        else str(line["text"])
        for line in shown["history"]
    ]
    text += ["THE END"] if shown["status"] == "ended" else []
    for scene in (await client.call("scene.list", session))["scenes"][::-1]:
        text.append(f"{scene['title']}: {scene.get('outcome', 'now')}")
    return "\n\n".join(text) + "\n"


def check_file(file: Path, text: str) -> None:
    if WRITE:
        file.write_text(text, "utf-8")
    assert text == file.read_text("utf-8")


async def check_plot(client: Client, session: str, text: str) -> None:
    """What was set up early is paid off late, and what came to pass off-screen was noticed."""
    scenes = (await client.call("scene.list", session))["scenes"]
    assert sum(one["status"] != "open" for one in scenes) >= 10 and "THE END" in text
    threads = (await client.call("thread.list", session))["threads"]
    last = max(move["turn_index"] for one in threads for move in one["moves"])
    paid = [one for one in threads if one["status"] == "resolved"]
    assert len(paid) >= 3 and all(f"{one['title']} " in text for one in paid)
    late = [one for one in paid if one["moves"][0]["turn_index"] == 0 and one["moves"][-1]["turn_index"] > last / 2]
    assert any(text.count(one["title"]) >= 2 for one in late), "it is answered in a scene, and remembered at the end"
    fired = (await client.call("clock.list", session))["clocks"]
    noticed = [one for one in fired if one["status"] == "fired" and one["fires"].get("notice", "-") in text]
    assert len(noticed) >= 2


@pytest.mark.parametrize("folder", PLAYED, ids=lambda folder: folder.name)
async def test_a_campaign_is_played_to_its_end_with_no_model(folder: Path, tmp_path: Path) -> None:
    async with campaign(folder, tmp_path) as client:
        session, text = await played(client, folder)
        check_file(folder / "transcript.txt", text)
        await check_plot(client, session, text)
    spoken = re.findall(r"^[A-Z][\w ]+: “(.+)”$", text, re.MULTILINE)
    assert len(spoken) == len(set(spoken)), "nobody says a thing twice"


@pytest.mark.all
@pytest.mark.parametrize("folder", PLAYED, ids=lambda folder: folder.name)
async def test_a_campaign_is_played_to_its_end_with_a_scripted_model(folder: Path, tmp_path: Path) -> None:
    told = ToldModel.of((folder / "model.txt").read_text("utf-8"))
    async with ModelServer(told) as models, campaign(folder, tmp_path) as client:
        await bind_troupe(client, models.base_url)
        session, text = await played(client, folder, api_group_id="troupe", preset_id="ensemble")
        check_file(folder / "model-transcript.txt", text)
        await check_plot(client, session, text)
    assert not told.unheard, "every line of the script was told"
