"""Whoever runs the server looks after it from afar: how it is, what it costs, what waits, who may enter, backups."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from tests.live import Client, RpcFailed, gate_session, live_server

from fabula.adapters.stores.restore import check_backup
from fabula.adapters.world import SystemClock
from fabula.cli.ops_door import ops_door
from fabula.ports.work import NewWork
from fabula.testing.memory_store import memory_place
from fabula.testing.postgres import OwnPostgres
from fabula.wiring import open_house


async def test_the_status_tells_what_runs_here_and_what_waits_anywhere(tmp_path: Path) -> None:
    async with live_server(tmp_path) as client:
        await _leave_work(client)
        status = await client.call("server.status")
        # What a server does by itself as it starts may be under way still.
        while status["running"]["work"] or len(status["work"]) > 1:
            await asyncio.sleep(0.02)
            status = await client.call("server.status")
    assert status["ready"] and status["store"] == "sqlite" and status["bus"] == "local"
    assert status["running"] == {"turns": 0, "work": 0, "model_calls": 0, "streams": 0, "games": 0}
    assert [(one["kind"], one["state"], one["count"]) for one in status["work"]] == [("package_import", "waiting", 1)]


async def test_work_that_waits_is_listed_by_kind_and_can_be_cancelled_once(tmp_path: Path) -> None:
    async with live_server(tmp_path) as client:
        await _leave_work(client)
        [item] = (await client.call("work.list", state="waiting", kind="package_import"))["work"]
        assert (await client.call("work.list", kind="turn"))["work"] == []
        assert (await client.call("work.cancel", id=item["id"]))["state"] == "cancelled"
        assert (await client.call("work.list", kind="package_import"))["work"] == []
        with pytest.raises(RpcFailed, match="only what waits or runs can be cancelled"):
            await client.call("work.cancel", id=item["id"])
        with pytest.raises(RpcFailed, match="no kind of work named 'nonsense'"):
            await client.call("work.list", kind="nonsense")


async def test_usage_is_added_up_by_role_and_day_within_a_time(tmp_path: Path) -> None:
    async with live_server(tmp_path) as client:
        session = await gate_session(client)
        await client.turn(session, "I knock.")
        by_agent = await client.call("usage.summary", by="agent")
        by_session = await client.call("usage.summary", by="session")
        before = await client.call("usage.summary", by="day", to_ms=1)
        with pytest.raises(RpcFailed, match="must be before"):
            await client.call("usage.summary", by="day", from_ms=2, to_ms=2)
    assert by_agent["totals"]["calls"] == sum(row["calls"] for row in by_agent["rows"]) > 0
    assert [row["name"] for row in by_session["rows"]] == [session]
    assert (before["rows"], before["totals"]["calls"]) == ([], 0)


async def test_a_token_made_from_afar_is_told_once_and_ends_when_it_is_revoked(tmp_path: Path) -> None:
    async with live_server(tmp_path) as client:
        made = await client.call("token.create", role="player", label="Ada")
        listed = await client.call("token.list")
        ended = await client.call("token.revoke", token_id=made["token_id"])
    assert made["token"].startswith("fabula_")
    assert [(one["label"], one["revoked_at_ms"]) for one in listed["tokens"]] == [("Ada", None)]
    assert made["token"] not in str(listed) and "hash" not in str(listed)
    assert ended["revoked_at_ms"] is not None


async def test_a_backup_asked_of_a_running_server_is_whole_and_listed(tmp_path: Path) -> None:
    async with live_server(tmp_path) as client:
        assert (await client.call("backup.list"))["backups"] == []
        made = await client.call("backup.create")
        listed = await client.call("backup.list")
    assert listed["backups"] == [made]
    content = await asyncio.to_thread(check_backup, Path(listed["folder"]) / made["file"])
    assert content.kinds["preset"] >= 1


async def test_a_server_is_not_ready_before_what_the_first_turn_needs_is_loaded(tmp_path: Path) -> None:
    async with live_server(tmp_path) as client:
        client.house.warmth.is_warm = False
        cold = await client.http.get("/readyz")
        client.house.warmth.is_warm = True
        warm = await client.http.get("/readyz")
        figures = (await client.http.get("/metrics")).text
    assert cold.status_code == 503 and "still loads" in cold.json()["reason"]
    assert warm.json()["status"] == "ready" and "fabula_ready 1.0" in figures


@pytest.mark.all
def test_what_gets_a_server_ready_loads_what_memories_are_made_with() -> None:
    """Everybody would wait for it, in the first turn that is remembered."""
    program = (
        "import asyncio, sys\n"
        "from fabula.actions.turns.turn_runner import warm_up\n"
        "from fabula.adapters.world import SystemClock\n"
        "from fabula.recall.feelings import feeling_in, importance_of\n"
        "from fabula.testing.memory_store import memory_place\n"
        "from fabula.wiring import open_house\n"
        "async def main():\n"
        "    with memory_place() as place:\n"
        "        async with open_house(place.settings, store=place.store(SystemClock())) as house:\n"
        "            await warm_up(house)\n"
        "            loaded = set(sys.modules)\n"
        "            await house.embedder.embed(['He wept.'])\n"
        "    importance_of('He wept.', feeling_in('He wept.'))\n"
        "    print(*sorted(set(sys.modules) - loaded))\n"
        "asyncio.run(main())\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


async def test_a_process_that_serves_nobody_can_say_how_it_is(tmp_path: Path) -> None:
    with memory_place() as place, socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        async with (
            open_house(place.settings, store=place.store(SystemClock())) as house,
            ops_door(house, listener),
            httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}") as http,
        ):
            answers = [await http.get(path) for path in ("/healthz", "/readyz", "/metrics", "/rpc")]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 404]
    assert "fabula_work_running" in answers[2].text


@pytest.mark.all
async def test_readiness_follows_the_database_away_and_back(tmp_path: Path) -> None:
    postgres = OwnPostgres(tmp_path)
    address = postgres.address
    async with live_server(tmp_path / "data", database_url=address) as client:
        before = await client.http.get("/readyz")
        postgres.stop()
        away, figures = await client.http.get("/readyz"), (await client.http.get("/metrics")).text
        alive = await client.http.get("/healthz")
        postgres.start()
        back = await client.http.get("/readyz")
        await client.call("server.status")
    assert (before.status_code, away.status_code, back.status_code) == (200, 503, 200)
    assert "postgres" not in away.text, "strangers are not told where the database is"
    assert alive.text == "ok" and "fabula_ready 0.0" in figures


async def _leave_work(client: Client) -> None:
    """Work that is due far in the future: nobody takes it up meanwhile."""
    new = NewWork(work_id="work_1", kind="package_import", due_at_ms=2**50)
    await client.house.store.write(lambda unit: unit.work.begin(new))
