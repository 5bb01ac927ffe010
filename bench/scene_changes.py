"""Scene changes: what the story loop takes from one scene of a free play to the next, beside turns of the same play.

A scene is ended by the player's word: it is summed up, the world moves on, the next scene is chosen and told of. No
model is asked. The goal is 50 ms.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from fabula.actions.campaigns.end_scene import end_scene
from fabula.actions.library.samples import install_samples, sample_folder
from fabula.actions.plays.start_session import StartSession, start_session
from fabula.actions.turns.run_turn import RunTurn, run_turn
from fabula.actions.views import Nothing
from fabula.ports.actors import OPERATOR
from fabula.settings import Settings
from fabula.wiring import open_house

GOAL = 50
SCENES = 40


class Taken:
    """How long calls of one kind took, on the clock and of the processor, in milliseconds."""

    def __init__(self) -> None:
        self.clock: list[float] = []
        self.processor: list[float] = []

    async def by(self, call: Callable[[], Awaitable[object]]) -> None:
        clock, processor = time.perf_counter(), time.process_time()
        await call()
        self.processor.append((time.process_time() - processor) * 1000)
        self.clock.append((time.perf_counter() - clock) * 1000)

    def told(self) -> str:
        middle, most = statistics.median(self.clock), max(self.clock)
        return f"median {middle:.1f} ms, longest {most:.1f} ms, processor {statistics.median(self.processor):.1f} ms"


async def measure(data_dir: Path, database_url: str, scenes: int) -> None:
    changes, turns = Taken(), Taken()
    async with open_house(Settings(data_dir=data_dir, database_url=database_url, samples=False)) as house:
        await install_samples(house, sample_folder() / "the-drowned-toll")
        command = StartSession(world_id="withy-reach", seed=7, rules="none")
        session_id = (await start_session(house, OPERATOR, command)).session_id

        async def turn() -> None:
            said = RunTurn(player_input="I look around.")
            begun = await run_turn(house, OPERATOR, session_id, said, request_id="bench")
            await house.work.wait(begun.turn_id)

        await turn()
        await end_scene(house, OPERATOR, session_id, Nothing())
        for _ in range(scenes):
            await turns.by(turn)
            await changes.by(lambda: end_scene(house, OPERATOR, session_id, Nothing()))
    print(f"{scenes} scene changes: {changes.told()} (goal {GOAL} ms)")
    print(f"{scenes} turns with no model: {turns.told()}")


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.scene_changes", description=__doc__)
    parser.add_argument("--database-url", default="", help="measure on Postgres; it wants an empty database")
    parser.add_argument("--scenes", type=int, default=SCENES, help="how often the scene changes")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(measure(Path(folder), options.database_url, options.scenes))


if __name__ == "__main__":
    main()
