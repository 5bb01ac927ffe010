"""AI knots: the engine's own time per agent turn of a 100 kB story (everything but the model), and preprocessing.

Run: python -m bench.ai_knots. It is measured twice, with store, loop, memo and checkpoints as they are in a server:
1. in this process, set up as a server is, with the understudy, whose own time is taken off: this is the engine's own
   time, once for turns that follow one another and once for turns after a pause, when the machine has cooled down. The
   rival is an empty loop, measured between the turns: LangGraph with as many steps and the same checkpoints, doing
   nothing;
2. over HTTP, with a model in a process of its own; the rival is that model asked directly, with as long a prompt. The
   difference is the engine, both ends of two connections, and the reading of the model's stream.
"""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypedDict

import aiohttp
import uvloop
from bench.processes import fabula_server, model_server
from bench.turns import Bench, prepare, told
from langchain_core.runnables import RunnableConfig
from langgraph.graph import END, START, StateGraph

from fabula import understudy
from fabula.actions.library.ink_stories import CreateInk, create_ink
from fabula.actions.plays.start_session import StartSession, start_session
from fabula.actions.turns.run_turn import RunTurn, run_turn
from fabula.cli.serve import spare_what_stays
from fabula.knots.character_lines import character_lines
from fabula.knots.published import publish
from fabula.ports.actors import OPERATOR
from fabula.ports.models import ModelRequest
from fabula.settings import Settings
from fabula.story.events import Completed
from fabula.wiring import open_house

KNOTS = 200
TURNS = 100


def story_of_100_kb() -> str:
    """A story with an agent at its beginning and a hundred kilobytes behind it."""
    parts = ["-> hall\n=== hall\nA hall.\n-> agent(-> keeper, -> k0)\n"]
    parts.append(
        "=== keeper\n" + "".join(f"I have counted {n} hinges and all of them rust.\n" for n in range(30)) + "-> DONE\n"
    )
    for number in range(KNOTS):
        body = "".join(f"Under lamp {number}-{line} of Corvin{number} nothing ever moved again.\n" for line in range(8))
        parts.append(f"=== k{number}\n{body}+ [On] -> k{(number + 1) % KNOTS}\n")
    return "\n".join(parts)


async def engine_alone() -> None:
    """Messages to a character inside this process, from the player's words to the end of the turn's stream."""
    thinking = _Thinking()
    with tempfile.TemporaryDirectory() as folder:
        async with open_house(Settings(data_dir=Path(folder), samples=False), tends_turns=True) as house:
            story = await create_ink(house, OPERATOR, CreateInk(display_name="Bench", source=story_of_100_kb()))
            session = (await start_session(house, OPERATOR, StartSession(story_id=story.story_id, seed=1))).session_id

            async def say(number: int) -> None:
                command = RunTurn(player_input=f"Tell me about hinge number {number}, and about its rust.")
                turn = await run_turn(house, OPERATOR, session, command, request_id="bench")
                frames = await house.bus.subscribe(turn.turn_id)
                assert frames is not None
                last = [frame async for frame in frames][-1]
                assert isinstance(last.event, Completed), last.event

            empty = _empty_loop(await house.checkpoints.saver())
            spare_what_stays()
            for pause in (0.0, 0.05):
                taken, idle = list[float](), list[float]()
                for number in range(5 + TURNS):
                    before = thinking.seconds
                    turn = await milliseconds(say, number)
                    taken.append(turn - (thinking.seconds - before) * 1000)
                    await asyncio.sleep(pause)
                    if number % 5 == 0:
                        idle.append(await milliseconds(empty, number + round(pause * 1e6)))
                _tell_engine(taken[5:], idle[1:], pause)


class _Thinking:
    """Takes the time that the understudy thinks."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._answer = understudy.answer
        understudy.answer = self._timed

    def _timed(self, request: ModelRequest) -> str:
        begun = time.perf_counter()
        try:
            return self._answer(request)
        finally:
            self.seconds += time.perf_counter() - begun


def _tell_engine(taken: list[float], idle: list[float], pause: float) -> None:
    mine, rival = told(taken, 0.5), told(idle, 0.5)
    when = f"after {pause * 1000:.0f} ms of rest" if pause else "one after the other"
    print(
        f"agent turn, engine alone, {when}: {mine:.1f} ms at the median (goal 15 ms), {told(taken, 0.9):.1f} ms at "
        f"p90; an empty loop of four steps takes {rival:.1f} ms ({mine / rival:.2f}x)"
    )


class _Nothing(TypedDict, total=False):
    step: str


def _empty_loop(saver: Any) -> Callable[[int], Awaitable[None]]:
    """Four steps that do nothing, each checkpointed."""
    graph: StateGraph[_Nothing, None, Any, Any] = StateGraph(_Nothing)

    async def step(state: _Nothing) -> _Nothing:
        return {"step": "done"}

    names = ("decide", "evaluate", "tell_on", "persist")
    for before, name in zip((START, *names), names, strict=False):
        graph.add_node(name, step)
        graph.add_edge(before, name)
    graph.add_edge(names[-1], END)
    compiled = graph.compile(checkpointer=saver)

    async def run(number: int) -> None:
        config: RunnableConfig = {"configurable": {"thread_id": f"empty-{number}"}}
        await compiled.ainvoke({"step": ""}, config, durability="async")

    return run


async def direct(bench: Bench, number: int) -> None:
    """The model alone, with a prompt like that of the character."""
    prompt = f'Answer {number} with "weights". ' + "I have counted the hinges and all of them rust. " * 120
    body = {"model": "m", "stream": True, "messages": [{"role": "user", "content": prompt}]}
    async with bench.http.post(f"{bench.model}/chat/completions", json=body) as response:
        await response.read()


async def milliseconds(work: Callable[[int], Awaitable[None]], number: int) -> float:
    begun = time.perf_counter()
    await work(number)
    return (time.perf_counter() - begun) * 1000


async def agent_turns(bench: Bench, story_id: str) -> None:
    """Messages to a character, and the model asked directly, one after the other."""
    started = await bench.rpc("story.start_session", story_id=story_id, api_group_id="scripted", seed=1)
    session = str(started["session_id"])

    async def say(number: int) -> None:
        heard = await bench.turn(session, f"Tell me about hinge number {number}, and about its rust.")
        if heard.failed or not heard.first:
            raise SystemExit(f"The turn failed: {heard.failed}")

    for number in range(5):
        await say(number)
    alone, played = [], []
    for number in range(5, 5 + TURNS):
        alone.append(await milliseconds(lambda number: direct(bench, number), number))
        played.append(await milliseconds(say, number))
    added = [after - before for before, after in zip(alone, played, strict=True)]
    print(
        f"agent turn over HTTP: {told(played, 0.5):.1f} ms, the model alone {told(alone, 0.5):.1f} ms "
        f"({told(played, 0.5) / told(alone, 0.5):.2f}x): {told(added, 0.5):.1f} ms added "
        f"at the median, {told(added, 0.9):.1f} ms at p90"
    )


def preprocessing(source: str) -> None:
    """What publishing costs: the story is compiled, and the character's knot is run five times."""
    compiled, learned = [], []
    for _ in range(3):
        begun = time.perf_counter()
        published = publish(source, {})
        compiled.append((time.perf_counter() - begun) * 1000)
        begun = time.perf_counter()
        character_lines(published, "keeper", seed=1)
        learned.append((time.perf_counter() - begun) * 1000)
    print(
        f"preprocessing a character: {statistics.median(learned):.1f} ms (goal 300 ms); "
        f"compiling the story before it: {statistics.median(compiled):.0f} ms"
    )


async def main() -> None:
    """A story is published and talked in."""
    source = story_of_100_kb()
    print(f"story: {len(source) // 1000} kB, {KNOTS} knots")
    preprocessing(source)
    await engine_alone()
    with (
        tempfile.TemporaryDirectory() as folder,
        model_server(first_token_ms=0, tokens_per_second=0) as model,
        fabula_server(Path(folder)) as (address, pid),
    ):
        async with aiohttp.ClientSession() as http:
            bench = Bench(http=http, address=address, model=model, pid=pid)
            await prepare(bench)
            created = await bench.rpc("story.create_ink", display_name="Bench", source=source)
            await agent_turns(bench, str(created["result"]["story_id"]))


if __name__ == "__main__":
    uvloop.run(main())
