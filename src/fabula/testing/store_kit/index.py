"""The law of the index: orders, places, words, and who reaches what."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fabula.language.search_words import query_words, sort_name
from fabula.ports.index import ListOrder, ListPlace, ListQuestion, SearchQuestion
from fabula.ports.plays import Finished, NewTurn
from fabula.ports.store import Reference, Store
from fabula.story.values import Json, JsonObject
from fabula.testing.world import FixedClock


async def named(store: Store, kind: Any, clock: FixedClock, **names: str) -> None:
    """Adds resources one after the other, a moment apart."""
    for id, name in names.items():
        async with store.writing() as unit:
            await unit.resources.add(kind, id, {"display_name": name})
        clock.advance(1)


async def played(store: Store, session_id: str, story_id: str, *, name: str = "", owner: str | None = None) -> None:
    """A session of a story, at its start."""
    start = NewTurn(turn_id=f"start-{session_id}", session_id=session_id, parent_id=None, turn_index=0, kind="start")
    finished = Finished(turn_id=start.turn_id, state={}, state_hash="")
    async with store.writing() as unit:
        story = Reference(kind="story", id=story_id)
        await unit.resources.add("session", session_id, {"display_name": name or session_id}, references=[story])
        await unit.plays.add(session_id, start, finished, owner_token_id=owner)


async def listed(store: Store, kind: str, query: str = "", **more: Any) -> list[str]:
    async with store.reading() as unit:
        places = await unit.index.page(ListQuestion(kind=kind, words=query_words(query), **more))
    return [place.id for place in places]


async def pages(store: Store, kind: str, order: ListOrder, limit: int, query: str = "") -> list[str]:
    """A list read part by part."""
    found: list[str] = []
    after: ListPlace | None = None
    while True:
        async with store.reading() as unit:
            asked = ListQuestion(kind=kind, order=order, words=query_words(query), after=after, limit=limit)
            places = await unit.index.page(asked)
        found += [place.id for place in places]
        if len(places) < limit:
            return found
        after = places[-1]


async def found(store: Store, query: str, *scopes: Any, limit: int = 10, token: str | None = None) -> list[str]:
    question = SearchQuestion(
        scopes=scopes, words=query_words(query), beginning=sort_name(query), limit=limit, reached_by=token
    )
    async with store.reading() as unit:
        return [entry.part or entry.id for entry in await unit.index.find(question)]


def entry(id: str, title: str, keywords: Sequence[str] = (), content: str = "") -> JsonObject:
    return {"entry_id": id, "title": title, "keywords": list(keywords), "content": content}


class IndexLaw:
    async def test_what_add_and_put_kept_is_in_the_index_and_goes_with_remove(
        self, store: Store, clock: FixedClock
    ) -> None:
        await named(store, "schema", clock, a="The Lighthouse", b="The Mill")
        assert await listed(store, "schema", "light") == ["a"]
        async with store.writing() as unit:
            await unit.resources.put("schema", "a", {"display_name": "The Ferry", "tags": ["river"]})
        assert await listed(store, "schema", "light") == []
        assert await listed(store, "schema", "ferry riv") == ["a"]
        async with store.reading() as unit:
            assert {id: one.name for id, one in (await unit.index.entries("schema", ["a", "b", "x"])).items()} == {
                "a": "The Ferry",
                "b": "The Mill",
            }
        async with store.writing() as unit:
            await unit.resources.remove("schema", "a")
        assert (await listed(store, "schema", "ferry"), await listed(store, "schema", order="name")) == ([], ["b"])

    async def test_page_orders_by_id_by_folded_name_or_with_the_newest_first(
        self, store: Store, clock: FixedClock
    ) -> None:
        await named(store, "schema", clock, b="zebra", a="Émile", d="Anna", c="emil")
        async with store.writing() as unit:
            await unit.resources.put("schema", "a", {"display_name": "Émile"})
        orders: tuple[ListOrder, ...] = ("id", "name", "created", "updated")
        assert ["".join(await listed(store, "schema", order=order)) for order in orders] == [
            "abcd",
            "dcab",
            "cdab",
            "acdb",
        ]

    async def test_what_has_the_same_key_is_ordered_by_its_id_in_the_same_direction(self, store: Store) -> None:
        async with store.writing() as unit:
            for id in "bca":
                await unit.resources.add("schema", id, {"display_name": "Twin"})
        assert await listed(store, "schema", order="name") == ["a", "b", "c"]
        assert await listed(store, "schema", order="updated") == ["c", "b", "a"]
        for order in ("id", "name", "created", "updated"):
            for limit in (1, 2, 3):
                assert await pages(store, "schema", order, limit) == await listed(store, "schema", order=order)

    async def test_page_goes_on_behind_a_place_also_when_nothing_stands_there_any_more(
        self, store: Store, clock: FixedClock
    ) -> None:
        await named(store, "schema", clock, a="One", b="Two", c="Three", d="Four")
        orders: tuple[ListOrder, ...] = ("id", "name", "created", "updated")
        wholes = {order: await listed(store, "schema", order=order) for order in orders}
        async with store.reading() as unit:
            ends = {order: (await unit.index.page(ListQuestion(kind="schema", order=order)))[1] for order in orders}
        async with store.writing() as unit:
            for gone in {place.id for place in ends.values()}:
                await unit.resources.remove("schema", gone)
        left = set(await listed(store, "schema"))
        for order, place in ends.items():
            rest = [id for id in wholes[order][2:] if id in left]
            assert await listed(store, "schema", order=order, after=place) == rest

    async def test_nothing_comes_twice_while_things_change(self, store: Store, clock: FixedClock) -> None:
        await named(store, "schema", clock, a="A", b="B", c="C", d="D")
        async with store.reading() as unit:
            seen = await unit.index.page(ListQuestion(kind="schema", order="updated", limit=2))
        async with store.writing() as unit:
            await unit.resources.put("schema", seen[-1].id, {"display_name": "changed"})
        assert await listed(store, "schema", order="updated", after=seen[-1]) == ["b", "a"]

    async def test_with_words_it_lists_what_has_for_each_a_word_that_begins_with_it(
        self, store: Store, clock: FixedClock
    ) -> None:
        await named(store, "preset", clock, a="Étude in Blue", b="Blue Étoile", c="Straße", d="霧中的燈塔", e="O'Brien")
        asked = ["etu", "ÉT blu", "blue e", "STRASSE", "燈塔", "霧中", "brien", "o'b", "tude", "blue red", "!!!"]
        answers = {query: "".join(await listed(store, "preset", query, order="name")) for query in asked[:-1]}
        assert answers == {
            "etu": "a",
            "ÉT blu": "ba",
            "blue e": "ba",
            "STRASSE": "c",
            "燈塔": "d",
            "霧中": "d",
            "brien": "e",
            "o'b": "e",
            "tude": "",
            "blue red": "",
        }
        for order in ("id", "name", "created", "updated"):
            assert sorted(await pages(store, "preset", order, 1, "blu")) == ["a", "b"]

    async def test_a_lorebook_also_has_the_words_of_its_entries(self, store: Store) -> None:
        entries: list[Json] = [entry("seal", "The Seal", ["wax"], "It was stolen."), entry("lamp", "The Lamp")]
        async with store.writing() as unit:
            await unit.resources.add("lorebook", "court", {"display_name": "The Court", "entries": entries})
        assert await listed(store, "lorebook", "wax") == ["court"]
        assert await listed(store, "lorebook", "court wax", order="name") == ["court"]
        assert await found(store, "wax", "lorebook_entry") == ["seal"]
        assert await found(store, "court", "lorebook_entry", "lorebook") == ["court"]
        async with store.writing() as unit:
            changed: JsonObject = {"display_name": "The Court", "entries": [entries[1], entry("crown", "The Crown")]}
            await unit.resources.put("lorebook", "court", changed)
        assert await found(store, "the", "lorebook_entry") == ["crown", "lamp"]
        assert await found(store, "wax", "lorebook_entry") == []

    async def test_a_session_also_has_the_words_of_its_storys_name_and_is_updated_when_its_play_is(
        self, store: Store, clock: FixedClock
    ) -> None:
        await named(store, "story", clock, mill="The Mill", ferry="The Ferry")
        for id, story in (("s1", "mill"), ("s2", "ferry"), ("s3", "mill")):
            await played(store, id, story, name=f"Evening {id}")
            clock.advance(1)
        assert await listed(store, "session", "mill", order="updated") == ["s3", "s1"]
        assert await listed(store, "session", "mill s1") == ["s1"]
        assert await listed(store, "session", story_id="mill", order="created") == ["s3", "s1"]
        async with store.writing() as unit:
            await unit.plays.touch("s1")
        assert await listed(store, "session", order="updated") == ["s1", "s3", "s2"]
        assert await listed(store, "session", order="name") == ["s1", "s2", "s3"]
        assert await listed(store, "session", status="ended") == []
        for order in ("id", "name", "created", "updated"):
            assert sorted(await pages(store, "session", order, 1, "evening")) == ["s1", "s2", "s3"]

    async def test_of_a_token_it_lists_finds_and_counts_only_what_it_reaches(
        self, store: Store, clock: FixedClock
    ) -> None:
        await named(store, "story", clock, mill="The Mill", ferry="The Ferry")
        for id, owner in (("s1", "ann"), ("s2", "bob"), ("s3", None), ("s4", "bob")):
            await played(store, id, "mill", name="Evening", owner=owner)
        async with store.writing() as unit:
            await unit.plays.invite("s2", "ann")
            await unit.plays.invite("s1", "ann")
        for order in ("id", "name", "created", "updated"):
            assert sorted(await listed(store, "session", "eve", order=order, reached_by="ann")) == ["s1", "s2"]
        assert await listed(store, "session", reached_by="") == []
        assert sorted(await found(store, "evening", "session", token="ann")) == ["s1", "s2"]
        async with store.reading() as unit:
            assert await unit.index.count_plays(["mill", "ferry"]) == {"mill": 4}
            assert await unit.index.count_plays(["mill"], token_id="ann") == {"mill": 2}
            assert await unit.index.count_plays(["ferry"], token_id="ann") == {}

    async def test_find_answers_names_that_begin_so_first_then_names_then_the_rest(
        self, store: Store, clock: FixedClock
    ) -> None:
        await named(store, "character", clock)
        async with store.writing() as unit:
            for id, name, text in (
                ("a", "Old Marit", ""),
                ("b", "Pim", "He owes Marit a boat."),
                ("c", "Marit Lund", ""),
                ("d", "Adeline", "She waits."),
            ):
                await unit.resources.add("character", id, {"content": {"name": name, "personality": text}})
        assert await found(store, "mar", "character") == ["c", "a", "b"]
        assert await found(store, "marit boa", "character") == ["b"]
        assert await found(store, "mar", "character", limit=1) == ["c"]
        assert await found(store, "w", "character") == []
