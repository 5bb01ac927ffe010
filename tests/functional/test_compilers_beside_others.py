"""Whoever waits for a story to be compiled keeps nobody from the store."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from tests.live import live_server

from fabula.actions.plays.start_session import StartSession, start_session
from fabula.ports.actors import OPERATOR

SHORT = "Rain falls.\n* [Go] -> END\n"


def large(word: str) -> str:
    """A story that leaves no room for others among those that are kept, and takes about a second to compile."""
    return "".join(f"* [{word} {n}]\n text\n" for n in range(6_200)) + "- -> END\n"


async def test_whoever_waits_for_a_compiler_holds_no_connection(tmp_path: Path) -> None:
    async with live_server(tmp_path) as client:
        story_id = (await client.call("story.create_ink", display_name="S", source=SHORT))["story_id"]
        session = (await client.raw("story.start_session", story_id=story_id))["session_id"]
        await client.call("ink.check", source=large("First"))
        checks = (client.call("ink.check", source=large(word)) for word in ("Second", "Third"))
        compiling = asyncio.gather(*checks)
        await asyncio.sleep(0.05)
        command = StartSession(story_id=story_id)
        starting = [asyncio.create_task(start_session(client.house, OPERATOR, command)) for _ in range(20)]
        turn = asyncio.create_task(client.turn(session, "Go"))
        await asyncio.sleep(0.5)
        assert len((await client.call("story.list"))["stories"]) == 1
        waiting: list[asyncio.Future[Any]] = [compiling, turn, *starting]
        assert not any(task.done() for task in waiting), "all of them wait for the compiler"
        assert len(await asyncio.gather(*starting)) == 20
        assert (await turn)[-1]["type"] == "completed"
        await compiling
