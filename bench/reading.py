"""Reading: what a stage asks of a play of 10,000 turns with twelve forks, against the same of one of 100 turns.

Milliseconds of CPU are told, not of the clock: they are the same on a machine that others use.
"""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import orjson
from bench.growth import lengthen, story_of

from fabula.actions.house import House
from fabula.actions.plays.branches import ListBranches, SwitchBranch, list_branches, switch_branch
from fabula.actions.plays.export_session import ExportSession, write_session
from fabula.actions.plays.find_lines import FindLines, find_lines
from fabula.actions.plays.messages import ListMessages, list_messages
from fabula.actions.plays.recap_session import RecapSession, recap_session
from fabula.actions.plays.session_turns import FindSiblings, GetTurn, find_siblings, get_turn
from fabula.actions.plays.sessions import ShowSession, get_session
from fabula.actions.plays.start_session import StartSession, start_session
from fabula.actions.views import View
from fabula.ports.actors import OPERATOR
from fabula.settings import Settings
from fabula.wiring import open_house

NEAR, FAR, FORKS, SHOWN = 100, 10_000, 12, 60
MEASURED = 9

Question = Callable[[], Awaitable[View]]


async def long_play(house: House, story_id: str, turns: int) -> str:
    """A play of so many turns, from which short branches leave at even distances; it stands at its end."""
    session_id = (await start_session(house, OPERATOR, StartSession(story_id=story_id))).session_id
    await lengthen(house, session_id, turns)
    async with house.store.reading() as unit:
        play = await unit.plays.get(session_id)
        assert play is not None
        places = [await unit.plays.ancestor(play.head_turn_id, turns * n // FORKS) for n in range(FORKS)]
    for place in places:
        move = SwitchBranch(turn_id=place.turn_id, history="none")
        await switch_branch(house, OPERATOR, session_id, move)
        await lengthen(house, session_id, place.turn_index + 2)
    await switch_branch(house, OPERATOR, session_id, SwitchBranch(turn_id=play.head_turn_id, history="none"))
    return session_id


async def questions(house: House, session: str) -> dict[str, Question]:
    """What a stage asks, by name."""
    end = await list_messages(house, OPERATOR, session, ListMessages(order="newest", limit=SHOWN))
    outline = await list_branches(house, OPERATOR, session, ListBranches(collapse=True))
    last, turns = end.messages[-1].message_id, list(dict.fromkeys(line.turn_id for line in end.messages))
    forked = [turn.turn_id for turn in outline.turns]
    half = (await get_session(house, OPERATOR, session, ShowSession(history="none"))).turn_index // 2
    return {
        "open: the session and its newest 60 lines": lambda: get_session(
            house, OPERATOR, session, ShowSession(history=SHOWN)
        ),
        "page back: 60 lines before one": lambda: list_messages(
            house, OPERATOR, session, ListMessages(before=last, limit=SHOWN)
        ),
        "the first 60 lines": lambda: list_messages(house, OPERATOR, session, ListMessages(limit=SHOWN)),
        "the turn in the middle": lambda: get_turn(house, OPERATOR, session, GetTurn(turn_index=half)),
        "tellings of the turns on screen": lambda: find_siblings(
            house, OPERATOR, session, FindSiblings(turn_ids=turns)
        ),
        "tellings beside twelve forks": lambda: find_siblings(house, OPERATOR, session, FindSiblings(turn_ids=forked)),
        "the tree in outline": lambda: list_branches(house, OPERATOR, session, ListBranches(collapse=True)),
        "what happened so far": lambda: recap_session(house, OPERATOR, session, RecapSession()),
        "a word of the newest lines": lambda: find_lines(
            house, OPERATOR, session, FindLines(query="milestone", limit=20)
        ),
        "a word that was never said, in 20,000 lines": lambda: find_lines(
            house, OPERATOR, session, FindLines(query="zither")
        ),
    }


async def cost(question: Question) -> tuple[float, int]:
    """Median milliseconds of CPU, of all threads, and the size of the answer in bytes."""
    times, answer = [], await question()
    for _ in range(MEASURED):
        started = time.process_time()
        answer = await question()
        times.append((time.process_time() - started) * 1000)
    return statistics.median(times), len(orjson.dumps(answer.as_json()))


async def main() -> None:
    """Near and far are measured in the same run, question by question."""
    with tempfile.TemporaryDirectory() as folder:
        async with open_house(Settings(data_dir=Path(folder), samples=False)) as house:
            story_id = await story_of(house)
            near, far = [await long_play(house, story_id, turns) for turns in (NEAR, FAR)]
            asked_near, asked_far = await questions(house, near), await questions(house, far)
            print(f"{'':44} {NEAR:>7,} turns {FAR:>9,} turns {'answer':>9}")
            for name, question in asked_near.items():
                (short, _), (long, size) = await cost(question), await cost(asked_far[name])
                print(f"{name:44} {short:>10.1f} ms {long:>12.1f} ms {size / 1000:>6.0f} kB")
            for format in ("markdown", "epub"):
                started = time.process_time()
                written = await write_session(house, OPERATOR, far, ExportSession(format=format))
                took = (time.process_time() - started) * 1000
                print(f"{f'export as {format}':44} {'':13} {took:>12.0f} ms {len(written.data) / 1000:>6.0f} kB")


if __name__ == "__main__":
    asyncio.run(main())
