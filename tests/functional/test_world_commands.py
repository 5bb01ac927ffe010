"""`fabula world`: a world is made, shown with its agendas, and moves, at the machine itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.functional.test_canon_commands import fabula
from tests.live import live_server


async def test_a_world_is_made_shown_and_moved(tmp_path: Path) -> None:
    async with live_server(tmp_path):
        pass
    assert "Made the world The Reach (reach)." in fabula(tmp_path, "world", "new", "reach", "--name", "The Reach")
    assert "It has no agendas yet" in fabula(tmp_path, "world", "show", "reach")
    async with live_server(tmp_path) as client:
        fires = {"event": "The ferries come."}
        await client.call(
            "clock.create", world_id="reach", name="Forty ferries", segments=2, pressure=10, every=60, fires=fires
        )
    dry = fabula(tmp_path, "world", "advance", "reach", "1 day", "--dry-run")
    assert "1440 minutes would pass." in dry and "0 -> 2 of 2" in dry and "100% to come to its end" in dry
    shown = json.loads(fabula(tmp_path, "world", "show", "reach", "--json"))
    assert (shown["minute"], shown["clocks"][0]["filled"]) == (0, 0)
    done = fabula(tmp_path, "world", "advance", "reach", "1 day")
    assert done.replace("have passed", "would pass") == dry and "The ferries come." in done
    assert "## 2/2" in fabula(tmp_path, "world", "show", "reach")


async def test_a_world_is_shown_with_its_factions_conflicts_threads_and_events(tmp_path: Path) -> None:
    fabula(tmp_path, "world", "new", "reach", "--name", "The Reach")
    async with live_server(tmp_path) as client:
        ends = [{"outcome_id": "o", "event": "It ends."}]
        quarrel: dict[str, Any] = {"title": "The quarrel", "stakeholders": [{"who": "company"}], "outcomes": ends}
        await client.call("conflict.create", world_id="reach", conflict_id="quarrel", **quarrel)
        await client.call("thread.update", world_id="reach", thread_id="pier", title="Who cut the pier?")
        company: dict[str, Any] = {
            "kind": "entity",
            "entity_id": "company",
            "entity_kind": "faction",
            "name": "The Company",
        }
        company["anchor"] = True
        flood: dict[str, Any] = {"kind": "event", "what": "The river rose.", "who": ["company"], "at": 5}
        evidence = [{"type": "source", "ref": "the book"}]
        changes = [{"content": one, "evidence": evidence} for one in (company, flood)]
        await client.call("canon.propose", world_id="reach", changes=changes)
        await client.call("canon.review", world_id="reach")
    told = fabula(tmp_path, "world", "show", "reach")
    for line in ("The Company", "The quarrel: seed", "Who cut the pier?", "minute 5: The river rose."):
        assert line in told, told
