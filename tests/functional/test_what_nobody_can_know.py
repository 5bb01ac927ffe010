"""Nobody knows what they cannot know: random scenes with comings, goings, whispers, thoughts and lies, and every prompt
is looked through for what its owner neither saw nor was told.
"""

from __future__ import annotations

import asyncio
import random
import re
from pathlib import Path
from typing import Any

import pytest
from tests.game_client import Game, game
from tests.gossip import SECRET, Gossips, gossip_story
from tests.ink_live import begin, play
from tests.knot_theatre import says
from tests.knot_theatre import theatre as ink_theatre
from tests.live import Client, live_server
from tests.mass import Mass
from tests.scripted import bind_troupe

from fabula.actions.followers.memories import remember_line
from fabula.adapters.stores import restore_backup
from fabula.settings import Settings
from fabula.story.values import JsonObject
from fabula.testing.model_script import Say
from fabula.testing.model_server import ModelServer
from fabula.testing.world import FixedClock

PACE_S = 0.05
"""A turn of a game is three frames, and a game may send sixty a second."""


class Table:
    """A session, and the truth as it was after each of its turns."""

    def __init__(self, client: Client, gossips: Gossips, session_id: str) -> None:
        self.client, self.gossips, self.session_id = client, gossips, session_id
        self.truths: list[dict[str, frozenset[str]]] = [{}]
        self.heads: list[str] = []
        self.casts: set[tuple[str, ...]] = set()

    async def turn(self) -> None:
        """Plays a turn, and has it remembered."""
        session = await self.client.call("session.get", self.session_id)
        here = session["snapshot"]["world_state"]["active_characters"]
        self.casts.add(tuple(here))
        await self.client.turn(self.session_id, self.gossips.player_line(here))
        self.truths.append(dict(self.gossips.known))
        head = (await self.client.call("session.get", self.session_id))["head_turn_id"]
        self.heads.append(head)
        await remember_line(self.client.house, head)

    async def go_back(self, turns: int) -> None:
        """Goes back; what was said meanwhile was never said on this line."""
        await self.client.call("session.backtrack", self.session_id, turns=turns)
        self.truths, self.heads = self.truths[:-turns], self.heads[:-turns]
        self.gossips.known = dict(self.truths[-1])

    async def switch(self, truths: list[dict[str, frozenset[str]]], heads: list[str]) -> None:
        """Takes another branch up where it was left."""
        await self.client.call("session.switch_branch", self.session_id, turn_id=heads[-1])
        self.truths, self.heads = list(truths), list(heads)
        self.gossips.known = dict(self.truths[-1])


async def open_table(client: Client, models: ModelServer, gossips: Gossips, pace: str) -> Table:
    await bind_troupe(client, models.base_url)
    story_id = await gossip_story(client)
    started = await client.raw("story.start_session", story_id=story_id, api_group_id="troupe", preset_id=pace)
    return Table(client, gossips, str(started["session_id"]))


def check(gossips: Gossips) -> None:
    assert gossips.problems == []


@pytest.mark.parametrize(("pace", "turns"), [pytest.param("ensemble", 110, marks=pytest.mark.all), ("swift", 220)])
async def test_no_prompt_tells_what_its_owner_cannot_know(pace: str, turns: int, mass: Mass, tmp_path: Path) -> None:
    """Played on, back, on another branch, in a fork, after a restart, and from a backup in another house."""
    gossips = Gossips(random.Random(5))
    folder = tmp_path / "data"
    async with ModelServer(gossips) as models:
        async with live_server(folder) as client:
            table = await open_table(client, models, gossips, pace)
            for _ in range(mass(turns)):
                await table.turn()
            left = list(table.truths), list(table.heads)
            await table.go_back(3)
            for _ in range(3):
                await table.turn()
            await table.switch(*left)
            await table.turn()
            fork = await client.call("session.fork", table.session_id, turn_id=table.heads[-4])
            forked = Table(client, gossips, str(fork["session_id"]))
            forked.truths = table.truths[:-3]
            gossips.known = dict(forked.truths[-1])
            await forked.turn()
            await client.call("session.suggest_replies", forked.session_id)
            gossips.known = dict(table.truths[-1])
            await client.house.store.backup(tmp_path / "fabula.backup")
        check(gossips)
        for place in (folder, tmp_path / "restored"):
            if place != folder:
                await restore_backup(Settings(data_dir=place), FixedClock(), tmp_path / "fabula.backup")
            gossips.known = dict(table.truths[-1])
            async with live_server(place) as client:
                again = Table(client, gossips, table.session_id)
                again.truths = list(table.truths)
                await again.turn()
                await again.turn()
    check(gossips)
    assert gossips.found > 20 and gossips.asked > mass(turns) and len(table.casts) > 2


TALKS = """
-> square
=== square
Two people stand in the square.
+ [Go to Mara] -> agent(-> mara, -> square)
+ [Go to Orr] -> agent(-> orr, -> square)
=== mara
I sell nets.
- -> DONE
=== orr
I mend boats.
- -> DONE
"""


async def test_no_talk_of_an_ink_story_tells_what_was_said_to_somebody_else(mass: Mass, tmp_path: Path) -> None:
    dice = random.Random(3)
    known: dict[str, str] = {}
    problems: list[str] = []
    recalled: list[str] = []

    def script(request: JsonObject) -> Say:
        messages: Any = request["messages"]
        text = "\n".join(str(one["content"]) for one in messages)
        who = "mara" if "interactive story: mara" in text.lower() else "orr"
        problems.extend(f"{who}: {word}" for word in set(SECRET.findall(text)) if known.get(word) != who)
        brought_back = text.partition("## What comes to the character's mind")[2].partition("\n## ")[0]
        recalled.extend(SECRET.findall(brought_back))
        word = f"zq{len(known)}x"
        known[word] = who
        if "farewell" in text.rpartition("## The player now says or does\n")[2]:
            return says("BRIDGE_AND_CONTINUE", f"I know {word}.", bridge_text=f"They nod, for {word}.")
        return says("NEEDS_INPUT", f"I know {word}.")

    async with ink_theatre(tmp_path, script) as (client, _):
        session, _ = await begin(client, TALKS, api_group_id="scripted")
        for _ in range(mass(120)):
            who = dice.choice(["mara", "orr"])
            await play(client, session, choice=0 if who == "mara" else 1)
            for _ in range(dice.randint(1, 6)):
                word = f"zq{len(known)}x"
                known[word] = who
                await play(client, session, player_input=f"The lantern, do you remember? It is {word}.")
            await play(client, session, player_input="And farewell.")
            head = (await client.call("session.get", session))["head_turn_id"]
            await remember_line(client.house, head)
    assert problems == []
    assert recalled


async def test_no_npc_of_a_game_is_told_what_another_one_lived_through(mass: Mass, tmp_path: Path) -> None:
    known: dict[str, str] = {}
    problems: list[str] = []

    def script(request: JsonObject) -> Say:
        messages: Any = request["messages"]
        text = "\n".join(str(one["content"]) for one in messages)
        who = "mara" if re.search(r"Who you are\nMara\b", text) else "orr"
        problems.extend(f"{who}: {word}" for word in set(SECRET.findall(text)) if known.get(word) != who)
        word = f"zq{len(known)}x"
        known[word] = who
        return Say(text=f"<say>I remember the lantern and {word}.</say>")

    async with ModelServer(script) as model:
        settings = {"openai_api_base": model.base_url, "llm_model": "scripted-small", "openai_api_key": "sk-x"}
        async with live_server(tmp_path, **settings) as client, game(str(client.http.base_url).rstrip("/")) as mine:
            for number in range(mass(120)):
                who = "mara" if number % 3 else "orr"
                word = f"zq{len(known)}x"
                known[word] = who
                await _as_npc(mine, who, f"The lantern is {word}, remember it.")
    assert problems == []


async def _as_npc(mine: Game, who: str, text: str) -> None:
    mine.state = {**mine.state, "spec": {**mine.state["spec"], "name": who.title()}}
    await mine.turn(text, agent_id=who)
    await asyncio.sleep(PACE_S)
