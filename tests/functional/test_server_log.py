"""The server's log: structured, as detailed as asked, and without secrets even then."""

from __future__ import annotations

import json
import logging
from pathlib import Path

from tests.fork_server import server_process
from tests.game_client import game

from fabula.cli.log_lines import JsonLines, TextLines


async def test_a_turn_leaves_a_line_with_its_ids_and_no_level_tells_a_token(tmp_path: Path) -> None:
    settings = {"FABULA_LOG_FORMAT": "json", "GAME_AGENT_LOG_LEVEL": "DEBUG", "FABULA_SAMPLES": "false"}
    with server_process(tmp_path / "data", settings=settings) as (_, address):
        async with game(address, additional_headers={"X-Note": "fabula_secret_header"}) as mine:
            await mine.send("hello", token="fabula_secret_token", client="my-game")
            connection = (await mine.next("welcome"))["connection_id"]
            frames = await mine.turn("My secret is safe with you.")
            await mine.settled()
    text = (tmp_path / "data" / "server.log").read_text("utf-8")
    lines = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    [ended] = [line for line in lines if line["message"] == "NPC turn finished"]
    assert (ended["connection_id"], ended["agent_id"], ended["turn_id"]) == (connection, "mara", frames[0]["turn_id"])
    assert ended["level"] == "info" and ended["logger"] == "fabula.game" and ended["ms"] >= 0
    assert [line["game"] for line in lines if line["message"] == "game connection closed"] == ["my-game"]
    assert any(line["level"] == "debug" for line in lines)
    assert "fabula_secret" not in text and "My secret is safe" not in text


def line_of(formatter: logging.Formatter, **extra: object) -> str:
    record = logging.LogRecord("fabula.game", logging.INFO, "", 0, "turn %s", ("ended",), None)
    record.__dict__.update(extra)
    return formatter.format(record)


def test_lines_for_people_end_with_the_facts_and_a_line_stays_a_line() -> None:
    line = line_of(TextLines(), facts={"agent_id": "mara", "turn_id": None, "game": "two\nlines"})
    assert line.endswith('INFO fabula.game: turn ended agent_id=mara game="two\\nlines"')


def test_lines_for_machines_are_json_with_the_facts_by_name() -> None:
    line = json.loads(line_of(JsonLines(), facts={"agent_id": "mara", "level": "a fact never hides the level"}))
    assert (line["level"], line["message"], line["agent_id"]) == ("info", "turn ended", "mara")
    assert line["ts"].endswith("Z")
