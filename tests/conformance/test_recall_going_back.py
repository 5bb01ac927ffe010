"""Going back restores recall exactly, however far, on both engines: same question, same answer, same order."""

from __future__ import annotations

import random

import pytest
from tests.conftest import Place

from fabula.actions.house import House
from fabula.actions.memories.recall_memories import recall_memories
from fabula.actions.memories.remember import findable
from fabula.ports.memories import NewMemory, Owner, OwnerAt
from fabula.ports.store import Store
from fabula.testing.plays_kit import opened, played
from fabula.wiring import open_house

WORDS = ["lantern", "bridge", "ledger", "harbour", "letter", "locket", "ferry", "storm", "candle", "anchor"]
PEOPLE = ("Mara", "Orr", "Tam", "Vex", "Ferry", "Candle")
QUESTIONS = ("Who hid the lantern under the bridge?", "What did Orr say of the ferry?", "candle and anchor")
Answers = list[list[tuple[str, float]]]


async def live(house: House, store: Store, tree: str, turn_id: str, parent: str, dice: random.Random) -> None:
    """A turn in which two things are said; later ones are said by people whom nobody had met before."""
    await played(store, turn_id, parent)
    met = PEOPLE[: 2 + int("".join(filter(str.isdigit, turn_id)) or 0) // 20]
    said = [
        NewMemory(
            memory_id=f"{turn_id}/{number}",
            owner="mara",
            text=f"The {dice.choice(WORDS)} and the {dice.choice(WORDS)} were near the {dice.choice(WORDS)} {turn_id}.",
            speaker=dice.choice(met),
            people=met,
            scene=f"scene{turn_id[:-1]}",
        )
        for number in range(2)
    ]
    found = await findable(house, said)
    async with store.writing() as unit:
        await unit.memories.add(tree, turn_id, found)


async def answers(house: House, tree: str, turn_id: str) -> Answers:
    """What comes to mind at a turn, with the scores."""
    owner = OwnerAt(owner=Owner(scope=tree, name="mara"), turn_id=turn_id)
    found = [await recall_memories(house, owner, question) for question in QUESTIONS]
    return [[(one.memory.memory_id, one.score) for one in some] for some in found]


@pytest.mark.parametrize(("turns", "back"), [(60, 40), pytest.param(520, 500, marks=pytest.mark.all)])
async def test_going_back_restores_recall_and_an_abandoned_line_never_comes_up(
    turns: int, back: int, place: Place
) -> None:
    dice = random.Random(4)
    async with open_house(place.settings) as house:
        store = house.store
        tree = (await opened(store)).tree_id
        parent, then = "t0", dict[str, Answers]()
        for number in range(1, turns + 1):
            await live(house, store, tree, f"t{number}", parent, dice)
            parent = f"t{number}"
            if number in (turns - back, turns - 1, turns):
                then[parent] = await answers(house, tree, parent)
        for turn_id, before in then.items():
            assert await answers(house, tree, turn_id) == before and any(before)
        parent = f"t{turns - back}"
        async with store.writing() as unit:
            await unit.plays.move_head("s", parent)
        for branch in ("x1", "x2"):
            await live(house, store, tree, branch, parent, dice)
            parent = branch
        there = [id for some in await answers(house, tree, "x2") for id, _ in some]
        known = {f"t{number}" for number in range(turns - back + 1)} | {"x1", "x2"}
        assert there and {id.split("/")[0] for id in there} <= known
        assert {turn_id: await answers(house, tree, turn_id) for turn_id in then} == then
