"""Lists: what a page of plays or stories and a search cost at 2,000 plays of 500 stories, against a tenth of them.

One play has 10,000 turns, and is the first on the page. `--database-url` measures on Postgres; it wants an empty
database.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from bench.growth import lengthen, story_of

from fabula.actions.house import House
from fabula.actions.library.stories import CreateStory, NameStory, create_story, get_story, list_stories
from fabula.actions.library.title_pages import show_title_page
from fabula.actions.listing import Listing
from fabula.actions.plays.recent_plays import recent_plays
from fabula.actions.plays.sessions import ListSessions, list_sessions
from fabula.actions.plays.start_session import StartSession, start_session
from fabula.actions.search import Find, find_anything
from fabula.actions.views import Paging
from fabula.ports.actors import OPERATOR, Actor
from fabula.settings import Settings
from fabula.story.graph import Graph, Node
from fabula.wiring import open_house

STORIES, PLAYS, TURNS = 500, 2_000, 10_000
FEW = 10
MEASURED = 41
PLAYER = Actor(role="player", token_id="token_bench")
PLACES = ("lighthouse", "mill", "ferry", "court", "caravan", "quay", "garden", "tower", "cellar", "bridge")
MOODS = ("unlit", "walking", "drowned", "quiet", "burning", "last", "hidden", "broken", "winter", "salt")

Question = Callable[[], Awaitable[object]]


def title(number: int) -> str:
    return f"The {MOODS[number % 10]} {PLACES[number // 10 % 10]} {number}"


async def add_stories(house: House, first: str, start: int, end: int) -> list[str]:
    """Stories of twenty scenes of a thousand letters."""
    like = await get_story(house, OPERATOR, NameStory(story_id=first))
    scene = "A road that goes on, past a milestone and a gate. " * 20
    node = like.graph.nodes[0]
    nodes = [Node(id=f"n{at}", title=f"Scene {at}", scene=scene, goal=node.goal) for at in range(20)]
    made = []
    for number in range(start, end):
        command = CreateStory(
            resource_id=like.resource_id,
            display_name=title(number),
            graph=Graph(start_node="n0", nodes=nodes),
            world_schema_id=like.world_schema_id,
            player_schema_id=like.player_schema_id,
            introduction=f"You come to the {PLACES[number % 10]} at night. " * 3,
        )
        made.append((await create_story(house, OPERATOR, command)).story_id)
    return made


async def add_plays(house: House, stories: list[str], start: int, end: int) -> None:
    """A tenth of them the player's; half of the others of the first story."""
    for number in range(start, end):
        actor = PLAYER if number % 10 == 0 else OPERATOR
        story = stories[0] if number % 2 else stories[number % len(stories)]
        name = f"{title(number)}, evening"
        await start_session(house, actor, StartSession(story_id=story, display_name=name))


def questions(house: House, story: str) -> dict[str, Question]:
    def plays(actor: Actor = OPERATOR, **more: object) -> Question:
        command = ListSessions.model_validate({"limit": 20, **more})
        return lambda: list_sessions(house, actor, command)

    def stories(actor: Actor = OPERATOR, **more: object) -> Question:
        command = Listing.model_validate({"limit": 20, **more})
        return lambda: list_stories(house, actor, command)

    def find(query: str, actor: Actor = OPERATOR) -> Question:
        return lambda: find_anything(house, actor, Find(query=query))

    return {
        "plays, updated": plays(order="updated"),
        "plays, by name": plays(order="name"),
        "plays, by id": plays(),
        "plays of a story": plays(order="updated", story_id=story),
        "plays that ended": plays(order="updated", status="ended"),
        "plays, a word": plays(order="updated", query="drowned qu"),
        "a player's plays": plays(PLAYER, order="updated"),
        "the last plays": lambda: recent_plays(house, OPERATOR, Paging(limit=5)),
        "stories, updated": stories(order="updated"),
        "stories, a word": stories(order="name", query="mil"),
        "a player's stories": stories(PLAYER, order="name"),
        "a title page": lambda: show_title_page(house, PLAYER, NameStory(story_id=story)),
        "find, two words": find("unl li"),
        "find, one letter": find("t"),
        "find, nothing": find("zzz"),
        "find, a player": find("the q", PLAYER),
    }


async def measure(asked: dict[str, Question]) -> dict[str, tuple[float, float]]:
    """The medians of waiting and of this process's own work (SQLite's is part of it), in milliseconds."""
    found = {}
    for name, question in asked.items():
        waits, works = [], []
        for _ in range(MEASURED):
            started, began = time.perf_counter(), time.process_time()
            await question()
            waits.append((time.perf_counter() - started) * 1000)
            works.append((time.process_time() - began) * 1000)
        found[name] = (statistics.median(waits), statistics.median(works))
    return found


async def main(address: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        async with open_house(Settings(data_dir=Path(folder), samples=False, database_url=address)) as house:
            first = await story_of(house)
            stories = [first, *await add_stories(house, first, 1, STORIES // FEW)]
            await add_plays(house, stories, 0, PLAYS // FEW)
            few = await measure(questions(house, first))
            stories += await add_stories(house, first, STORIES // FEW, STORIES)
            await add_plays(house, stories, PLAYS // FEW, PLAYS)
            newest = (await list_sessions(house, OPERATOR, ListSessions(order="updated", limit=1))).sessions[0]
            await lengthen(house, newest.session_id, TURNS)
            many = await measure(questions(house, first))
    print(f"{'median, ms (of CPU)':20} {PLAYS // FEW:>9} plays {PLAYS:>9} plays, one of {TURNS:,} turns")
    for name, (wait, work) in few.items():
        print(f"{name:20} {wait:>7.2f} ({work:5.2f}) {many[name][0]:>7.2f} ({many[name][1]:5.2f})")


if __name__ == "__main__":
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("--database-url", default="", help="a Postgres database; without it SQLite is measured")
    asyncio.run(main(reader.parse_args().database_url))
