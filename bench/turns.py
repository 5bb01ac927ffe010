"""Turns: what Fabula adds to talking to the model directly, measured in the same run; growth, memory, cost.

Without options on a story of one node, which shows the server alone. With `--story` on a sample story, with its lore
and cast, and beside a bare relay (`story_turns.py`).
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
import orjson
import psutil
import uvloop
from bench import story_turns
from bench.processes import fabula_server, model_server
from bench.turn_script import AT_LENGTH, LONG, SHORT, prose

SWIFT_CALL = "<update>"
FOUR_CALLS = ('"ops"', '"beats"', "", '"ops"')
PLAYER = "I look around and wait for what comes next."


@dataclass(kw_only=True)
class Heard:
    """One answer as a client heard it."""

    first: float
    whole: float
    frames: int = 0
    calls: int = 1
    failed: str | None = None


@dataclass(kw_only=True)
class Bench:
    http: aiohttp.ClientSession
    address: str
    model: str
    pid: int
    sessions: dict[str, list[str]] = field(default_factory=dict)

    async def rpc(self, method: str, session_id: str | None = None, **params: Any) -> Any:
        body = {"jsonrpc": "2.0", "id": "1", "method": method, "params": params}
        if session_id is not None:
            body["session_id"] = session_id
        async with self.http.post(f"{self.address}/rpc", json=body) as response:
            answer = await response.json()
        if "error" in answer:
            raise SystemExit(f"{method}: {answer['error']}")
        return answer

    async def direct(self, words: str = SWIFT_CALL) -> Heard:
        """The model itself, asked for as much."""
        body = {
            "model": "m",
            "stream": True,
            "messages": [{"role": "user", "content": f"{words} {prose(200)}"}],
        }
        started, first = time.perf_counter(), 0.0
        async with self.http.post(f"{self.model}/chat/completions", json=body) as response:
            async for chunk in response.content.iter_any():
                first = first or (time.perf_counter() - started if _tells(chunk) else 0.0)
        return Heard(first=first, whole=time.perf_counter() - started)

    async def turn(self, session_id: str, words: str = PLAYER) -> Heard:
        """One turn through Fabula, until its stream ends."""
        body = {
            "jsonrpc": "2.0",
            "id": "1",
            "session_id": session_id,
            "method": "session.run_turn",
            "params": {"player_input": words},
        }
        started, first, frames, failed = time.perf_counter(), 0.0, 0, None
        async with self.http.post(f"{self.address}/rpc", json=body) as response:
            async for chunk in response.content.iter_any():
                frames += chunk.count(b"data:")
                first = first or (time.perf_counter() - started if b'_delta"' in chunk else 0.0)
                if b'"type":"failed"' in chunk:
                    failed = chunk.decode()
        return Heard(first=first, whole=time.perf_counter() - started, frames=frames, failed=failed)


def _tells(chunk: bytes) -> bool:
    """Whether a model's chunk holds a word of its answer."""
    plain = chunk.replace(b'": "', b'":"')
    return plain.count(b'"content":"') > plain.count(b'"content":""')


async def prepare(bench: Bench) -> str:
    """An api, a group and two presets on the scripted model, and a story; answers the story's id."""
    await bench.rpc(
        "api.create",
        api_id="scripted",
        display_name="Scripted",
        provider="open_ai",
        base_url=bench.model,
        api_key="none",
        model="m",
    )
    roles = ("planner", "architect", "director", "actor", "narrator", "keeper", "replyer")
    bindings = {f"{role}_api_id": "scripted" for role in roles}
    await bench.rpc("api_group.create", api_group_id="scripted", display_name="Scripted", bindings=bindings)
    agents = (await bench.rpc("preset.get", preset_id="builtin"))["result"]["agents"]
    await bench.rpc("preset.create", preset_id="ensemble", display_name="Ensemble", agents=agents)
    agents["director"]["extra"] = {"pace": "swift"}
    await bench.rpc("preset.create", preset_id="swift", display_name="Swift", agents=agents)
    return await _story(bench)


async def _story(bench: Bench) -> str:
    await bench.rpc("schema.create", schema_id="bench", display_name="S", fields={})
    content = {"id": "bench-mara", "name": "Mara", "personality": "calm", "style": "short"}
    await bench.rpc("character.create", content={**content, "schema_id": "bench", "system_prompt": ""})
    resource = await bench.rpc("story_resources.create", story_concept="A road.", character_ids=["bench-mara"])
    node = {"id": "road", "title": "Road", "scene": "A road.", "goal": "Wait.", "characters": ["bench-mara"]}
    way = {"to": "road", "condition": {"key": "never", "op": "eq", "value": True}}
    graph = {"start_node": "road", "nodes": [{**node, "transitions": [way]}]}
    story = await bench.rpc(
        "story.create",
        resource_id=resource["result"]["resource_id"],
        graph=graph,
        world_schema_id="bench",
        player_schema_id="bench",
        introduction="",
    )
    return str(story["result"]["story_id"])


async def start(bench: Bench, story_id: str, preset: str, group: str = "scripted") -> str:
    answer = await bench.rpc("story.start_session", story_id=story_id, preset_id=preset, api_group_id=group)
    return str(answer["session_id"])


def told(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


async def one_session(bench: Bench, story_id: str, turns: int) -> None:
    """Swift with one session, direct and through Fabula in turn."""
    session = await start(bench, story_id, "swift")
    await bench.turn(session)
    direct, played = [], []
    for _ in range(turns):
        direct.append((await bench.direct()).first)
        played.append((await bench.turn(session)).first)
    line("swift, 1 session", direct, played, goal="10 / 40 ms")


async def many_sessions(bench: Bench, story_id: str, count: int, turns: int) -> None:
    """Swift with many sessions at once, whose turns begin one after the other; the model asked directly first."""
    sessions = [await start(bench, story_id, "swift") for _ in range(count)]

    async def talk(ask: Any, place: int) -> list[float]:
        await asyncio.sleep(LONG / 50 * place / count)
        return [(await ask()).first for _ in range(turns)]

    direct = [
        one
        for part in await asyncio.gather(
            *(talk(lambda: bench.direct(f"{SWIFT_CALL} {AT_LENGTH}"), n) for n in range(count))
        )
        for one in part
    ]
    asks = [lambda session=session: bench.turn(session, AT_LENGTH) for session in sessions]
    played = [one for part in await asyncio.gather(*(talk(ask, n) for n, ask in enumerate(asks))) for one in part]
    line(f"swift, {count} sessions", direct, played, goal="25 / 120 ms")


async def ensemble(bench: Bench, story_id: str, turns: int) -> None:
    """Ensemble: whole turns, in turn with the same four calls made directly, one after the other."""
    session = await start(bench, story_id, "ensemble")
    await bench.turn(session)
    direct, played = [], []
    for _ in range(turns):
        direct.append(sum([(await bench.direct(asked)).whole for asked in FOUR_CALLS]))
        played.append((await bench.turn(session)).whole)
    added = [(told(played, share) - told(direct, share)) * 1000 for share in (0.5, 0.99)]
    print(
        f"ensemble: a turn of 4 calls takes {told(played, 0.5) * 1000:.0f} ms, the calls alone "
        f"{told(direct, 0.5) * 1000:.0f} ms: {added[0]:.1f} ms added at the median, {added[1]:.1f} at p99 (goal 30 ms)"
    )


async def crowd(bench: Bench, story_id: str, count: int) -> None:
    """Many sessions streaming at once: no error, the cost of a token, the memory.

    A token's own cost is what a long answer costs more than a short one; the rest is the turn around it.
    """
    server = psutil.Process(bench.pid)
    idle = server.memory_info().rss / 2**20
    sessions = [await start(bench, story_id, "swift") for _ in range(count)]
    spent, failed = dict[int, float](), 0
    for words, length in ((PLAYER, SHORT), (AT_LENGTH, LONG)):
        before = server.cpu_times()
        heard = await asyncio.gather(*(bench.turn(session, words) for session in sessions))
        after = server.cpu_times()
        spent[length] = (after.user + after.system - before.user - before.system) / count * 1e6
        failed += sum(one.failed is not None or one.first == 0 for one in heard)
    streamed = (spent[LONG] - spent[SHORT]) / (LONG - SHORT)
    print(
        f"{count} sessions at once: {failed} failed; {streamed:.0f} microseconds of CPU a streamed token (goal 250), "
        f"{spent[LONG] / LONG:.0f} with the whole turn around it; memory {server.memory_info().rss / 2**20:.0f} MB "
        f"(goal 400), before {idle:.0f} MB"
    )


def line(name: str, direct: list[float], played: list[float], *, goal: str) -> None:
    added = [(told(played, share) - told(direct, share)) * 1000 for share in (0.5, 0.99)]
    ratio = told(played, 0.5) / told(direct, 0.5)
    print(
        f"{name}: first token {told(direct, 0.5) * 1000:.1f} ms direct, {told(played, 0.5) * 1000:.1f} ms through "
        f"Fabula: {ratio:.2f}x; added {added[0]:.1f} ms at the median, {added[1]:.1f} ms at p99 (goal {goal})"
    )


async def main() -> None:
    """All turn benchmarks, or those of a real story."""
    options = story_turns.options_of(sys.argv[1:])
    await (story_turns.measure(options) if options.story else on_a_road())


async def on_a_road() -> None:
    """The story of one node."""
    with (
        tempfile.TemporaryDirectory() as folder,
        model_server() as model,
        fabula_server(Path(folder)) as (address, pid),
    ):
        connector = aiohttp.TCPConnector(limit=0)
        async with aiohttp.ClientSession(
            connector=connector, json_serialize=lambda v: orjson.dumps(v).decode()
        ) as http:
            bench = Bench(http=http, address=address, model=model, pid=pid)
            story_id = await prepare(bench)
            await one_session(bench, story_id, 30)
            await many_sessions(bench, story_id, 50, 3)
            await ensemble(bench, story_id, 15)
            await crowd(bench, story_id, 200)


if __name__ == "__main__":
    uvloop.run(main())
