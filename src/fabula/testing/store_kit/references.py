"""The law of references: nothing refers to what is missing, and nothing in use is removed."""

from __future__ import annotations

import asyncio

import pytest

from fabula.ports.errors import Conflict, InUse, NotFound
from fabula.ports.store import Reference, Store
from fabula.testing.store_kit.places import StorePlace
from fabula.testing.world import FixedClock

SCHEMA = Reference(kind="schema", id="s")
LOREBOOK = Reference(kind="lorebook", id="l")


class ReferencesLaw:
    async def test_a_reference_to_something_missing_raises_not_found_naming_it(self, store: Store) -> None:
        with pytest.raises(NotFound, match="no schema 's'") as caught:
            async with store.writing() as unit:
                await unit.resources.add("character", "c", {}, references=[SCHEMA])
        assert caught.value.data == {"kind": "schema", "id": "s"}
        async with store.reading() as unit:
            assert await unit.resources.get("character", "c") is None

    async def test_remove_of_something_that_is_referred_to_raises_in_use_naming_the_users_sorted(
        self, store: Store
    ) -> None:
        async with store.writing() as unit:
            await unit.resources.add("schema", "s", {})
            await unit.resources.add("story", "a", {}, references=[SCHEMA])
            await unit.resources.add("character", "z", {}, references=[SCHEMA, SCHEMA])
            await unit.resources.add("character", "b", {}, references=[SCHEMA])
            with pytest.raises(InUse, match="character 'b', character 'z', story 'a'") as caught:
                await unit.resources.remove("schema", "s")
            assert await unit.resources.users("schema", "s") == [
                Reference(kind="character", id="b"),
                Reference(kind="character", id="z"),
                Reference(kind="story", id="a"),
            ]
        assert caught.value.name == "in_use"
        assert caught.value.data["users"] == [
            {"kind": "character", "id": "b"},
            {"kind": "character", "id": "z"},
            {"kind": "story", "id": "a"},
        ]
        async with store.reading() as unit:
            assert await unit.resources.get("schema", "s") is not None

    async def test_in_use_names_the_first_users_and_counts_the_rest(self, store: Store) -> None:
        async with store.writing() as unit:
            await unit.resources.add("schema", "s", {})
            for number in range(150):
                await unit.resources.add("character", f"c{number:03}", {}, references=[SCHEMA])
            with pytest.raises(InUse, match="and 147 more") as caught:
                await unit.resources.remove("schema", "s")
        users = caught.value.data["users"]
        assert isinstance(users, list)
        assert (len(users), caught.value.data["users_total"]) == (100, 150)

    async def test_put_replaces_the_references(self, store: Store) -> None:
        async with store.writing() as unit:
            await unit.resources.add("schema", "s", {})
            await unit.resources.add("lorebook", "l", {})
            await unit.resources.add("story", "a", {}, references=[SCHEMA])
            await unit.resources.put("story", "a", {}, references=[LOREBOOK])
            await unit.resources.remove("schema", "s")
            with pytest.raises(InUse):
                await unit.resources.remove("lorebook", "l")
            await unit.resources.put("story", "a", {})
            await unit.resources.remove("lorebook", "l")

    async def test_the_references_of_a_removed_user_go_with_it(self, store: Store) -> None:
        async with store.writing() as unit:
            await unit.resources.add("schema", "s", {})
            await unit.resources.add("story", "a", {}, references=[SCHEMA])
            await unit.resources.remove("story", "a")
            await unit.resources.remove("schema", "s")
            assert await unit.resources.count("schema") == 0

    async def test_what_refers_only_to_itself_is_not_in_use(self, store: Store) -> None:
        async with store.writing() as unit:
            await unit.resources.add("schema", "s", {}, references=[SCHEMA])
            assert await unit.resources.users("schema", "s") == []
            await unit.resources.remove("schema", "s")
            assert await unit.resources.get("schema", "s") is None

    async def test_a_refusal_leaves_the_unit_usable(self, store: Store) -> None:
        async with store.writing() as unit:
            await unit.resources.add("schema", "s", {})
            await unit.resources.add("story", "a", {}, references=[SCHEMA])
            for refused in (unit.resources.remove("schema", "s"), unit.resources.add("story", "a", {})):
                with pytest.raises(Conflict):
                    await refused
            await unit.resources.add("story", "b", {}, references=[SCHEMA])
        async with store.reading() as unit:
            assert await unit.resources.count("story") == 2

    async def test_use_and_removal_at_the_same_time_never_leave_a_reference_to_nothing(
        self, store: Store, place: StorePlace, clock: FixedClock
    ) -> None:
        other = place.store(clock)
        await other.open()
        try:
            for number in range(10):
                await _race(store, other, number)
        finally:
            await other.close()
        async with store.reading() as unit:
            schemas = {stored.id for stored in await unit.resources.page("schema")}
            used = {str(stored.doc["uses"]) for stored in await unit.resources.page("character")}
        assert used <= schemas


async def _race(one: Store, other: Store, number: int) -> None:
    id = f"s{number}"
    async with one.writing() as unit:
        await unit.resources.add("schema", id, {})

    async def use() -> None:
        async with one.writing() as unit:
            await unit.resources.add(
                "character", f"c{number}", {"uses": id}, references=[Reference(kind="schema", id=id)]
            )

    async def remove() -> None:
        async with other.writing() as unit:
            await unit.resources.remove("schema", id)

    outcomes = await asyncio.gather(use(), remove(), return_exceptions=True)
    assert sum(isinstance(outcome, NotFound | InUse) for outcome in outcomes) == 1, outcomes
