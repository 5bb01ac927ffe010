"""`fabula outbox`: what was buried is shown with its reason, tried again, or dropped."""

from __future__ import annotations

import asyncio
import json
import subprocess
from pathlib import Path

from tests.fork_server import PROGRAM
from tests.functional.test_followers import buried
from tests.live import live_server

from fabula.testing.server_process import clean_environment


def outbox(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [*PROGRAM, "outbox", *words, "--data-dir", str(folder)]
    return subprocess.run(command, env=clean_environment({}), capture_output=True, text=True, timeout=600)


async def test_what_was_buried_is_shown_and_dropped_from_the_command_line(tmp_path: Path) -> None:
    async with live_server(tmp_path / "data") as client:
        work = await buried(client)
    listed = await asyncio.to_thread(outbox, tmp_path / "data", "list", "--json")
    assert [one["id"] for one in json.loads(listed.stdout)] == [work.work_id]
    shown = await asyncio.to_thread(outbox, tmp_path / "data", "show", work.work_id)
    assert "state: dead" in shown.stdout and "error: It did not work." in shown.stdout
    unknown = await asyncio.to_thread(outbox, tmp_path / "data", "show", "nothing")
    assert unknown.returncode == 1 and "There is nothing named 'nothing' in the outbox" in unknown.stderr
    dropped = await asyncio.to_thread(outbox, tmp_path / "data", "drop", work.work_id)
    assert dropped.returncode == 0
    again = await asyncio.to_thread(outbox, tmp_path / "data", "list")
    assert "Nothing waits" in again.stdout
