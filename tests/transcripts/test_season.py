"""A season in a small town: sixty turns, twelve people, three conflicts. It ends where the rules say.

The town is the sample in `stories/kettle-hill`, `season/lines.txt` what the player types, `season/transcript.txt` what
stood on the screen, and `season/steps.txt` how people, conflicts and the journal came to where they stand: each step
with its turn and its reason. `season/steps-served.txt` is the same for a play over the protocol, whose turns have other
seeds than those of the terminal, and `season/steps-scripted.txt` for one that the scripted model tells. Engines and
workers make no difference to them. After a wanted change, write them anew with `FABULA_WRITE_TRANSCRIPTS=1`, and read
them.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import Place
from tests.fork_server import PROGRAM
from tests.functional.test_followers import all_done
from tests.functional.test_workers import Yard, nothing_follows, until, yard
from tests.live import Client, live_server
from tests.scripted import bind_troupe

from fabula.actions.library.samples import install_samples, sample_folder
from fabula.story.values import Json, JsonObject
from fabula.testing.model_script import Behaviour, Say, say_json
from fabula.testing.model_server import ModelServer
from fabula.testing.server_process import clean_environment
from fabula.testing.troupe import Troupe, words_of_role

__all__ = ["yard"]

SEASON = Path(__file__).parent / "season"
TOWN = sample_folder() / "kettle-hill"
STORY, PROFILE, SEED = "kettle-a-season-on-the-hill", "kettle-clerk", 11
LINES = [line for line in (SEASON / "lines.txt").read_text("utf-8").splitlines() if not line.startswith("/")]
WRITE = "FABULA_WRITE_TRANSCRIPTS" in os.environ


def held_to(name: str, text: str) -> None:
    if WRITE:
        (SEASON / name).write_text(text, "utf-8")
    assert text == (SEASON / name).read_text("utf-8")


def run(*arguments: str, data: Path, typed: str = "") -> str:
    done = subprocess.run(
        [*PROGRAM, *arguments, "--data-dir", str(data)],
        input=typed,
        capture_output=True,
        text=True,
        env=clean_environment(),
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return re.sub(r"session_[0-9A-Z]{26}", "session_...", done.stdout)


async def test_the_season_reads_as_it_did_and_every_step_has_its_reason(tmp_path: Path) -> None:
    typed = (SEASON / "lines.txt").read_text("utf-8")
    started = ("--story", STORY, "--profile", PROFILE, "--seed", str(SEED))
    await asyncio.to_thread(run, "samples", "install", str(TOWN), data=tmp_path)
    held_to("transcript.txt", await asyncio.to_thread(run, "play", *started, data=tmp_path, typed=typed))
    async with live_server(tmp_path) as client:
        session = (await client.call("session.list"))["sessions"][0]["session_id"]
        await all_done(client)
        held_to("steps.txt", "\n".join(steps_in(await standing(client, session), await journal(client, session))))


@pytest.mark.all
@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
async def test_people_conflicts_and_journal_end_where_the_rules_say_and_going_back_undoes_it(
    engine: str, request: pytest.FixtureRequest
) -> None:
    place: Place = request.getfixturevalue(f"{engine}_place")
    place.settings.data_folder.mkdir(exist_ok=True)
    async with live_server(place.settings.data_folder, database_url=place.settings.database_url) as client:
        await install_samples(client.house, TOWN)
        session = await started(client)
        half = len(LINES) // 2
        await say(client, session, LINES[:half])
        before = await standing(client, session)
        await say(client, session, LINES[half:])
        await all_done(client)
        await ends_well(client, session)
        held_to(
            "steps-served.txt", "\n".join(steps_in(await standing(client, session), await journal(client, session)))
        )
        await client.call("session.backtrack", session, turns=len(LINES) - half)
        assert await standing(client, session) == before


@pytest.mark.all
async def test_the_season_ends_the_same_when_workers_do_what_follows_its_turns(yard: Yard) -> None:
    await install_samples(yard.client.house, TOWN)
    await yard.worker("--concurrency", "2")
    session = await started(yard.client)
    await say(yard.client, session, LINES)
    await until(lambda: nothing_follows(yard.client.house))
    await ends_well(yard.client, session)
    found = await standing(yard.client, session), await journal(yard.client, session)
    assert "\n".join(steps_in(*found)) == (SEASON / "steps-served.txt").read_text("utf-8")


@pytest.mark.all
@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
async def test_the_season_ends_where_the_rules_say_when_a_model_tells_it(
    engine: str, request: pytest.FixtureRequest
) -> None:
    place: Place = request.getfixturevalue(f"{engine}_place")
    place.settings.data_folder.mkdir(exist_ok=True)
    folder, url = place.settings.data_folder, place.settings.database_url
    async with ModelServer(SeasonModel()) as models, live_server(folder, database_url=url) as client:
        await bind_troupe(client, models.base_url)
        await install_samples(client.house, TOWN)
        session = await started(client, api_group_id="troupe", preset_id="ensemble")
        await say(client, session, LINES)
        await all_done(client)
        await ends_well(client, session)
        held_to(
            "steps-scripted.txt", "\n".join(steps_in(await standing(client, session), await journal(client, session)))
        )


class SeasonModel(Troupe):
    """The troupe, whose keeper takes the clerk where they say, and whose director has one person answer."""

    def __call__(self, request: JsonObject) -> Behaviour | str:
        good = super().__call__(request)
        prompt = words_of_role(request, "user")
        match self.calls[-1] if self.calls else None:
            case "keeper" if "The phase: after_player_input." in prompt:
                return say_json({"ops": [*self.operations(prompt)]})
            case "keeper":
                return say_json({"ops": []})
            case "director" if isinstance(good, Say) and len((plan := json.loads(good.text))["beats"]) > 2:
                return say_json({**plan, "beats": plan["beats"][:2]})
        return good

    def operations(self, prompt: str) -> Iterator[Json]:
        said = prompt.partition("## The player's input\n")[2].strip()
        for words, key, value in DEEDS:
            if words in said:
                yield {"type": "SetState", "key": key, "value": value, "because": words}


DEEDS: list[tuple[str, str, Json]] = [
    ("I go to the well house", "heading", "well"),
    ("I go to the inn", "heading", "inn"),
    ("I go to the mill", "heading", "mill"),
    ("I go back to the square", "heading", "square"),
    ("I ring the market bell", "heading", "feast"),
    ("I climb to the loft and read the second ledger", "ledger_read", True),
    ("I measure the water with the old rod", "well_rule", "measured"),
]


async def started(client: Client, **chosen: str) -> str:
    wanted = {"story_id": STORY, "player_profile_id": PROFILE, "seed": SEED, **chosen}
    return str((await client.call("story.start_session", **wanted))["session_id"])


async def say(client: Client, session: str, lines: list[str]) -> None:
    for line in lines:
        assert (await client.turn(session, line))[-1]["type"] == "completed", line


async def ends_well(client: Client, session: str) -> None:
    ended = {one["conflict_id"]: one["phase"] for one in (await standing(client, session))["conflicts"]}
    assert set(ended.values()) <= {"resolution", "aftermath"}, "all are over"
    assert {one["status"] for one in await journal(client, session)} == {"done"}
    events = [one for one in await landed(client, session) if one["content"]["kind"] == "event"]
    assert sorted(one["evidence"][0]["ref"] for one in events) == [
        "the-forty-crowns",
        "the-second-cup",
        "the-two-rows",
    ], "each conflict lands in canon once"


async def standing(client: Client, session: str) -> dict[str, Any]:
    people = await client.call("relation.list", session)
    conflicts = (await client.call("conflict.list", session))["conflicts"]
    return {"relations": people["relations"], "goals": people["goals"], "conflicts": conflicts}


async def journal(client: Client, session: str) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = (await client.call("journal.list", session))["entries"]
    return entries


async def landed(client: Client, session: str) -> list[dict[str, Any]]:
    changes: list[dict[str, Any]] = (await client.call("canon.list", session, limit=200))["changes"]
    return [one for one in changes if one["evidence"][0]["type"] == "conflict"]


def steps_in(found: dict[str, Any], entries: list[dict[str, Any]]) -> Iterator[str]:
    for one in found["conflicts"]:
        yield f"{one['title']}: {one['phase']}, {one['intensity']}. {one.get('outcome', '')}"
        for step in one["steps"]:
            yield f"  turn {step['turn_index']}: {step['phase']}, {step['intensity']}. {step['why']}"
    for one in found["relations"]:
        yield ""
        yield f"{one['name']} to {one['towards_name']}: {one['stands'] or 'nothing to tell'}"
        axes = ", ".join(f"{axis} {one[axis]}" for axis in ("trust", "respect", "affinity", "fear"))
        yield f"  {axes}"
        for step in one["steps"]:
            moved = ", ".join(f"{axis} {by:+}" for axis, by in step["deltas"].items() if by)
            yield f"  turn {step['turn_index']}: {step['reason']} ({moved})"
    yield ""
    for one in found["goals"]:
        why = f" {' '.join(one['reasons'])}" if one["reasons"] else ""
        yield f"{one['character_id']}, {one['stance']} ({one['strength']}): {one['text']}{why}"
    yield ""
    yield from (f"{one['status']}: {one['title']}" for one in entries)
    yield ""
