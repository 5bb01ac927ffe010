"""Web: what the browser app costs in headless Chromium: opening long plays, and text that streams in fast.

python -m bench web                 a play of 10,000 turns beside one of 100, and 60 s of 100 pieces a second
python -m bench web --seconds 10    a shorter stream

The rival of the long play is the short one, in the same browser: what is shown should not cost by what is not. A task
of the page is told by the clock and by the processor's time for it: on a busy machine only the second is its own.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import shutil
import statistics
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

from bench.growth import FAR, lengthen, story_of
from bench.processes import fabula_server, model_server
from bench.turn_script import AT_LENGTH
from playwright.sync_api import Browser, Page, sync_playwright

from fabula.actions.plays.start_session import StartSession, start_session
from fabula.ports.actors import OPERATOR
from fabula.settings import Settings
from fabula.wiring import open_house

NEAR = 100
OPENED = 5
PIECES_A_SECOND = 100
ROLES = ("planner", "architect", "director", "actor", "narrator", "keeper", "replyer")
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync")
WATCH_TASKS = """
window.longTasks = [];
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) window.longTasks.push(entry.duration);
}).observe({ type: "longtask", buffered: true });
"""
KEY_LATENCY = """
() => new Promise((resolve) => {
  const pressed = performance.now();
  requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - pressed), 0));
})
"""


async def _write_plays(folder: Path) -> dict[int, str]:
    """Plays of so many turns, written as the loop leaves them; answers their sessions."""
    async with open_house(Settings(data_dir=folder)) as house:
        story = await story_of(house)
        sessions = {}
        for turns in (NEAR, FAR):
            started = await start_session(house, OPERATOR, StartSession(story_id=story))
            await lengthen(house, started.session_id, turns)
            sessions[turns] = started.session_id
    return sessions


def _call(address: str, method: str, session_id: str | None = None, /, **params: Any) -> dict[str, Any]:
    body = {"jsonrpc": "2.0", "id": "1", "method": method, "params": params}
    sent = json.dumps(body if session_id is None else {**body, "session_id": session_id}).encode()
    request = urllib.request.Request(f"{address}/rpc", sent, {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        found: dict[str, Any] = json.load(answer)
    if "error" in found:
        raise SystemExit(f"{method}: {found['error']['message']}")
    result: dict[str, Any] = found["result"]
    return result


def _open(browser: Browser, address: str, session: str) -> tuple[float, int]:
    """Milliseconds until the last turn can be read and answered, and the nodes of the page."""
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    started = time.perf_counter()
    page.goto(f"{address}/app/play/{session}", wait_until="commit")
    page.locator("article.turn").last.wait_for()
    page.locator("textarea").wait_for()
    taken = (time.perf_counter() - started) * 1000
    nodes = int(page.evaluate("document.getElementsByTagName('*').length"))
    page.close()
    return taken, nodes


def _stream(browser: Browser, address: str, session: str, seconds: float) -> None:
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.add_init_script(WATCH_TASKS)
    page.goto(f"{address}/app/play/{session}")
    box = page.locator("textarea")
    waits: list[float] = []
    until = time.monotonic() + seconds
    turns = 0
    page.evaluate("window.longTasks.length = 0")
    browser.start_tracing(page=page, categories=["toplevel"])
    while time.monotonic() < until:
        box.fill(f"I walk on, {turns}. {AT_LENGTH}")
        box.press("Enter")
        turns += 1
        _watch_turn(page, waits, until)
    tasks = [float(task) for task in page.evaluate("window.longTasks")]
    worked = _processor_ms(browser.stop_tracing())
    page.close()
    slow = [task for task in tasks if task > 50]
    waits.sort()
    print(f"  streamed {seconds:.0f} s at {PIECES_A_SECOND} pieces a second in {turns} turns")
    print(f"  tasks over 50 ms: {len(slow)} (longest {max(tasks, default=0):.0f} ms)")
    over = sum(task > 50 for task in worked)
    print(f"  by the processor's time: {over} of {len(worked)} (longest {max(worked, default=0):.0f} ms)")
    p95 = waits[int(len(waits) * 0.95)] if waits else 0.0
    print(f"  from a key to its frame: {statistics.median(waits or [0]):.1f} ms at the median, {p95:.1f} at p95")


def _processor_ms(traced: bytes) -> list[float]:
    """How long the processor worked on each task of the page's main thread."""
    events = json.loads(traced)["traceEvents"]
    threads = {
        (event["pid"], event["tid"])
        for event in events
        if event.get("name") == "thread_name" and event["args"].get("name") == "CrRendererMain"
    }
    tasks: dict[tuple[int, int], list[float]] = {thread: [] for thread in threads}
    for event in events:
        thread = (event.get("pid"), event.get("tid"))
        if event.get("ph") == "X" and "RunTask" in event.get("name", "") and thread in tasks:
            tasks[thread].append(event.get("tdur", 0) / 1000)
    # A browser has a page in reserve: ours is the one that did the most.
    return max(tasks.values(), key=sum, default=[])


def _watch_turn(page: Page, waits: list[float], until: float) -> None:
    """Asks again and again how long a frame takes while a turn is told."""
    page.wait_for_timeout(150)
    while page.locator("[role=feed][aria-busy=true]").count() and time.monotonic() < until:
        waits.append(float(page.evaluate(KEY_LATENCY)))
        page.wait_for_timeout(50)


def _use_model(address: str, base_url: str, session: str) -> None:
    api = {"provider": "open_ai", "base_url": base_url, "api_key": "sk-bench", "model": "scripted"}
    _call(address, "api.create", api_id="bench", display_name="Bench", **api)
    bindings = {f"{role}_api_id": "bench" for role in ROLES}
    _call(address, "api_group.create", api_group_id="bench", display_name="Bench", bindings=bindings)
    agents: dict[str, Any] = {role: {"modules": []} for role in ROLES}
    agents["director"]["extra"] = {"pace": "swift"}
    _call(address, "preset.create", preset_id="bench", display_name="Bench", agents=agents)
    _call(address, "session.update_config", session, api_group_id="bench", preset_id="bench")


def main() -> None:
    """Prints what opening and streaming cost."""
    parser = argparse.ArgumentParser(prog="python -m bench web", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="how long text streams in")
    seconds = parser.parse_args().seconds
    chromium = shutil.which("chromium")
    if chromium is None:
        raise SystemExit("Chromium is not installed: apt-get install chromium")
    with tempfile.TemporaryDirectory() as place, model_server(tokens_per_second=PIECES_A_SECOND) as base_url:
        sessions = asyncio.run(_write_plays(Path(place)))
        with fabula_server(Path(place)) as (address, _), sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, args=list(FLAGS))
            for session in sessions.values():
                _open(browser, address, session)  # the caches of both are warm
            figures = {
                turns: [_open(browser, address, session) for _ in range(OPENED)] for turns, session in sessions.items()
            }
            times = {turns: statistics.median(time for time, _ in found) for turns, found in figures.items()}
            for turns, found in figures.items():
                print(f"  a play of {turns} turns opens in {times[turns]:.0f} ms with {max(n for _, n in found)} nodes")
            print(f"  {times[FAR] / times[NEAR]:.2f}x the time of {NEAR} turns")
            _use_model(address, base_url, sessions[NEAR])
            _stream(browser, address, sessions[NEAR], seconds)
            browser.close()


if __name__ == "__main__":
    main()
