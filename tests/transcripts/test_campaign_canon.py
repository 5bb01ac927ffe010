"""What an evening of the sample campaign leaves behind: its canon and its plot as plain files, the same on both
engines, and gone back from exactly.

The evening is the one in `play/the-drowned-toll-the-river-is-paid`. After a wanted change, write the files anew with
`FABULA_WRITE_TRANSCRIPTS=1`, and read them before you commit.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import Place
from tests.functional.test_followers import all_done
from tests.live import Client, bodies, live_server

from fabula.actions.library.samples import install_samples, sample_folder
from fabula.canon.sentences import sentence_of
from fabula.story.canon import Change, Evidence
from fabula.story.state_hash import json_hash

EVENING = Path(__file__).parent / "play" / "the-drowned-toll-the-river-is-paid"
CAMPAIGN = sample_folder() / "the-drowned-toll"
LINES = (EVENING / "lines.txt").read_text("utf-8").splitlines()
WRITE = "FABULA_WRITE_TRANSCRIPTS" in os.environ


@pytest.fixture
async def client(place: Place) -> AsyncIterator[Client]:
    place.settings.data_folder.mkdir(exist_ok=True)
    async with live_server(place.settings.data_folder, database_url=place.settings.database_url) as client:
        await install_samples(client.house, CAMPAIGN)
        yield client


async def opened(client: Client) -> str:
    started = await client.call(
        "story.start_session", story_id="toll-the-drowned-toll", player_profile_id="toll-warden", seed=24
    )
    return str(started["session_id"])


async def said(client: Client, session: str, lines: list[str]) -> list[dict[str, Any]]:
    told = []
    for line in lines:
        told += bodies(await client.turn(session, line))
    await all_done(client)
    return told


async def canon_text(client: Client, session: str) -> str:
    """The commits of the play and its changes, as an author would read them."""
    names = {one["entity_id"]: one["name"] for one in (await client.call("entity.list", session))["entities"]}
    names["player"] = "Wren Vane"
    commits = (await client.call("canon.commits", session))["commits"][::-1]
    text = [
        f"turn {one['turn_index']} ({one['why']}): {one['accepted']} accepted, {one['rejected']} rejected, "
        f"{one['pending']} pending"
        for one in commits
    ]
    for one in (await client.call("canon.list", session))["changes"]:
        change = Change.model_validate({name: one.get(name) for name in Change.model_fields})
        text += [
            "",
            f"{one['status']}: {sentence_of(change.content, names)}",
            f"  {one['proposer']}, on the word of {one['authority']}: {_quoted(change.evidence[0])}",
            f"  {one['verdict']['steps'][-1]['sentence']}" if "verdict" in one else "  not judged yet",
        ]
    return "\n".join(text) + "\n"


async def plot_text(client: Client, session: str) -> str:
    """The agendas of the play as they stand, its arc, and each thread with the turns that moved it."""
    clocks = (await client.call("clock.list", session))["clocks"]
    listed = await client.call("thread.list", session)
    text = [f"{one['name']}: {one['filled']} of {one['segments']}, {one['status']}" for one in clocks]
    text += ["", f"arc: {listed['arc']['label']}, tension {listed['arc']['tension']}"]
    for one in sorted(listed["threads"], key=lambda one: one["moves"][0]["turn_index"]):
        moves = [f"  turn {move['turn_index']}: {move['status']}. {move['why']}" for move in one["moves"]]
        text += ["", one["title"], *moves]
    return "\n".join(text) + "\n"


def _quoted(evidence: Evidence) -> str:
    """The words that a change rests on; how a turn is told is another time told in other words."""
    return "its turn" if evidence.type == "turn" else f"“{evidence.quote}”"


async def seen(client: Client, session: str) -> str:
    """A hash of all that the play sees as true, of what is open, and of how its agendas and threads stand."""
    parts = [
        (await client.call(method, session))[field]
        for method, field in (
            ("entity.list", "entities"),
            ("fact.list", "changes"),
            ("relationship.list", "changes"),
            ("canon.list", "changes"),
            ("clock.list", "clocks"),
            ("thread.list", "threads"),
        )
    ]
    return json_hash(parts)


async def test_the_evening_leaves_the_same_canon_behind(client: Client) -> None:
    session = await opened(client)
    told = await said(client, session, LINES)
    assert len(LINES) == 20 and told[-1]["type"] == "story_ended"
    assert sum(body["type"] == "check_resolved" for body in told) == 4
    assert sum(body["type"] == "change_staged" for body in told) == 8
    text, file = await canon_text(client, session), EVENING / "canon.txt"
    check_file(file, text)
    check_file(EVENING / "plot.txt", await plot_text(client, session))


def check_file(file: Path, text: str) -> None:
    if WRITE:
        file.write_text(text, "utf-8")
    assert text == file.read_text("utf-8")


@pytest.mark.all
async def test_going_back_and_coming_again_sees_exactly_what_was_seen(client: Client) -> None:
    session = await opened(client)
    heads, hashes = [], []
    for line in LINES[:10]:
        await said(client, session, [line])
        heads.append((await client.call("session.get", session))["head_turn_id"])
        hashes.append(await seen(client, session))
    world = await client.call("canon.since", world_id="withy-reach", limit=1000)
    for head, before in [*zip(heads, hashes, strict=True)][::-1]:
        await client.call("session.switch_branch", session, turn_id=head)
        assert await seen(client, session) == before
    await client.call("session.switch_branch", session, turn_id=heads[4])
    await said(client, session, ["I climb down the chain, carefully.", "I go to the friary."])
    other = await seen(client, session)
    await client.call("session.switch_branch", session, turn_id=heads[-1])
    assert await seen(client, session) == hashes[-1] != other
    assert await client.call("canon.since", world_id="withy-reach", limit=1000) == world


async def test_the_sample_world_has_what_a_campaign_needs(client: Client) -> None:
    world = await client.call("world.get", world_id="withy-reach")
    listed = [
        (await client.call(method, world_id="withy-reach", limit=500))[field]
        for method, field in (("entity.list", "entities"), ("fact.list", "changes"), ("relationship.list", "changes"))
    ]
    entities, facts, ties = map(len, listed)
    assert (world["game_system_id"], entities >= 25, facts + ties >= 60) == ("d20", True, True)
    factions = {one["entity_id"] for one in listed[0] if one["kind"] == "faction"}
    clocks = (await client.call("clock.list", world_id="withy-reach"))["clocks"]
    threads = (await client.call("thread.list", world_id="withy-reach"))["threads"]
    assert len(factions) == 3 and {one["owner"] for one in clocks} == factions and len(threads) >= 5
