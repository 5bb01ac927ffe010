"""`/metrics` tells how Fabula goes: turns, model calls, work, calls and streams, with labels from closed sets."""

from __future__ import annotations

import json
import re
from pathlib import Path

import httpx
from tests.fork_server import server_process
from tests.templates import fill_folder

STORY = "lighthouse-the-unlit-hour"


def call(address: str, method: str, session_id: str | None = None, **params: object) -> httpx.Response:
    where = {"session_id": session_id} if session_id else {}
    body = {"jsonrpc": "2.0", "id": "1", "method": method, "params": params, **where}
    return httpx.post(f"{address}/rpc", json=body, timeout=120)


def figures(address: str) -> dict[str, float]:
    lines = httpx.get(f"{address}/metrics", timeout=120).text.splitlines()
    return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines if not line.startswith("#"))}


def test_a_turn_is_seen_in_the_figures_and_every_call_in_the_log_by_its_method(tmp_path: Path) -> None:
    data = fill_folder(tmp_path / "data", "samples")
    settings = {"FABULA_LOG_FORMAT": "json", "FABULA_LOG_LEVEL": "debug"}
    with server_process(data, settings=settings) as (_, address):
        session = call(address, "story.start_session", story_id=STORY).json()["result"]["session_id"]
        assert "completed" in call(address, "session.run_turn", session, player_input="I look around.").text
        call(address, "story.get", story_id="nowhere")
        for number in range(3):
            call(address, f"made.up_{number}")
        assert call(address, "usage.list").json()["result"]  # waits until every model call is recorded
        found = figures(address)
    assert found['fabula_turns_total{outcome="done"}'] == found["fabula_turn_seconds_count"] == 1
    assert found['fabula_work_total{kind="turn",outcome="done"}'] == 1
    assert found['fabula_work_running{kind="turn"}'] == found["fabula_streams_open"] == 0
    assert found['fabula_rpc_calls_total{method="session.run_turn",outcome="begun"}'] == 1
    assert found['fabula_rpc_calls_total{method="story.get",outcome="not_found"}'] == 1
    assert found['fabula_rpc_calls_total{method="unknown",outcome="method_not_found"}'] == 3
    assert sum(value for name, value in found.items() if re.match(r"fabula_model_calls_total.*ok", name)) >= 1
    assert found["fabula_model_call_seconds_count"] >= 1 and found["fabula_model_calls_running"] == 0
    assert "made.up" not in str(found) and session not in str(found)
    logged = [json.loads(line) for line in (data / "server.log").read_text("utf-8").splitlines() if line[0] == "{"]
    calls = [(line["method"], line["outcome"]) for line in logged if line["message"] == "rpc call"]
    [ended] = [line for line in logged if line["message"] == "work ended" and line["kind"] == "turn"]
    [begun] = [line for line in logged if line.get("method") == "session.run_turn"]
    assert ended["trace_id"] == begun["trace_id"] == ended["work_id"]
    assert {'part="context"', 'part="model"', 'part="commit"', 'part="first_text"'} <= {
        name.partition("{")[2].rstrip("}") for name in found if name.startswith("fabula_turn_part_seconds_count")
    }
    assert ("story.start_session", "ok") in calls and ("session.run_turn", "begun") in calls
