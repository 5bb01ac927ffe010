"""A turn that is over is freed at once: what waits for the garbage collector is paid for by everybody's next token."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.scripted import PACES, Theatre, theatre


@contextmanager
def kept_garbage() -> Iterator[list[str]]:
    """The types of ours that only the collector could free, once the block is left."""
    ours: list[str] = []
    gc.collect()
    gc.disable()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        yield ours
        gc.collect()
        ours.extend(type(found).__qualname__ for found in gc.garbage if type(found).__module__.startswith("fabula."))
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()


async def settled(house: Theatre) -> None:
    """Returns when nothing of a turn is under way any more."""
    while house.client.house.work.ids():
        await asyncio.sleep(0.01)
    await asyncio.sleep(0.2)


@pytest.mark.parametrize("pace", PACES)
async def test_a_turn_leaves_nothing_of_ours_to_the_garbage_collector(tmp_path: Path, pace: str) -> None:
    async with theatre(tmp_path) as house:
        session_id = await house.session(pace)
        for number in range(3):
            await house.client.turn(session_id, f"I knock {number} times.")
        await settled(house)
        # What is still being written down when the collector comes by is no garbage: only what is left each time is.
        for _ in range(3):
            with kept_garbage() as ours:
                await house.client.turn(session_id, "I look around.")
                await settled(house)
            if not ours:
                break
        assert ours == []
