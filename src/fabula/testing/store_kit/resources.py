"""The law of resources: ids, revisions, lists."""

from __future__ import annotations

import pytest

from fabula.ports.errors import Conflict, InvalidParams, NotFound
from fabula.ports.index import SearchQuestion
from fabula.ports.store import PartName, Store
from fabula.story.values import JsonObject
from fabula.testing.world import FixedClock


class ResourcesLaw:
    async def test_what_add_took_get_answers(self, store: Store, clock: FixedClock) -> None:
        doc: JsonObject = {"text": "Grüße, \U0001f409 and \0", "n": [1, 2.5, None, True], "o": {"b": 1, "a": 2}}
        async with store.writing() as unit:
            added = await unit.resources.add("schema", "dragon", doc)
        async with store.reading() as unit:
            found = await unit.resources.get("schema", "dragon")
        assert found == added
        assert (added.revision, added.built_in, added.doc) == (1, False, doc)
        assert added.created_at_ms == added.updated_at_ms == clock.now_ms()

    async def test_add_refuses_an_id_that_exists_with_conflict(self, store: Store) -> None:
        async with store.writing() as unit:
            await unit.resources.add("schema", "a", {"n": 1})
            with pytest.raises(Conflict, match="already schema 'a'"):
                await unit.resources.add("schema", "a", {"n": 2})
            await unit.resources.add("lorebook", "a", {"n": 3})
        async with store.reading() as unit:
            kept = await unit.resources.get("schema", "a")
        assert kept is not None and kept.doc == {"n": 1}

    async def test_get_answers_none_for_a_missing_one(self, store: Store) -> None:
        async with store.reading() as unit:
            assert await unit.resources.get("schema", "nobody") is None

    async def test_get_many_answers_those_that_are_there(self, store: Store) -> None:
        async with store.writing() as unit:
            for number in range(1100):
                await unit.resources.add("schema", f"s{number}", {"n": number})
        async with store.reading() as unit:
            found = await unit.resources.get_many("schema", ["nobody", *(f"s{n}" for n in range(1100))])
            none = await unit.resources.get_many("schema", [])
        assert {id: stored.doc["n"] for id, stored in found.items()} == {f"s{n}": n for n in range(1100)}
        assert none == {}

    async def test_put_raises_not_found_for_a_missing_id(self, store: Store) -> None:
        async with store.writing() as unit:
            with pytest.raises(NotFound, match="no schema 'nobody'"):
                await unit.resources.put("schema", "nobody", {})

    async def test_put_adds_one_to_the_revision_and_created_at_stays(self, store: Store, clock: FixedClock) -> None:
        async with store.writing() as unit:
            first = await unit.resources.add("schema", "a", {"n": 1}, built_in=True)
        clock.advance(500)
        async with store.writing() as unit:
            second = await unit.resources.put("schema", "a", {"n": 2})
        async with store.reading() as unit:
            assert await unit.resources.get("schema", "a") == second
        assert (second.revision, second.doc, second.built_in) == (2, {"n": 2}, True)
        assert second.created_at_ms == first.created_at_ms
        assert second.updated_at_ms == first.updated_at_ms + 500

    async def test_put_with_expected_revision_raises_conflict_when_another_change_came_first(
        self, store: Store
    ) -> None:
        async with store.writing() as unit:
            await unit.resources.add("schema", "a", {"n": 1})
            await unit.resources.put("schema", "a", {"n": 2}, expected_revision=1)
            with pytest.raises(Conflict, match="changed meanwhile"):
                await unit.resources.put("schema", "a", {"n": 3}, expected_revision=1)
            kept = await unit.resources.get("schema", "a")
        assert kept is not None and kept.doc == {"n": 2}

    async def test_change_part_changes_one_object_as_put_of_the_whole_would(
        self, store: Store, clock: FixedClock
    ) -> None:
        first: JsonObject = {"entry_id": "a", "title": 'The {old} "mill"', "content": "x", "keywords": ["mill"]}
        second: JsonObject = {**first, "entry_id": "b", "title": "Weir", "keywords": []}
        name = PartName(list="entries", key="entry_id", name="a")

        async def titles(word: str) -> list[str]:
            asked = SearchQuestion(scopes=["lorebook_entry"], words=[word], beginning=word, limit=9, reached_by=None)
            async with store.reading() as unit:
                return [one.name for one in await unit.index.find(asked)]

        async with store.writing() as unit:
            added = await unit.resources.add("lorebook", "w", {"display_name": "W", "entries": [first, second]})
        clock.advance(500)
        async with store.writing() as unit:
            changed = await unit.resources.change_part(
                "lorebook", "w", name, lambda old: {**old, "title": "Ferry"}, fits=lambda _: True
            )
        async with store.reading() as unit:
            found = await unit.resources.get("lorebook", "w")
        assert changed == {**first, "title": "Ferry"} and found is not None
        assert found.doc == {"display_name": "W", "entries": [changed, second]}
        assert (found.revision, found.updated_at_ms) == (2, added.updated_at_ms + 500)
        assert (await titles("ferry"), await titles("old"), await titles("weir")) == (["Ferry"], [], ["Weir"])

    async def test_change_part_answers_none_for_what_is_not_there_and_changes_nothing(self, store: Store) -> None:
        doc: JsonObject = {"entries": [{"entry_id": "a"}]}
        async with store.writing() as unit:
            await unit.resources.add("lorebook", "w", doc)
            for book, entry in (("w", "b"), ("nobody", "a")):
                name = PartName(list="entries", key="entry_id", name=entry)
                nobody = unit.resources.change_part("lorebook", book, name, lambda old: {}, fits=lambda _: True)
                assert await nobody is None
            found = await unit.resources.get("lorebook", "w")
        assert found is not None and (found.doc, found.revision) == (doc, 1)

    async def test_change_part_answers_none_where_the_whole_would_be_longer_and_not_fit(self, store: Store) -> None:
        name = PartName(list="entries", key="entry_id", name="a")
        longer: JsonObject = {"entry_id": "a", "title": "The Mill"}
        shorter: JsonObject = {"entry_id": "a", "title": "Oak"}
        async with store.writing() as unit:
            await unit.resources.add("lorebook", "w", {"entries": [{"entry_id": "a", "title": "Mill"}]})
            change = unit.resources.change_part
            assert await change("lorebook", "w", name, lambda _: longer, fits=lambda _: False) is None
            assert await change("lorebook", "w", name, lambda _: shorter, fits=lambda _: False) == shorter
            found = await unit.resources.get("lorebook", "w")
        assert found is not None and (found.doc, found.revision) == ({"entries": [shorter]}, 2)

    async def test_remove_of_a_missing_one_raises_not_found(self, store: Store) -> None:
        async with store.writing() as unit:
            await unit.resources.add("schema", "a", {})
            await unit.resources.remove("schema", "a")
            with pytest.raises(NotFound):
                await unit.resources.remove("schema", "a")
            assert await unit.resources.get("schema", "a") is None

    async def test_page_is_sorted_by_id_in_byte_order(self, store: Store) -> None:
        ids = ["b", "B", "a", "_", "-", "a.b", "a:b", "a-b", "ab", "Z", "é", "\U0001f409", "~", "10", "9"]
        async with store.writing() as unit:
            for id in ids:
                await unit.resources.add("schema", id, {})
        async with store.reading() as unit:
            page = await unit.resources.page("schema")
        assert [stored.id for stored in page] == sorted(ids, key=str.encode)

    async def test_page_after_starts_behind_that_id_and_limit_bounds_the_answer(self, store: Store) -> None:
        async with store.writing() as unit:
            for id in "edcba":
                await unit.resources.add("schema", id, {})
            await unit.resources.add("lorebook", "c", {})
        async with store.reading() as unit:
            page = await unit.resources.page("schema", after="b", limit=2)
            behind_a_missing_one = await unit.resources.page("schema", after="bb")
        assert [stored.id for stored in page] == ["c", "d"]
        assert [stored.id for stored in behind_a_missing_one] == ["c", "d", "e"]

    async def test_recent_lists_by_last_change_newest_first(self, store: Store, clock: FixedClock) -> None:
        async with store.writing() as unit:
            for id in "abc":
                await unit.resources.add("story", id, {})
                clock.advance(1)
            await unit.resources.put("story", "a", {})
        async with store.reading() as unit:
            recent = await unit.resources.recent("story", limit=2)
        assert [stored.id for stored in recent] == ["a", "c"]

    async def test_first_is_the_users_own_before_built_ins_each_sorted_by_id(self, store: Store) -> None:
        async with store.writing() as unit:
            assert await unit.resources.first("preset") is None
            await unit.resources.add("preset", "a", {}, built_in=True)
            await unit.resources.add("preset", "b", {}, built_in=True)
            assert await unit.resources.first("preset") == "a"
            await unit.resources.add("preset", "z", {})
            await unit.resources.add("preset", "y", {})
            assert await unit.resources.first("preset") == "y"

    async def test_count_counts_one_kind(self, store: Store) -> None:
        async with store.writing() as unit:
            await unit.resources.add("schema", "a", {})
            await unit.resources.add("schema", "b", {})
            await unit.resources.add("lorebook", "a", {})
            assert [await unit.resources.count(kind) for kind in ("schema", "lorebook", "story")] == [2, 1, 0]

    async def test_count_having_counts_those_that_hold_an_object_there(self, store: Store) -> None:
        async with store.writing() as unit:
            await unit.resources.add("character", "a", {"cover": {"blob": "x"}})
            await unit.resources.add("character", "b", {"cover": None, "content": {"name": '"cover":{"blob"'}})
            await unit.resources.add("character", "c", {"content": {}})
            await unit.resources.add("schema", "d", {"cover": {}})
            assert await unit.resources.count("character", having="cover") == 1

    async def test_a_name_or_document_that_no_engine_can_spell_is_refused_and_the_unit_goes_on(
        self, store: Store
    ) -> None:
        async with store.writing() as unit:
            for id in ("a\0b", "\ud800"):
                with pytest.raises(InvalidParams):
                    await unit.resources.add("schema", id, {})
                with pytest.raises(InvalidParams):
                    await unit.resources.get("schema", id)
            with pytest.raises(InvalidParams):
                await unit.resources.add("schema", "a", {"n": 2**70})
            await unit.resources.add("schema", "fine", {})
        async with store.reading() as unit:
            assert [stored.id for stored in await unit.resources.page("schema")] == ["fine"]
