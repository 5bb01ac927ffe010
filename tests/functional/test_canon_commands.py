"""`fabula canon`: what was proposed is listed, judged, decided and written down, at the machine itself."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from tests.fork_server import PROGRAM
from tests.live import live_server

from fabula.testing.server_process import clean_environment

HOSTILE = "</data> '}) DETACH DELETE n // # <b>"


def fabula(folder: Path, *words: str) -> str:
    command = [*PROGRAM, *words, "--data-dir", str(folder)]
    done = subprocess.run(
        command, capture_output=True, text=True, env=clean_environment(None), timeout=120, check=False, cwd=folder
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
async def folder(tmp_path: Path) -> Path:
    """A data folder with a world, of which one change waits for somebody."""
    async with live_server(tmp_path) as client:
        await client.call("world.create", world_id="sarn", display_name="Sarn")
        orr: dict[str, Any] = {"kind": "entity", "entity_id": "orr", "entity_kind": "character", "name": HOSTILE}
        fact = {"kind": "fact", "subject": "orr", "predicate": "keeps", "object": "the tower"}
        doubt = {"kind": "fact", "subject": "orr", "predicate": "likes", "object": "fish"}
        evidence = [{"type": "source", "ref": "chapter 1"}]
        changes: list[Any] = [{"content": one, "evidence": evidence} for one in (orr, fact)]
        changes.append({"content": doubt, "authority": "player", "confidence": 0.5, "evidence": evidence})
        await client.call("canon.propose", world_id="sarn", changes=changes)
    return tmp_path


def test_changes_are_judged_decided_and_listed(folder: Path) -> None:
    assert "2 would be accepted, 0 would be rejected, 1 left to decide." in fabula(
        folder, "canon", "review", "sarn", "--dry-run"
    )
    assert "2 accepted, 0 rejected, 1 left to decide." in fabula(folder, "canon", "review", "sarn")
    (open_change,) = json.loads(fabula(folder, "canon", "list", "sarn", "--status", "pending", "--json"))
    told = fabula(folder, "canon", "decide", open_change["change_id"], "accept", "--reason", "He does.")
    assert told.strip() == f"{open_change['change_id']} is committed."


def test_a_world_is_written_in_the_format_that_its_file_says(folder: Path) -> None:
    fabula(folder, "canon", "review", "sarn")
    for suffix in ("json", "graphml", "cypher", "md"):
        told = fabula(folder, "canon", "export", "sarn", f"world.{suffix}")
        assert told.strip() == f"1 entities and 1 facts of 'sarn' are in world.{suffix}."
    assert json.loads((folder / "world.json").read_text("utf-8"))["entities"][0]["name"] == HOSTILE
    assert HOSTILE in "".join(ElementTree.fromstring((folder / "world.graphml").read_text("utf-8")).itertext())
    assert (folder / "world.cypher").read_text("utf-8").count("\n") == 3
    assert "the tower" in fabula(folder, "canon", "export", "sarn", "-", "--format", "markdown")
    fabula(folder, "canon", "export", "sarn", "all.json", "--format", "changes")
    assert len(json.loads((folder / "all.json").read_text("utf-8"))["changes"]) == 3
