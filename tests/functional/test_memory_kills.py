"""SIGKILL while memories are consolidated or embedded: what was done stays, the rest is done, and nothing twice."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.conftest import Place
from tests.fork_server import script
from tests.live import Client, gate_session, live_server

from fabula.actions.followers.consolidation import CONSOLIDATE, LATELY, begin_consolidations
from fabula.actions.followers.memories import remember_line
from fabula.actions.house import House
from fabula.actions.memories.embed_memories import AT_ONCE, embed_all
from fabula.actions.memories.remember import findable
from fabula.actions.periodic_jobs import periodic_jobs
from fabula.ports.memories import Memory, NewMemory, Owner, OwnerAt
from fabula.ports.store import Unit
from fabula.settings import Settings
from fabula.wiring import open_house

WORKER = script(Path(__file__).with_name("memory_worker.py"))
MILL = "Beware of the old mill in the dark forest."
MANY = 2 * AT_ONCE + 90


async def dies(settings: Settings, *work: str, after: int) -> bool:
    """Whether a worker in a process of its own died, which it does after so many steps."""
    process = await asyncio.create_subprocess_exec(*WORKER, settings.model_dump_json(), str(after), *work)
    code = await process.wait()
    assert code in (0, -signal.SIGKILL)
    return code != 0


@pytest.fixture
async def client(place: Place) -> AsyncIterator[Client]:
    place.settings.data_folder.mkdir(exist_ok=True)
    settings = {"database_url": place.settings.database_url, "embedder": "off"}
    async with live_server(place.settings.data_folder, **settings) as client:
        yield client


class Minds:
    """What everybody in a play remembers at its head."""

    def __init__(self, house: House, tree: str, head: str) -> None:
        self._house, self._tree, self._head = house, tree, head

    async def summaries(self, owner: str) -> list[str]:
        """The summaries of an owner. What they sum up is covered, all of it or nothing."""
        at = OwnerAt(owner=Owner(scope=self._tree, name=owner), turn_id=self._head)
        async with self._house.store.reading() as unit:
            kept = await unit.memories.page(at, kind="summary", order="oldest")
            said = [one for one in await unit.memories.page(at, kind="observation", limit=500) if one.text == MILL]
            covered = await unit.memories.covered(at, [(one.space, one.place) for one in said])
        assert len(said) == 3 and len(covered) == (3 if self._sums_up(kept) else 0)
        return [one.text for one in kept]

    def _sums_up(self, kept: list[Memory]) -> bool:
        return any(MILL in one.text for one in kept)

    async def all_summaries(self) -> dict[str, list[str]]:
        async with self._house.store.reading() as unit:
            owners = await unit.memories.owners(self._tree, self._head)
        return {owner: await self.summaries(owner) for owner in owners if owner != "narrator"}


async def until_looked_after(house: House) -> None:
    """Waits until the periodic jobs of this hour are done, which a server begins when it starts: one of them has every
    play consolidated that is long enough by then."""
    jobs = [(job.kind, str(job.period(house.clock.now_ms()))) for job in periodic_jobs(house)]

    async def done(unit: Unit) -> bool:
        work = [await unit.work.by_key(kind, period) for kind, period in jobs]
        return all(one is not None and one.status == "done" for one in work)

    async with asyncio.timeout(120):
        while not await house.store.read(done):
            await asyncio.sleep(0.05)


async def test_consolidation_killed_at_any_step_goes_on_and_keeps_each_summary_once(client: Client) -> None:
    await until_looked_after(client.house)
    session = await gate_session(client)
    for line in [MILL, MILL, MILL, *(f"I count to {number}." for number in range(LATELY))]:
        await client.turn(session, line)
    head = (await client.call("session.get", session))["head_turn_id"]
    await remember_line(client.house, head)
    async with client.house.store.reading() as unit:
        turn = await unit.plays.turn(head)
        assert turn is not None
    minds = Minds(client.house, turn.tree_id, head)
    settings = client.house.settings
    seen, lives = [await minds.all_summaries()], 0
    # Every other step: in a statement, or beside a commit.
    while await dies(settings, "consolidate", head, after=2 * lives):
        lives += 1
        now = await minds.all_summaries()
        assert all(now[owner][: len(kept)] == kept for owner, kept in seen[-1].items()), "what was kept stays"
        seen += [now] if now != seen[-1] else []
    whole = await minds.all_summaries()
    assert lives >= 4 and seen[0] != whole
    assert all(sum(MILL in text for text in kept) == 1 for kept in whole.values())
    # The work that is begun now and then finds nothing left to do. The server begins it itself when an hour begins.
    assert await begin_consolidations(client.house) <= 1
    async with client.house.store.reading() as unit:
        assert await unit.work.by_key(CONSOLIDATE, head) is not None
    await client.house.work.take_up()
    for work_id in client.house.work.ids():
        await client.house.work.wait(work_id)
    assert await minds.all_summaries() == whole


async def test_embedding_killed_at_any_step_goes_on_and_makes_no_vector_twice(place: Place) -> None:
    place.settings.data_folder.mkdir(exist_ok=True)
    async with open_house(place.settings.model_copy(update={"embedder": "off"})) as house:
        texts = [f"A cart passes the gate, number {n}." for n in range(MANY)]
        new = [NewMemory(memory_id=f"m{n}", owner="mara", text=text, scene=str(n // 9)) for n, text in enumerate(texts)]
        found = await findable(house, new)
        async with house.store.writing() as unit:
            await unit.memories.add("game:g", None, found)
    settings = place.settings.model_copy(update={"embedder": "wordllama"})
    async with open_house(settings) as house:
        assert house.embedder is not None
        name, left = house.embedder.name, [MANY]
        # In the statement of the first piece, at both sides of its commit, and between the second and the third.
        for after, more in ((0, 0), (1, 0), (2, AT_ONCE), (4, AT_ONCE)):
            assert await dies(settings, "embed", after=after)
            left.append(await house.store.read(lambda unit: unit.memories.count_without_vector(name)))
            assert left[-2] - left[-1] == more
        assert await embed_all(house) == left[-1] == MANY - 2 * AT_ONCE
        assert await embed_all(house) == 0
