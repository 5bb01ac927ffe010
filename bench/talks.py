"""Talks: how long four characters take to answer together, beside one bare call to the slowest of their models.

All of them are asked before the first answer is read, so a turn should take about as long as its slowest call. The goal
is 1.3 times that. The model is scripted, and each of the four answers has a pace of its own.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
import time
from itertools import count
from pathlib import Path

import httpx

from fabula.actions.conversations.open_conversation import OpenConversation, open_conversation
from fabula.actions.library.api_groups import CreateApiGroup, create_api_group
from fabula.actions.library.apis import CreateApi, create_api
from fabula.actions.library.samples import install_samples, sample_folder
from fabula.actions.plays.sessions import UpdateConfig, update_config
from fabula.actions.turns.run_turn import RunTurn, run_turn
from fabula.ports.actors import OPERATOR
from fabula.settings import Settings
from fabula.story.values import JsonObject
from fabula.testing.model_script import Behaviour, Pace, Say
from fabula.testing.model_server import ModelServer
from fabula.wiring import open_house

GOAL = 1.3
CAST = ["toll-pell", "toll-tansy", "toll-garrick", "toll-cuthwin"]
ROLES = ("planner", "architect", "director", "actor", "narrator", "keeper", "replyer")
PACES = [Pace(first_token_ms=300, tokens_per_second=speed) for speed in (60.0, 50.0, 40.0, 30.0)]
TEXT = f"<dialogue>{'It is said that the river counts. ' * 8}</dialogue>"


async def bare_call(url: str) -> float:
    """Seconds that the slowest model takes to say the same to somebody who does nothing else."""
    body = {"model": "m", "stream": True, "messages": [{"role": "user", "content": "bare"}]}
    began = time.perf_counter()
    async with httpx.AsyncClient(timeout=60) as http, http.stream("POST", f"{url}/chat/completions", json=body) as said:
        async for _ in said.aiter_bytes():
            pass
    return time.perf_counter() - began


async def measure(data_dir: Path, turns: int) -> None:
    numbers = count()

    def respond(request: JsonObject) -> Behaviour:
        is_bare = '"bare"' in str(request).replace("'", '"')
        return Say(text=TEXT, pace=PACES[-1] if is_bare else PACES[next(numbers) % len(PACES)])

    alone: list[float] = []
    together: list[float] = []
    settings = Settings(data_dir=data_dir, samples=False, summaries="rule")
    async with ModelServer(respond) as models, open_house(settings) as house:
        await install_samples(house, sample_folder() / "the-drowned-toll")
        named = {"api_id": "paced", "display_name": "Paced", "provider": "open_ai", "base_url": models.base_url}
        await create_api(house, OPERATOR, CreateApi.model_validate({**named, "api_key": "sk-bench", "model": "m"}))
        bindings = {f"{role}_api_id": "paced" for role in ROLES}
        group = {"api_group_id": "paced", "display_name": "Paced", "bindings": bindings}
        await create_api_group(house, OPERATOR, CreateApiGroup.model_validate(group))
        opened = await open_conversation(house, OPERATOR, None, OpenConversation(character_ids=CAST))
        await update_config(house, OPERATOR, opened.session_id, UpdateConfig(api_group_id="paced"))
        for number in range(turns + 1):
            alone.append(await bare_call(models.base_url))
            began = time.perf_counter()
            said = RunTurn(player_input=f"What do all of you say to that, for the {number}. time?")
            turn = await run_turn(house, OPERATOR, opened.session_id, said, request_id="bench")
            await house.work.wait(turn.turn_id)
            together.append(time.perf_counter() - began)
    slowest, took = statistics.median(alone[1:]), statistics.median(together[1:])
    print(f"four characters: median {took * 1000:.0f} ms a turn; the slowest call alone: {slowest * 1000:.0f} ms")
    print(f"ratio {took / slowest:.2f} (goal {GOAL}); model calls: {next(numbers)} in {turns + 1} turns")


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.talks", description=__doc__)
    parser.add_argument("--turns", type=int, default=5, help="how often the four are asked")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(measure(Path(folder), options.turns))


if __name__ == "__main__":
    main()
