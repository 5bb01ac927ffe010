"""Hostile connections: whoever does not read, floods or babbles harms nobody else, and nothing confirmed is lost."""

from __future__ import annotations

import asyncio
import json
import random
import socket as sockets
from pathlib import Path

import websockets
from tests.fork_server import server_process
from tests.game_client import closed, game, spoken
from tests.live import Client, StandingClock, live_server
from tests.mass import Mass

from fabula.story.values import JsonObject
from fabula.testing.model_script import Behaviour, Pace, Say
from fabula.testing.model_server import ModelServer


def address(client: Client) -> str:
    return str(client.http.base_url).rstrip("/")


async def test_ten_thousand_malformed_frames_harm_no_other_connection(tmp_path: Path, mass: Mass) -> None:
    async with live_server(tmp_path / "data") as client, game(address(client)) as good:
        chance = random.Random(6)

        async def babble() -> None:
            async with game(address(client)) as bad:
                for number in range(mass(10_000)):
                    await bad.raw(_nonsense(chance, number))
                await bad.raw("{")
                assert (await bad.next("error", seconds=60))["message"].endswith(".")

        babbling = asyncio.create_task(babble())
        turns = 0
        while turns < 5 or not babbling.done():
            assert closed(await good.turn("Hello there!"))
            turns += 1
            await asyncio.sleep(0.1)
        await babbling
        assert "bridge" in spoken(await good.turn("What happened to the bridge?"))


def _nonsense(chance: random.Random, number: int) -> str | bytes:
    """Frames that are broken in every way: no JSON, no object, wrong types, missing names, strange depths."""
    kinds = [
        "interaction_event",
        "agent_turn_result",
        "tool_results",
        "agent_state_snapshot",
        "hello",
        "dance",
        7,
        None,
    ]
    fields = {
        "type": chance.choice(kinds),
        "agent_id": chance.choice(["", None, [], {"a": 1}, "\u0000", "x" * 300]),
        "turn_id": chance.choice([None, 3, "t" * 500]),
        "tags": chance.choice([None, 5, [5], [{"name": "<>"}], "say"]),
        "payload": chance.choice([None, 3, {"type": "ping"}]),
    }
    text = json.dumps(fields)
    match number % 4:
        case 0:
            return text[: chance.randrange(len(text))]
        case 1:
            return chance.randbytes(chance.randrange(1, 60))
        case _:
            return text


async def test_a_flood_gets_busy_and_is_heard_again_when_it_slows_down(tmp_path: Path) -> None:
    clock = StandingClock()
    async with live_server(tmp_path / "data", clock) as client, game(address(client)) as mine:
        for number in range(100):
            await mine.send("ping", id=number)
        problem = await mine.next("error")
        assert problem["code"] == "busy" and "60 frames" in problem["message"]
        clock.advance(1.0)
        await mine.send("ping", id="calm")
        while (await mine.next("pong")).get("id") != "calm":
            pass


async def test_a_game_that_never_reads_is_let_go_with_1013_and_others_play_on(tmp_path: Path) -> None:
    text = "<say>" + " ".join(random.Random(number).randbytes(100).hex() for number in range(150)) + "</say>"

    def talk(request: JsonObject) -> str:
        return text if "Talk." in json.dumps(request) else "<say>All is well.</say>"

    async with ModelServer(talk, pace=Pace(tokens_per_second=500)) as model:
        settings = {"openai_api_base": model.base_url, "llm_model": "scripted-small"}
        async with live_server(tmp_path / "data", **settings) as client, game(address(client)) as good:
            url = address(client).replace("http://", "ws://") + "/ws"
            small = sockets.socket()
            small.setsockopt(sockets.SOL_SOCKET, sockets.SO_RCVBUF, 65536)
            small.connect(("127.0.0.1", client.http.base_url.port))
            small.setblocking(False)
            async with websockets.connect(
                url, sock=small, compression=None, max_queue=1, max_size=None, ping_interval=None
            ) as deaf:
                # More than the buffers of both kernels take, in bursts that keep to the pace.
                for number in range(252):
                    agent = {"agent_id": f"npc{number}"}
                    await deaf.send(json.dumps({"type": "interaction_event", "text": "Talk.", **agent}))
                    await deaf.send(json.dumps({"type": "agent_state_snapshot", "spec": {"name": "Mara"}, **agent}))
                    if number % 28 == 27:
                        await asyncio.sleep(1)
                    if model.left.is_set():
                        break
                await asyncio.wait_for(model.left.wait(), 120)
                assert spoken(await good.turn("Hello?")) == "All is well."
                code = await _read_to_the_end(deaf)
            assert code == 1013


async def _read_to_the_end(deaf: websockets.ClientConnection) -> int | None:
    async with asyncio.timeout(120):
        try:
            while True:
                await deaf.recv()
        except websockets.ConnectionClosed as gone:
            return gone.rcvd.code if gone.rcvd is not None else None


async def test_after_sigkill_confirmed_history_is_whole_and_resume_goes_on(tmp_path: Path) -> None:
    slow = Say(text="<say>" + "word " * 500 + "</say>", pace=Pace(tokens_per_second=20))
    script: list[Behaviour | str] = ["<say>I keep the north gate.</say>", slow, "<say>Where were we?</say>"]
    async with ModelServer(script) as model:
        settings = {"OPENAI_API_BASE": model.base_url, "LLM_MODEL": "scripted-small", "FABULA_SAMPLES": "false"}
        with server_process(tmp_path / "data", settings=settings) as (process, first):
            async with game(first) as mine:
                await mine.send("hello", client="my-game")
                connection = (await mine.next("welcome"))["connection_id"]
                await mine.turn("Hello, gatekeeper.")
                await mine.settled()
                await mine.say("Go on.")
                cut = (await mine.next("agent_turn_started"))["turn_id"]
                await mine.next("agent_tag_chunk")
                await asyncio.to_thread(process.kill)
                await asyncio.to_thread(process.wait)
        with server_process(tmp_path / "data", settings=settings) as (_, second):
            async with game(second) as again:
                await again.send("hello", client="my-game", resume=connection)
                resume = (await again.next("welcome"))["resume"]
                assert [one["turn_id"] for one in resume["unconfirmed"]] == [cut]
                heard = [{"tag": "say", "text": "word word", "status": "partial"}]
                result = {"agent_id": "mara", "turn_id": cut, "status": "interrupted", "tags": heard}
                await again.send("agent_turn_result", **result)
                frames = await again.turn("And then?")
                told = json.dumps(model.requests[-1].body)
                assert closed(frames)[0]["text"] == "Where were we?"
                assert "I keep the north gate." in told and "word word [cut off]" in told
