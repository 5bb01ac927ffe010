"""The law of memories."""

from __future__ import annotations

from dataclasses import replace

from fabula.ports.memories import Findable, Memory, MemoryChange, NewMemory, Owner, OwnerAt
from fabula.ports.store import Store, Unit
from fabula.testing.plays_kit import opened, played


def new_memory(text: str, *, owner: str = "mara", id: str = "", scene: str = "inn", **more: object) -> NewMemory:
    """A memory that is found by its own words."""
    words = text.lower().rstrip(".").split()
    return NewMemory(
        memory_id=id or f"{owner}: {text}",
        owner=owner,
        text=text,
        scene=scene,
        findable=Findable(words=words, stems=words),
        **more,  # type: ignore[arg-type]
    )


def at(turn_id: str | None, owner: str = "mara", scope: str = "") -> OwnerAt:
    return OwnerAt(owner=Owner(scope=scope, name=owner), turn_id=turn_id)


async def _tree(store: Store) -> str:
    """t0 - t1 - t2 - t3, and t2b - t3b beside it."""
    play = await opened(store)
    for turn_id, parent_id in (("t1", "t0"), ("t2", "t1"), ("t3", "t2")):
        await played(store, turn_id, parent_id)
    async with store.writing() as unit:
        await unit.plays.move_head("s", "t1")
    for turn_id, parent_id in (("t2b", "t1"), ("t3b", "t2b")):
        await played(store, turn_id, parent_id)
    return play.tree_id


async def _texts(unit: Unit, owner: OwnerAt) -> list[str]:
    return [one.text for one in await unit.memories.page(owner, order="oldest")]


async def _found(unit: Unit, owner: OwnerAt, *stems: str, whole: int = 700) -> list[str]:
    found = await unit.memories.candidates(owner, stems, whole=whole)
    places = [(row[0], row[1]) for row in found.rows]
    return [one.text for one in await unit.memories.at_places(owner, places)]


async def _only(unit: Unit, owner: OwnerAt) -> Memory:
    [one] = await unit.memories.page(owner)
    return one


class MemoriesLaw:
    async def test_an_owner_at_a_turn_has_the_memories_of_the_line_that_ends_there_and_no_others(
        self, store: Store
    ) -> None:
        tree = await _tree(store)
        async with store.writing() as unit:
            # Followers may come in any order.
            for turn_id in ("t3", "t1", "t3b", "t2", "t2b"):
                await unit.memories.add(tree, turn_id, [new_memory(f"Rain at {turn_id}.", id=turn_id)])
            for head, known in {
                "t3": ["t1", "t2", "t3"],
                "t2": ["t1", "t2"],
                "t1": ["t1"],
                "t0": [],
                "t3b": ["t1", "t2b", "t3b"],
                "t2b": ["t1", "t2b"],
            }.items():
                expected = [f"Rain at {turn_id}." for turn_id in known]
                assert await _texts(unit, at(head, scope=tree)) == expected
                assert await _found(unit, at(head, scope=tree), "rain") == expected
                # Also where it is too much to be read whole.
                assert await _found(unit, at(head, scope=tree), "rain", whole=0) == expected
                assert await _texts(unit, at(head, "orr", scope=tree)) == []
            assert await unit.memories.owners(tree, "t3") == ["mara"]

    async def test_names_are_those_up_to_a_turn_and_not_those_met_later(self, store: Store) -> None:
        tree = await _tree(store)
        async with store.writing() as unit:
            for turn_id, name in (("t3", "Tam"), ("t1", "Orr"), ("t2", "Tam"), ("t2b", "Vex")):
                memory = new_memory("Rain.", id=turn_id, speaker=name, people=("Mara",))
                await unit.memories.add(tree, turn_id, [memory])
            for head, known in {
                "t1": ["Mara", "Orr"],
                "t2": ["Mara", "Orr", "Tam"],
                "t2b": ["Mara", "Orr", "Vex"],
            }.items():
                assert sorted(await unit.memories.names(at(head, scope=tree))) == known

    async def test_an_owner_knows_what_happened_before_very_many_forks(self, store: Store) -> None:
        play = await opened(store)
        async with store.writing() as unit:
            await unit.memories.add(play.tree_id, "t0", [new_memory("Rain.", id="first")])
        parent = "t0"
        for number in range(80):
            for branch in ("a", "b"):
                async with store.writing() as unit:
                    await unit.plays.move_head("s", parent)
                await played(store, f"{branch}{number}", parent)
                async with store.writing() as unit:
                    memory = new_memory(f"Night {branch}{number}.", id=f"{branch}{number}")
                    await unit.memories.add(play.tree_id, f"{branch}{number}", [memory])
            parent = f"b{number}"
        async with store.reading() as unit:
            known = await _texts(unit, at(parent, scope=play.tree_id))
        assert known == ["Rain.", *(f"Night b{number}." for number in range(80))]

    async def test_a_turn_that_left_no_memories_yet_knows_what_those_above_it_do(self, store: Store) -> None:
        tree = await _tree(store)
        async with store.writing() as unit:
            await unit.memories.add(tree, "t1", [new_memory("Rain.")])
            assert await _texts(unit, at("t3", scope=tree)) == ["Rain."]
            assert await _texts(unit, at("t3b", scope=tree)) == ["Rain."]

    async def test_unplaced_lists_the_turns_above_for_which_nothing_was_added_oldest_first(self, store: Store) -> None:
        tree = await _tree(store)
        async with store.writing() as unit:
            await unit.memories.add(tree, "t1", [])
            assert await unit.memories.unplaced("t3", within=9) == ["t2", "t3"]
            assert await unit.memories.unplaced("t3", within=1) == ["t3"]
            assert await unit.memories.unplaced("t1", within=9) == []

    async def test_one_whose_id_is_kept_already_is_left_as_it_is(self, store: Store) -> None:
        tree = await _tree(store)
        async with store.writing() as unit:
            for text in ("Rain.", "Snow."):
                await unit.memories.add(tree, "t1", [new_memory(text, id="m1"), new_memory("Wind.", id="m2")])
            await unit.memories.add(tree, "t1", [new_memory("Hail.", id="m3")])
            assert await _texts(unit, at("t1", scope=tree)) == ["Rain.", "Wind.", "Hail."]

    async def test_a_game_has_one_line_and_its_memories_stand_in_their_order(self, store: Store) -> None:
        async with store.writing() as unit:
            for number in range(3):
                await unit.memories.add("game", None, [new_memory(f"Night {number}.", people=("Orr",))])
            await unit.memories.add("another", None, [new_memory("Day.", id="other")])
            here = at(None, scope="game")
            assert await _texts(unit, here) == ["Night 0.", "Night 1.", "Night 2."]
            assert [one.text for one in await unit.memories.page(here, limit=2)] == ["Night 2.", "Night 1."]
            last = (await unit.memories.candidates(here, [])).rows[1]
            older = await unit.memories.page(here, after=(last[0], last[1]))
            assert [one.text for one in older] == ["Night 0."]
            assert await unit.memories.names(here) == ["Orr"]

    async def test_of_many_memories_those_with_the_rarest_stems_are_candidates_with_those_around_them(
        self, store: Store
    ) -> None:
        many = [new_memory(f"rain number{n}", scene=f"scene{n // 10}", id=f"m{n}") for n in range(1200)]
        async with store.writing() as unit:
            for start in range(0, 1200, 300):
                await unit.memories.add("game", None, many[start : start + 300])
            found = await unit.memories.candidates(at(None, scope="game"), ["number777", "number13", "never"])
        said = [row[4].split()[-1] for row in found.rows]
        assert {f"number{n}" for n in (12, 13, 14, 776, 777, 778)} <= set(said)
        assert len(said) < 30 and said == sorted(said, key=lambda one: int(one.removeprefix("number")))
        # What was left out between them is marked, so that nobody takes them for neighbours.
        assert len(found.breaks) == 2
        assert (found.total, found.counts) == (1200, {"number777": 1, "number13": 1, "never": 0})

    async def test_of_many_memories_an_old_one_that_has_several_of_the_stems_is_a_candidate(self, store: Store) -> None:
        words = ["storm fog", *["rain"] * 5, *["storm"] * 320, *["rain"] * 5, *["fog"] * 320]
        here = at(None, scope="game")
        async with store.writing() as unit:
            made = [new_memory(text, scene=f"scene{n}", id=f"m{n}") for n, text in enumerate(words)]
            await unit.memories.add("game", None, made)
            found = await unit.memories.candidates(here, ["storm", "fog"], whole=1)
        assert found.rows[0][4] == "storm fog" and len(found.rows) < 20

    async def test_of_many_memories_one_is_a_candidate_whose_neighbours_have_the_stems(self, store: Store) -> None:
        words = [*["storm"] * 400, "rain", "fog", "storm", "rain", *["fog"] * 400]
        words[200] = words[600] = "rain"
        here = at(None, scope="game")
        async with store.writing() as unit:
            made = [new_memory(text, scene="at sea", id=f"m{n}") for n, text in enumerate(words)]
            await unit.memories.add("game", None, made)
            found = await unit.memories.candidates(here, ["storm", "fog"], whole=1)
        near = {row[1] for row in found.rows if row[4] == "rain"}
        assert near and near <= {400, 403}

    async def test_of_many_memories_a_belief_that_was_changed_later_is_no_candidate(self, store: Store) -> None:
        held = [replace(new_memory("storm", scene="belief", id=f"b{n}"), kind="belief") for n in range(2)]
        calm = [new_memory("rain", scene=f"scene{n}", id=f"m{n}") for n in range(40)]
        here = at(None, scope="game")
        async with store.writing() as unit:
            await unit.memories.add("game", None, [held[0], *calm, held[1]])
            found = await unit.memories.candidates(here, ["storm"], whole=1)
            rows = await unit.memories.at_places(here, [(row[0], row[1]) for row in found.rows])
        assert [one.memory_id for one in rows if one.kind == "belief"] == ["b1"]

    async def test_memories_that_were_forgotten_never_come_up_again(self, store: Store) -> None:
        async with store.writing() as unit:
            await unit.memories.add("game", None, [new_memory("Rain.", id="m1"), new_memory("Snow.", id="m2")])
            assert await unit.memories.forget("m1")
            assert not await unit.memories.forget("m1")
            assert await _found(unit, at(None, scope="game"), "rain") == ["Snow."]
            assert await unit.memories.get("m1") is None

    async def test_those_that_faded_are_no_candidates_until_they_are_pinned(self, store: Store) -> None:
        async with store.writing() as unit:
            await unit.memories.add("game", None, [new_memory("Rain.", id="m1")])
            await unit.memories.change("m1", MemoryChange(fidelity=0.0))
            here = at(None, scope="game")
            assert await _found(unit, here, "rain") == []
            assert await _texts(unit, here) == ["Rain."]
            await unit.memories.change("m1", MemoryChange(pinned=True))
            assert await _found(unit, here, "rain") == ["Rain."]

    async def test_change_writes_a_new_text_as_a_rendition_and_the_original_stays(self, store: Store) -> None:
        async with store.writing() as unit:
            await unit.memories.add("game", None, [new_memory("Rain.", id="m1", importance=2)])
            after = Findable(words=["snow"], stems=["snow"])
            changed = await unit.memories.change("m1", MemoryChange(text="Snow.", importance=4, findable=after))
            assert (changed.text, changed.shown, changed.importance) == ("Rain.", "Snow.", 4)
            await unit.memories.count_recalls(["m1"])
            assert (await _only(unit, at(None, scope="game"))).recalls == 1

    async def test_vectors_of_another_embedder_are_found_and_replaced(self, store: Store) -> None:
        async with store.writing() as unit:
            await unit.memories.add("game", None, [new_memory("Rain.", id="m1"), new_memory("Snow.", id="m2")])
            await unit.memories.put_vectors("new", {"m1": b"1"})
            left = await unit.memories.without_vector("new", limit=9)
            assert [one.memory_id for one in left] == ["m2"]
            await unit.memories.put_vectors("old", {"m2": b"2"})
            assert await unit.memories.count_without_vector("new") == 1
            assert await unit.memories.count_without_vector("another") == 2
            both = await unit.memories.without_vector("another", limit=9)
            assert sorted(one.memory_id for one in both) == ["m1", "m2"]
            found = await unit.memories.candidates(at(None, scope="game"), [])
            assert list(found.vectors) == [b"1", b"2"]

    async def test_memories_go_with_the_last_play_of_their_tree(self, store: Store) -> None:
        tree = await _tree(store)
        async with store.writing() as unit:
            await unit.memories.add(tree, "t1", [new_memory("Rain.", id="m1")])
            await unit.plays.remove("s")
            assert await unit.memories.get("m1") is None

    async def test_a_summary_covers_memories_from_its_turn_on_and_nowhere_else(self, store: Store) -> None:
        tree = await _tree(store)
        async with store.writing() as unit:
            for turn_id in ("t1", "t2", "t3", "t2b", "t3b"):
                await unit.memories.add(tree, turn_id, [new_memory(f"Rain at {turn_id}.", id=turn_id)])
            await unit.memories.add(tree, "t3", [new_memory("Much rain.", id="sum", kind="summary", scene="sum")])
            await unit.memories.cover("sum", ["t1", "t2", "nobody"])
            await unit.memories.cover("sum", ["t1", "t2"])
            assert await _found(unit, at("t3", scope=tree), "rain") == ["Rain at t3.", "Much rain."]
            assert await _found(unit, at("t2", scope=tree), "rain") == ["Rain at t1.", "Rain at t2."]
            assert "Rain at t1." in await _found(unit, at("t3b", scope=tree), "rain")
            assert len(await _texts(unit, at("t3", scope=tree))) == 4
            await unit.memories.change("t1", MemoryChange(pinned=True))
            assert "Rain at t1." in await _found(unit, at("t3", scope=tree), "rain")

    async def test_who_forgets_a_summary_forgets_what_it_covers(self, store: Store) -> None:
        tree = await _tree(store)
        async with store.writing() as unit:
            for turn_id in ("t1", "t2"):
                await unit.memories.add(tree, turn_id, [new_memory(f"Rain at {turn_id}.", id=turn_id)])
            await unit.memories.add(tree, "t3", [new_memory("Much rain.", id="sum", kind="summary", scene="sum")])
            await unit.memories.cover("sum", ["t1", "t2"])
            assert await unit.memories.forget("sum")
            assert await _texts(unit, at("t3", scope=tree)) == []

    async def test_who_forgets_something_that_is_covered_forgets_the_summary_and_nothing_else(
        self, store: Store
    ) -> None:
        tree = await _tree(store)
        async with store.writing() as unit:
            for turn_id in ("t1", "t2"):
                await unit.memories.add(tree, turn_id, [new_memory(f"Rain at {turn_id}.", id=turn_id)])
            await unit.memories.add(tree, "t3", [new_memory("Much rain.", id="sum", kind="summary", scene="sum")])
            await unit.memories.cover("sum", ["t1", "t2"])
            assert await unit.memories.forget("t1")
            assert await _found(unit, at("t3", scope=tree), "rain") == ["Rain at t2."]

    async def test_pages_of_one_kind_have_no_others_and_go_on_where_they_ended(self, store: Store) -> None:
        tree = await _tree(store)
        async with store.writing() as unit:
            for turn_id in ("t1", "t2", "t3"):
                new = [new_memory(f"Rain at {turn_id}.", id=turn_id)]
                new.append(new_memory(f"It rains {turn_id}.", id=f"b{turn_id}", kind="belief"))
                await unit.memories.add(tree, turn_id, new)
            first = await unit.memories.page(at("t3", scope=tree), kind="belief", limit=2)
            assert [one.memory_id for one in first] == ["bt3", "bt2"]
            place = (first[-1].space, first[-1].place)
            rest = await unit.memories.page(at("t3", scope=tree), kind="belief", after=place, limit=2)
            assert [one.memory_id for one in rest] == ["bt1"]

    async def test_conclusions_are_found_by_the_turns_that_they_rest_on_on_any_line(self, store: Store) -> None:
        tree = await _tree(store)
        async with store.writing() as unit:
            for turn_id, marks in (("t2", ["t1"]), ("t3", ["!t1", "t3"]), ("t2b", ["t2b"])):
                new = new_memory(f"It rains {turn_id}.", id=f"b{turn_id}", kind="belief", evidence=marks)
                await unit.memories.add(tree, turn_id, [new])
            found = await unit.memories.resting_on(Owner(scope=tree, name="mara"), "t1")
            assert sorted(one.memory_id for one in found) == ["bt2", "bt3"]
            assert await unit.memories.resting_on(Owner(scope=tree, name="orr"), "t1") == []
