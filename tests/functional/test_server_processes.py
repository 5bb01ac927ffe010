"""`fabula serve --workers`: several processes on one port, of which any may die."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any, cast

import httpx
import psutil
import pytest
from tests.conftest import Place
from tests.fork_server import PROGRAM, Child, ForkServer, server_process
from tests.live import Client, gate_story, sse
from tests.scripted import bind_troupe

from fabula.testing.model_script import Pace, Say
from fabula.testing.model_server import ModelServer
from fabula.testing.server_process import clean_environment
from fabula.testing.troupe import Troupe

PATIENCE_S = 120.0


@contextmanager
def processes(place: Place, folder: Path, count: int = 2) -> Iterator[tuple[Child, str]]:
    settings = {**place.environment, "FABULA_SAMPLES": "false"}
    with server_process(folder, "--workers", str(count), settings=settings) as (parent, address):
        yield parent, address


def children(parent: Child, count: int) -> list[psutil.Process]:
    """The processes that serve, once there are that many."""
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        with suppress(psutil.NoSuchProcess):
            found: list[psutil.Process] = psutil.Process(parent.pid).children()
            if len(found) == count:
                return found
        time.sleep(0.02)
    raise AssertionError(f"There are not {count} processes.")


def client_of(address: str) -> Client:
    """A client whose every request takes a new connection, so that any process may get it."""
    limits = httpx.Limits(max_keepalive_connections=0)
    return Client(httpx.AsyncClient(base_url=address, timeout=120, limits=limits), cast(Any, None))


async def test_processes_share_a_port_and_one_that_dies_is_followed_by_another(
    postgres_place: Place, tmp_path: Path
) -> None:
    with processes(postgres_place, tmp_path / "server") as (parent, address):
        first = await asyncio.to_thread(children, parent, 2)
        client = client_of(address)
        await gate_story(client)
        first[0].kill()
        for _ in range(5):
            assert len((await client.call("story.list"))["stories"]) == 1, "the other one answers"
        await asyncio.to_thread(lambda: first[0].wait(PATIENCE_S))
        again = await asyncio.to_thread(children, parent, 2)
        assert first[1].pid in [one.pid for one in again] and first[0].pid not in [one.pid for one in again]
        assert len((await client.call("story.list"))["stories"]) == 1
        await client.http.aclose()
        await asyncio.to_thread(parent.kill, signal.SIGTERM)
        assert not [one for one in again if one.is_running() and one.status() != psutil.STATUS_ZOMBIE]
        assert "takes its place" in (tmp_path / "server" / "server.log").read_text()


async def test_processes_end_when_their_parent_is_killed(postgres_place: Place, tmp_path: Path) -> None:
    with processes(postgres_place, tmp_path / "server") as (parent, _):
        served = await asyncio.to_thread(children, parent, 2)
        await asyncio.to_thread(parent.kill)
        gone, alive = await asyncio.to_thread(psutil.wait_procs, served, PATIENCE_S)
        assert len(gone) == 2 and not alive


@pytest.mark.all
async def test_a_turn_is_followed_taken_up_and_cancelled_through_any_process(
    postgres_place: Place, tmp_path: Path
) -> None:
    troupe = Troupe()
    async with ModelServer(troupe) as models:
        with processes(postgres_place, tmp_path / "server") as (parent, address):
            client = client_of(address)
            await bind_troupe(client, models.base_url)
            story = {"story_id": await gate_story(client), "api_group_id": "troupe", "preset_id": "ensemble"}
            session_id = str((await client.raw("story.start_session", **story))["session_id"])
            troupe.misbehave("narrator", Say(text="late", pace=Pace(first_token_ms=600_000)))
            playing = asyncio.create_task(_lost(client.turn(session_id, "I knock.")))
            while "narrator" not in troupe.calls:
                await asyncio.sleep(0.01)
            for process in await asyncio.to_thread(children, parent, 2):
                process.kill()
                if (await asyncio.wait([playing], timeout=2))[0]:
                    break
            await asyncio.wait([playing], timeout=PATIENCE_S)
            assert playing.done(), "the one that played it is dead"
            async with asyncio.timeout(PATIENCE_S):
                while (session := await _patiently(client, session_id)).get("active_turn_id"):
                    await asyncio.sleep(0.1)
            assert session["turn_index"] == 1 and session["history"][0]["text"] == "I knock."
            troupe.misbehave("narrator", Say(text="late", pace=Pace(first_token_ms=600_000)))
            asked = troupe.calls.count("narrator")
            playing = asyncio.create_task(_lost(client.turn(session_id, "I wait.")))
            while troupe.calls.count("narrator") == asked:
                await asyncio.sleep(0.01)
            async with client.http.stream("GET", f"/sessions/{session_id}/events") as following:
                assert (await client.call("session.cancel_turn", session_id))["type"] == "turn_cancelled"
                await following.aread()
            assert sse(following.text)[-1]["data"]["frame"]["type"] == "failed"
            await playing
            await client.http.aclose()


def beat(session_id: str, number: int) -> dict[str, str]:
    return {"request_id": f"r{number}", "session_id": session_id, "input": "I knock."}


@asynccontextmanager
async def at_process(process: psutil.Process, address: str) -> AsyncIterator[httpx.AsyncClient]:
    """Requests to one of the processes, by the socket that its siblings use."""
    until = time.monotonic() + PATIENCE_S
    while not (own := [one.laddr for one in process.net_connections("unix") if str(one.laddr).endswith(".sock")]):
        assert time.monotonic() < until
        await asyncio.sleep(0.05)
    transport = httpx.AsyncHTTPTransport(uds=str(own[0]))
    async with httpx.AsyncClient(base_url=address, transport=transport, timeout=120) as http:
        yield http


@pytest.mark.all
async def test_a_client_that_polls_is_answered_by_the_process_that_holds_its_line(
    postgres_place: Place, tmp_path: Path
) -> None:
    with processes(postgres_place, tmp_path / "server", 3) as (parent, address):
        served = await asyncio.to_thread(children, parent, 3)
        client = client_of(address)
        story_id = await gate_story(client)
        session_id = str((await client.raw("story.start_session", story_id=story_id))["session_id"])
        path = "/socket.io/?EIO=4&transport=polling"
        line = f"{path}&sid={json.loads((await client.http.get(path)).text[1:])['sid']}"
        for one in served:
            # Whichever process a request reaches, the one that holds the line answers.
            async with at_process(one, address) as http:
                first = "40" if one is served[0] else f'42["storybeat", {json.dumps(beat(session_id, one.pid))}]'
                posted = await http.post(line, content=first)
                assert (posted.status_code, posted.text) == (200, "OK")
                assert ("transfer-encoding" in posted.headers) != ("content-length" in posted.headers)
                assert (await http.get(line)).text.startswith(("40", "42["))
        gone = await client.http.get("/socket.io/?EIO=4&transport=polling&sid=7.none")
        assert gone.status_code == 400 and "has ended" in gone.text
        await client.http.aclose()


def series(text: str, name: str) -> dict[str, float]:
    """The figures of a name, by the process that counted them."""
    lines = (line.rsplit(" ", 1) for line in text.splitlines() if line.startswith(name))
    return {re.findall(r'process="(\d+)"', labels)[0]: float(value) for labels, value in lines}


async def test_whichever_process_is_asked_tells_the_figures_of_all(postgres_place: Place, tmp_path: Path) -> None:
    with processes(postgres_place, tmp_path / "server", 3) as (parent, address):
        served = await asyncio.to_thread(children, parent, 3)
        for calls, one in enumerate(served, start=1):
            async with at_process(one, address) as http:
                for _ in range(calls):
                    await http.post("/rpc", json={"jsonrpc": "2.0", "id": "1", "method": "story.list", "params": {}})
        for one in served:
            async with at_process(one, address) as http:
                text = (await http.get("/metrics")).text
            counted = series(text, 'fabula_rpc_calls_total{method="story.list",outcome="ok"')
            assert sorted(counted) == ["0", "1", "2"] and sorted(counted.values()) == [1, 2, 3]
            assert set(series(text, "process_resident_memory_bytes{")) == {"0", "1", "2"}
            assert "\nfabula_processes 3.0\n" in text and text.count("# TYPE fabula_rpc_calls_total") == 1
        served[0].suspend()
        try:
            async with at_process(served[1], address) as http:
                text = (await http.get("/metrics")).text
        finally:
            served[0].resume()
        assert "\nfabula_processes 2.0\n" in text, "one that hangs is left out, and keeps nobody waiting"


@pytest.mark.all
def test_the_figures_of_all_processes_are_for_admins_alone(postgres_place: Place, tmp_path: Path) -> None:
    settings = {**postgres_place.environment, "FABULA_REQUIRE_TOKENS": "true", "FABULA_SAMPLES": "false"}
    folder = ["--data-dir", str(tmp_path / "server")]

    def token(role: str) -> dict[str, str]:
        command = [*PROGRAM, "token", "create", "--role", role, "--label", role, *folder]
        made = subprocess.run(command, env=clean_environment(settings), capture_output=True, text=True, check=True)
        return {"authorization": f"Bearer {made.stdout.strip()}"}

    admin, player = token("admin"), token("player")
    with server_process(tmp_path / "server", "--workers", "2", settings=settings) as (parent, address):
        children(parent, 2)
        until = time.monotonic() + PATIENCE_S
        while "fabula_processes 2.0" not in httpx.get(f"{address}/metrics", headers=admin, timeout=120).text:
            assert time.monotonic() < until
            time.sleep(0.05)
        for headers, status in ((player, 403), ({}, 401)):
            for path in ("/metrics", "/metrics?process=own"):
                assert httpx.get(f"{address}{path}", headers=headers, timeout=120).status_code == status


async def _lost(playing: Any) -> None:
    with suppress(httpx.HTTPError):
        await playing


async def _patiently(client: Client, session_id: str) -> dict[str, Any]:
    while True:
        try:
            return await client.call("session.get", session_id)
        except httpx.HTTPError:
            await asyncio.sleep(0.1)


def test_what_cannot_start_says_why_once_and_ends(postgres_place: Place, tmp_path: Path) -> None:
    settings = {**postgres_place.environment, "FABULA_REQUIRE_TOKENS": "true", "FABULA_SAMPLES": "false"}
    command = [*PROGRAM, "serve", "--port", "0", "--workers", "3", "--data-dir", str(tmp_path / "server")]
    done = subprocess.run(command, env=clean_environment(settings), capture_output=True, text=True, timeout=PATIENCE_S)
    assert done.returncode == 1 and (done.stdout + done.stderr).count("nobody has an access token") == 1


def test_with_sqlite_it_says_why_it_stays_at_one(fork_server: ForkServer, tmp_path: Path) -> None:
    with server_process(tmp_path / "server", "--workers", "4") as (child, address):
        assert httpx.get(f"{address}/healthz").text == "ok"
        assert not psutil.Process(child.pid).children()
        assert "Serving with one process: SQLite" in child.log.read_text()
        os.kill(child.pid, signal.SIGTERM)
        child.wait()
