"""The game socket: what it adds to a chunk's way, how fast an NPC falls silent, and that nothing comes late.

The rival is the model itself, read directly in the same run by the same process: `added` is the difference. Other
work on the machine shows in both. Set FABULA_BENCH_INTERRUPTIONS for another number of interruptions.
"""

from __future__ import annotations

import asyncio
import os
import random
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import aiohttp
import orjson
import uvloop
from bench.processes import free_port, process

INTERRUPTIONS = int(os.environ.get("FABULA_BENCH_INTERRUPTIONS", "10000"))
SECONDS = float(os.environ.get("FABULA_BENCH_SECONDS", "10"))
AGENTS_PER_GAME = 5


class Game:
    """One connection with its NPCs; it notes when chunks come and whether any comes too late."""

    def __init__(self, http: aiohttp.ClientSession, socket: aiohttp.ClientWebSocketResponse) -> None:
        self.http, self.socket = http, socket
        self.transits: list[int] = []
        self.over: set[str] = set()
        self.late = 0
        self.spoken_to: dict[str, int] = {}
        self.fell_silent: dict[str, list[tuple[int, int]]] = defaultdict(list)
        self.streaming: set[str] = set()

    async def say(self, agent_id: str) -> None:
        self.spoken_to[agent_id] = time.monotonic_ns()
        await self._send({"type": "interaction_event", "agent_id": agent_id, "text": "Go on."})

    async def listen(self) -> None:
        async for message in self.socket:
            now = time.monotonic_ns()
            await self.hear(orjson.loads(message.data), now)

    async def hear(self, frame: dict[str, Any], now: int) -> None:
        self.late += frame.get("turn_id") in self.over
        match frame["type"]:
            case "get_agent_state":
                name = frame["agent_id"]
                answer = {"agent_id": name, "request_id": frame["request_id"], "spec": {"name": name}}
                await self._send({"type": "agent_state_snapshot", **answer})
            case "agent_tag_chunk":
                self.streaming.add(frame["agent_id"])
                stamp = frame["text"].split()[-1]
                self.transits.append(now - int(stamp))
            case "agent_turn_interrupted":
                self.over.add(frame["turn_id"])
                name = frame["agent_id"]
                self.streaming.discard(name)
                self.fell_silent[name].append((self.spoken_to[name], now))
            case "error":
                raise SystemExit(f"The server complains: {frame['message']}")

    async def _send(self, frame: dict[str, Any]) -> None:
        await self.socket.send_str(orjson.dumps(frame).decode())

    async def close(self) -> None:
        await self.socket.close()
        await self.http.close()


async def direct(model: str, streams: int, seconds: float) -> list[int]:
    """The same tokens read from the model itself."""
    transits: list[int] = []

    async def read(http: aiohttp.ClientSession) -> None:
        body = {"model": "m", "stream": True, "messages": []}
        async with http.post(f"{model}/v1/chat/completions", json=body) as response:
            async for line in response.content:
                now = time.monotonic_ns()
                if line.startswith(b"data: {") and (text := _text(line)).strip().isdigit():
                    transits.append(now - int(text))

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as http:
        await _for_a_while([read(http) for _ in range(streams)], seconds)
    return transits


def _text(line: bytes) -> str:
    return str(orjson.loads(line[6:])["choices"][0]["delta"]["content"])


async def _for_a_while(work: list[Any], seconds: float) -> None:
    tasks = [asyncio.create_task(one) for one in work]
    await asyncio.sleep(seconds)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def games(address: str, agents: int) -> list[Game]:
    """Games with that many NPCs in all, each of them speaking."""
    opened = []
    for number in range(0, agents, AGENTS_PER_GAME):
        http = aiohttp.ClientSession()
        game = Game(http, await http.ws_connect(f"{address}/ws"))
        opened.append(game)
        for agent in range(number, min(number + AGENTS_PER_GAME, agents)):
            await game.say(f"npc{agent}")
    return opened


async def through_fabula(address: str, agents: int, seconds: float) -> list[int]:
    opened = await games(address, agents)
    listening = [asyncio.create_task(game.listen()) for game in opened]
    await _until_all_speak(opened, agents)
    for game in opened:
        game.transits.clear()
    await asyncio.sleep(seconds)
    transits = [one for game in opened for one in game.transits]
    await _leave(opened, listening)
    return transits


async def _until_all_speak(opened: list[Game], agents: int) -> None:
    for _ in range(1200):
        if sum(len(game.streaming) for game in opened) == agents:
            break
        await asyncio.sleep(0.05)
    await asyncio.sleep(1)


async def _leave(opened: list[Game], listening: list[asyncio.Task[None]]) -> None:
    for task in listening:
        task.cancel()
    await asyncio.gather(*listening, return_exceptions=True)
    await asyncio.gather(*(game.close() for game in opened))


async def interrupt(address: str, model: str, agents: int, times: int, *, pause: float) -> None:
    """Talks over NPCs while all of them speak; each game pauses so long between two interruptions."""
    opened = await games(address, agents)
    listening = [asyncio.create_task(game.listen()) for game in opened]
    await _until_all_speak(opened, agents)
    before = await _left(model)
    each = -(-times // len(opened))
    await asyncio.gather(*(_talk_over(game, each, pause) for game in opened))
    await asyncio.sleep(1)
    after = await _left(model)
    told = [heard - said for game in opened for pairs in game.fell_silent.values() for said, heard in pairs]
    ended = [
        gone - said
        for game in opened
        for name, pairs in game.fell_silent.items()
        for (said, _), gone in zip(pairs, after[name][len(before[name]) :], strict=False)
    ]
    late = sum(game.late for game in opened)
    rate = len(opened) / pause
    print(
        f"interruptions with {agents} agents speaking, up to {rate:.0f} a second: {len(told)}; "
        f"late messages: {late} (goal 0)"
    )
    print(f"  newer event -> interrupted received: {_line(told)} (goal p99 20 ms)")
    print(f"  newer event -> upstream ended:       {_line(ended)} (goal p99 20 ms)")
    await _leave(opened, listening)
    if late:
        raise SystemExit("Something came after its turn was over.")


async def _talk_over(game: Game, times: int, pause: float) -> None:
    """Players do not all speak in the same moment: each game begins, and pauses, as chance has it."""
    chance = random.Random(id(game))
    done = 0
    await asyncio.sleep(chance.uniform(0, pause))
    while done < times:
        if game.streaming:
            name = min(game.streaming, key=lambda one: game.spoken_to[one])
            game.streaming.discard(name)
            await game.say(name)
            done += 1
        await asyncio.sleep(chance.uniform(0.5, 1.5) * pause)


async def _left(model: str) -> dict[str, list[int]]:
    async with aiohttp.ClientSession() as http, http.get(f"{model}/left") as response:
        found: dict[str, list[int]] = defaultdict(list)
        for name, moment in await response.json():
            found[name].append(moment)
    return found


def _share(values: list[int], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))] / 1e6


def _line(values: list[int]) -> str:
    return f"median {_share(values, 0.5):.2f} ms, p99 {_share(values, 0.99):.2f} ms, n = {len(values)}"


@contextmanager
def stamping_model() -> Iterator[str]:
    port = free_port()
    with process("-m", "bench.stamping_model", "--port", str(port), ready=f"http://127.0.0.1:{port}/v1/models"):
        yield f"http://127.0.0.1:{port}"


@contextmanager
def server(data_dir: Path, model: str) -> Iterator[str]:
    port = free_port()
    start = (
        "import os; os.environ.update(LLM_MODEL='m', OPENAI_API_KEY='none', "
        f"OPENAI_API_BASE='{model}/v1', FABULA_SAMPLES='false', FABULA_TURN_DEADLINE_S='600', "
        "FABULA_LOG_LEVEL='warning'); "
        "from fabula.cli.main import main; main()"
    )
    arguments = ["-c", start, "serve", "--port", str(port), "--data-dir", str(data_dir)]
    with process(*arguments, ready=f"http://127.0.0.1:{port}/readyz"):
        yield f"http://127.0.0.1:{port}"


async def main() -> None:
    """All figures, one after the other."""
    with tempfile.TemporaryDirectory() as folder, stamping_model() as model, server(Path(folder), model) as address:
        for agents in (20, 100):
            alone = await direct(model, agents, SECONDS / 2)
            ours = await through_fabula(address, agents, SECONDS)
            print(f"chunk transit, {agents} agents at 50 tokens a second")
            print(f"  the model directly: {_line(alone)}")
            print(f"  through Fabula:     {_line(ours)}")
            median, last = (_share(ours, share) - _share(alone, share) for share in (0.5, 0.99))
            goal = "goal median 3 ms" if agents == 20 else "goal p99 20 ms"
            print(f"  added:              median {median:.2f} ms, p99 {last:.2f} ms ({goal})")
        # Each NPC is talked over every five seconds, then as often as sixty frames a second allow.
        await interrupt(address, model, 100, min(INTERRUPTIONS, 1000), pause=1.0)
        await interrupt(address, model, 40, INTERRUPTIONS, pause=1 / 20)


if __name__ == "__main__":
    uvloop.run(main())
