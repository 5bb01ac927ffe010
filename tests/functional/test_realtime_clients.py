"""Clients of other libraries at the Socket.IO door: the official JavaScript one, and the examples."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import Place
from tests.functional.test_game_clients import EXAMPLES, node
from tests.functional.test_server_processes import children, client_of, processes
from tests.live import Client, gate_session, gate_story, live_server
from tests.scripted import theatre

from fabula.actions.care.tokens import create_token
from fabula.ports.actors import OPERATOR
from fabula.testing.model_script import Pace, Say

LIBRARY = "socket.io-client@4.8"
SECONDS_TO_INSTALL = 120


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which Node finds the official client."""
    npm = shutil.which("npm")
    if npm is None or not node():
        pytest.skip("The JavaScript client of Socket.IO needs Node and npm")
    folder = tmp_path_factory.mktemp("socket-io")
    command = [npm, "install", "--no-audit", "--no-fund", "--prefix", str(folder), LIBRARY]
    done = subprocess.run(command, capture_output=True, timeout=SECONDS_TO_INSTALL, check=False)
    if done.returncode:
        pytest.skip("The JavaScript client of Socket.IO cannot be installed: npm reaches no registry")
    return folder


async def run(*command: str, said: str = "", **environment: str) -> str:
    """What a program prints. It is given the lines, and must end well."""
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**os.environ, **environment},
    )
    printed, _ = await asyncio.wait_for(process.communicate(said.encode()), 120)
    assert process.returncode == 0, printed.decode()
    return printed.decode()


def address(client: Client) -> str:
    return str(client.http.base_url).rstrip("/")


CHECK = """
import { io } from "socket.io-client";
const [url, token, session, transport] = process.argv.slice(2);
const socket = io(url, { auth: { token }, ...(transport === "default" ? {} : { transports: [transport] }) });
const heard = [];
const finish = (code, why) => (console.log(JSON.stringify({ code, why, heard })), socket.close(), process.exit(0));
socket.onAny((event, data) => {
  heard.push([event, data]);
  if (event === "error") finish(1, "error");
  if (event === "feed" && data.event.type === "head_moved") finish(0, "moved");
});
socket.on("connect_error", (error) => finish(2, { message: error.message, data: error.data }));
socket.on("connect", async () => {
  heard.push(["ack", await socket.timeout(20000).emitWithAck("watch", { session_id: session })]);
  const beat = { request_id: "js-1", session_id: session, input: "I knock." };
  heard.push(["ack", await socket.timeout(20000).emitWithAck("storybeat", beat)]);
});
setTimeout(() => finish(3, "too late"), 60000);
"""


async def check(library: Path, client: Client, session_id: str, token: str, transport: str = "default") -> Any:
    script = library / "check.mjs"
    script.write_text(CHECK, "utf-8")
    return json.loads(await run(*node(), str(script), address(client), token, session_id, transport))


@pytest.mark.all
async def test_the_official_javascript_client_plays_and_watches_with_every_transport(
    tmp_path: Path, library: Path
) -> None:
    async with theatre(tmp_path) as stage:
        words = " ".join(f"word{number}" for number in range(40))
        for transport in ("default", "websocket", "polling"):
            session_id = await stage.session()
            stage.troupe.misbehave("narrator", Say(text=words, pace=Pace(tokens_per_second=40)))
            told = await check(library, stage.client, session_id, "", transport)
            assert told["code"] == 0, told
            heard = [(event, data) for event, data in told["heard"]]
            tokens = [data["token"] for event, data in heard if event == "new_token"]
            done = next(data for event, data in heard if event == "done")
            assert "".join(tokens) == done["full_text"] and words in done["full_text"] and len(tokens) > 5
            assert ("ack", {"ok": True}) in heard
            assert [data["frame"]["type"] for event, data in heard if event == "turn"][-1] == "completed"


@pytest.mark.all
async def test_the_javascript_client_learns_why_it_is_not_let_in(tmp_path: Path, library: Path) -> None:
    async with live_server(tmp_path, require_tokens=True) as client:
        told = await check(library, client, "session_none", "fabula_none")
        assert told["code"] == 2 and told["why"]["data"]["code"] == 40101 and "token" in told["why"]["message"]


@pytest.mark.all
async def test_the_javascript_example_plays_a_story(tmp_path: Path, library: Path) -> None:
    program = shutil.copy(EXAMPLES / "javascript" / "play-client.mjs", library)
    async with theatre(tmp_path, require_tokens=False) as stage:
        session_id = await stage.session()
        settings = {"FABULA_URL": address(stage.client), "FABULA_SESSION": session_id}
        printed = await run(*node(), str(program), said="I knock.\nI wait.\n\n", **settings)
        history = (await stage.client.call("session.get", session_id))["history"]
        assert [line["text"] for line in history if line["kind"] == "player_input"] == ["I knock.", "I wait."]
        assert all(line["text"] in printed for line in history if line["kind"] == "narration" and line["turn_id"])


async def test_the_python_example_plays_a_story_with_a_token(tmp_path: Path) -> None:
    program = EXAMPLES / "python" / "play_client.py"
    async with live_server(tmp_path, require_tokens=True) as client:
        token = await create_token(client.house, OPERATOR, role="admin")
        client.http.headers["authorization"] = f"Bearer {token.secret}"
        session_id = await gate_session(client)
        settings = {"FABULA_URL": address(client), "FABULA_SESSION": session_id, "FABULA_TOKEN": token.secret}
        printed = await run(sys.executable, str(program), said="I knock.\n\n", **settings)
        history = (await client.call("session.get", session_id))["history"]
        told = [line["text"] for line in history if line["kind"] != "player_input"]
        assert told[-1] in printed


@pytest.mark.all
async def test_the_javascript_client_plays_with_every_transport_through_several_processes(
    postgres_place: Place, tmp_path: Path, library: Path
) -> None:
    with processes(postgres_place, tmp_path / "server", 3) as (parent, address):
        await asyncio.to_thread(children, parent, 3)
        client = client_of(address)
        story_id = await gate_story(client)
        for transport in ("default", "websocket", "polling"):
            session_id = str((await client.raw("story.start_session", story_id=story_id))["session_id"])
            told = await check(library, client, session_id, "", transport)
            assert told["code"] == 0, told
            tokens = [data["token"] for event, data in told["heard"] if event == "new_token"]
            assert "".join(tokens) == next(data for event, data in told["heard"] if event == "done")["full_text"]
        await client.http.aclose()
