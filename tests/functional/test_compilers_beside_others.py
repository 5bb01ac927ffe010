"""Whoever waits for a story to be compiled keeps nobody from the store, and many who run stories keep no thread busy
that others need."""

from __future__ import annotations

import asyncio
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.live import live_server

from fabula.actions.plays.start_session import StartSession, start_session
from fabula.ports.actors import OPERATOR

SHORT = "Rain falls.\n* [Go] -> END\n"

ENDLESS = """VAR n = 0
-> on
=== on
~ n = n + 1
{n % 500 == 0: Line {n}.}
-> on
"""
"""It runs for half a second before it is stopped."""
THREADS = min(32, (os.cpu_count() or 1) + 4)
"""So many there are for all that takes long."""


def large(word: str) -> str:
    """A story that leaves no room for others among those that are kept, and takes about a second to compile."""
    return "".join(f"* [{word} {n}]\n text\n" for n in range(6_200)) + "- -> END\n"


async def test_whoever_waits_for_a_compiler_holds_no_connection(tmp_path: Path) -> None:
    async with live_server(tmp_path) as client:
        story_id = (await client.call("story.create_ink", display_name="S", source=SHORT))["story_id"]
        session = (await client.raw("story.start_session", story_id=story_id))["session_id"]
        await client.call("ink.check", source=large("First"))
        command = StartSession(story_id=story_id)
        # As if somebody's story were compiled for as long as this test likes.
        async with asyncio.timeout(20), client.house.compiled_stories._compiling:
            starting = [asyncio.create_task(start_session(client.house, OPERATOR, command)) for _ in range(20)]
            turn = asyncio.create_task(client.turn(session, "Go"))
            await asyncio.sleep(0.3)
            assert len((await client.call("story.list"))["stories"]) == 1
            waiting: list[asyncio.Task[Any]] = [turn, *starting]
            assert not any(task.done() for task in waiting), "all of them wait for the compiler"
        assert len(await asyncio.gather(*starting)) == 20
        assert (await turn)[-1]["type"] == "completed"


async def test_many_runs_of_stories_by_one_caller_leave_threads_to_others(tmp_path: Path) -> None:
    async with live_server(tmp_path) as client:
        endless = (await client.call("story.create_ink", display_name="E", source=ENDLESS))["story_id"]
        short = (await client.call("story.create_ink", display_name="S", source=SHORT))["story_id"]
        many = replace(OPERATOR, role="player", token_id="many")
        command = StartSession(story_id=endless)
        running = [asyncio.create_task(start_session(client.house, many, command)) for _ in range(THREADS + 2)]
        await asyncio.sleep(0.05)
        await start_session(client.house, replace(many, token_id="other"), StartSession(story_id=short))
        done = sum(task.done() for task in running)
        assert done < 4, f"{done} of them came before one who asked once"
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
