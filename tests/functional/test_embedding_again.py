"""Vectors are made anew when the embedder changes: a piece at a time, and never twice, whoever dies meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tests.conftest import Place
from tests.fork_server import PROGRAM

from fabula.actions.memories.embed_memories import embed_all
from fabula.actions.memories.recall_memories import recall_memories
from fabula.actions.memories.remember import findable
from fabula.ports.embedder import Vector
from fabula.ports.memories import NewMemory, Owner, OwnerAt
from fabula.ports.store import Store
from fabula.settings import Settings
from fabula.story.events import Progress
from fabula.wiring import open_house

MANY = 700
OWNER = OwnerAt(owner=Owner(scope="game:g", name="mara"))


async def fill(folder: Path, count: int) -> None:
    """Memories from a time without an embedder."""
    async with open_house(Settings(data_dir=folder, samples=False, embedder="off")) as house:
        texts = ["The physician came at dawn.", *(f"A cart passes the gate, number {n}." for n in range(count - 1))]
        new = [NewMemory(memory_id=f"m{n}", owner="mara", text=text, scene=str(n // 9)) for n, text in enumerate(texts)]
        found = await findable(house, new)
        async with house.store.writing() as unit:
            await unit.memories.add("game:g", None, found)


async def test_memories_without_a_vector_get_one_and_are_found_by_their_meaning(tmp_path: Path) -> None:
    await fill(tmp_path, MANY)
    told: list[Progress] = []
    async with open_house(Settings(data_dir=tmp_path, samples=False)) as house:
        asked = "Which doctor was here?"
        before = await recall_memories(house, OWNER, asked)
        assert await embed_all(house, told.append, seconds=0) == 0
        assert await embed_all(house, told.append) == MANY
        assert await embed_all(house, told.append) == 0
        after = await recall_memories(house, OWNER, asked)
    assert before == [] and after[0].memory.text == "The physician came at dawn."
    assert [(one.done, one.total) for one in told] == [(256, MANY), (512, MANY), (MANY, MANY)]


async def test_whoever_goes_on_after_a_kill_makes_no_vector_twice(tmp_path: Path) -> None:
    await fill(tmp_path, 4 * MANY)
    command = [*PROGRAM, "memory", "reembed", "--data-dir", str(tmp_path)]
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    assert process.stdout is not None
    while b"256 of" not in await process.stdout.readline():
        pass
    process.kill()
    await process.wait()
    async with open_house(Settings(data_dir=tmp_path, samples=False)) as house:
        assert house.embedder is not None
        name = house.embedder.name
        left = await house.store.read(lambda unit: unit.memories.count_without_vector(name))
        assert 0 < left < 4 * MANY
        assert await embed_all(house) == left


class NosyEmbedder:
    """An embedder on another machine, as far as that goes, which looks into the store while it is asked."""

    name, dimension, embeds_words = "nosy", 2, False

    def __init__(self, store: Store) -> None:
        self._store = store
        self.looked = 0

    async def load(self) -> None:
        """There is nothing to load."""

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        await self._store.read(lambda unit: unit.memories.owners("game:g", None))
        self.looked += 1
        return [(float(len(text)), 1.0) for text in texts]

    async def close(self) -> None:
        """It holds nothing."""


async def test_whoever_asks_the_embedder_holds_no_connection_meanwhile(postgres_place: Place) -> None:
    settings = postgres_place.settings.model_copy(update={"database_pool_size": 1})
    async with open_house(settings, tends_turns=False) as plain:
        embedder = NosyEmbedder(plain.store)
        house = replace(plain, embedder=embedder)
        found = await findable(house, [NewMemory(memory_id="m", owner="mara", text="It rained at dawn.")])
        await house.store.write(lambda unit: unit.memories.add("game:g", None, found))
        assert [one.memory.memory_id for one in await recall_memories(house, OWNER, "Did it rain?")] == ["m"]
    assert embedder.looked == 2
