"""Random trees of turns, with memories, summaries and forgetting: what comes to mind is what a plain model says."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from tests.mass import seeds

from fabula.ports.memories import Owner, OwnerAt
from fabula.ports.store import Store
from fabula.testing.plays_kit import opened, played
from fabula.testing.store_kit.memories import new_memory


@dataclass(kw_only=True)
class Model:
    """What is kept by turn, what covers what, and who is pinned; all in plain sets."""

    parents: dict[str, str | None] = field(default_factory=lambda: {"t0": None})
    turn_of: dict[str, str] = field(default_factory=dict)
    covers: dict[str, set[str]] = field(default_factory=dict)

    def line(self, turn_id: str | None) -> set[str]:
        found: set[str] = set()
        while turn_id is not None:
            found.add(turn_id)
            turn_id = self.parents[turn_id]
        return found

    def known(self, turn_id: str) -> set[str]:
        line = self.line(turn_id)
        return {id for id, at in self.turn_of.items() if at in line}

    def come_to_mind(self, turn_id: str) -> set[str]:
        known = self.known(turn_id)
        covered = {id for summary, ids in self.covers.items() if summary in known for id in ids}
        return known - covered

    def forget(self, memory_id: str) -> None:
        for summary in [one for one, ids in self.covers.items() if memory_id in ids]:
            del self.covers[summary]
            self.turn_of.pop(summary, None)
        self.turn_of.pop(memory_id, None)
        for one in self.covers.pop(memory_id, set()):
            self.forget(one)


@seeds(30)
async def test_what_comes_to_mind_is_exact_on_every_branch_whatever_was_covered_or_forgotten(
    store: Store, seed: int
) -> None:
    draws, model = random.Random(seed), Model()
    tree = (await opened(store)).tree_id

    async def check() -> None:
        async with store.reading() as unit:
            for turn_id in model.parents:
                at = OwnerAt(owner=Owner(scope=tree, name="mara"), turn_id=turn_id)
                rows = (await unit.memories.candidates(at, ["rain"])).rows
                found = await unit.memories.at_places(at, [(row[0], row[1]) for row in rows])
                assert {one.memory_id for one in found} == model.come_to_mind(turn_id)
                assert {one.memory_id for one in await unit.memories.page(at, limit=500)} == model.known(turn_id)

    for step in range(16):
        parent = draws.choice(sorted(model.parents))
        turn_id = f"t{step + 1}"
        async with store.writing() as unit:
            await unit.plays.move_head("s", parent)
        await played(store, turn_id, parent)
        model.parents[turn_id] = parent
        async with store.writing() as unit:
            new = [new_memory(f"Rain {step} {n}.", id=f"m{step}.{n}") for n in range(draws.randint(0, 3))]
            await unit.memories.add(tree, turn_id, new)
            model.turn_of |= {one.memory_id: turn_id for one in new}
            loose = sorted(id for id in model.come_to_mind(turn_id) if id not in model.covers)
            if len(loose) > 2 and draws.random() < 0.5:
                ids, summary = draws.sample(loose, 2), f"sum{step}"
                await unit.memories.add(tree, turn_id, [new_memory("Rain.", id=summary, kind="summary", scene=summary)])
                await unit.memories.cover(summary, ids)
                model.turn_of[summary], model.covers[summary] = turn_id, set(ids)
            elif model.turn_of and draws.random() < 0.2:
                gone = draws.choice(sorted(model.turn_of))
                await unit.memories.forget(gone)
                model.forget(gone)
    await check()
