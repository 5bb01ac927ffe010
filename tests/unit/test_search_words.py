"""Texts and queries are folded the same way: what is typed from a name finds it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabula.adapters.stores import sql_store
from fabula.adapters.stores.index_tables import ENTRIES, index_missing
from fabula.language.search_words import LONGEST_SORT_NAME, MOST_QUERY_WORDS, fold, query_words, search_words, sort_name
from fabula.ports.index import ListQuestion
from fabula.story.index_entries import LONGEST_EXCERPT, MOST_PARTS, index_entries, shortened
from fabula.story.values import Json, JsonObject
from fabula.testing.memory_store import memory_place
from fabula.testing.world import FixedClock


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("ÉTUDE", "etude"),
        ("Straße", "strasse"),
        ("Łódź", "lodz"),
        ("Ærøskøbing", "aeroskobing"),
        ("ﬁnd", "find"),
        ("E\u0301mile", "emile"),
        ("Йод", "иод"),
        ("한국", "한국"),
        ("が", "が"),
        ("ＡＢＣ", "abc"),
        ("so\u00adft", "soft"),
    ],
)
def test_case_and_accents_do_not_count(text: str, folded: str) -> None:
    assert fold(text) == folded


def test_in_scripts_without_spaces_a_word_begins_at_every_letter() -> None:
    assert search_words("霧中的 light", most=9) == ["霧中的", "中的", "的", "light"]
    assert query_words("中的 Light") == ["中的", "light"]


@given(st.text(max_size=60), st.integers(0, 59), st.integers(1, 60))
def test_whatever_is_typed_from_the_beginning_of_a_word_finds_it(name: str, at: int, letters: int) -> None:
    words = search_words(name, most=1000)
    if words:
        typed = words[at % len(words)][:letters]
        assert all(any(word.startswith(asked) for word in words) for asked in query_words(typed))


@given(st.text(max_size=300))
def test_a_query_finds_the_name_that_it_repeats_whole(name: str) -> None:
    words, asked = search_words(name, most=1000), query_words(name)
    assert all(any(word.startswith(one) for word in words) for one in asked)
    assert len(asked) <= MOST_QUERY_WORDS and len(sort_name(name)) <= LONGEST_SORT_NAME
    assert sort_name(name) == sort_name(name.upper().lower()) or not name.isascii()


@given(st.text(max_size=600), st.integers(2, 200))
def test_what_is_shortened_is_one_line_no_longer_than_asked(text: str, most: int) -> None:
    line = shortened(text, most)
    assert len(line) <= most and line == " ".join(line.split())
    assert line == " ".join(text.split()) or line.endswith("…")


json: st.SearchStrategy[Json] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
)
FIELDS = ["content", "name", "display_name", "entries", "graph", "nodes", "fields", "tags", "kind", "files", "source"]


@given(st.sampled_from(["story", "lorebook", "character", "schema", "story_resources", "session"]), st.data())
def test_any_document_is_found_by_something(kind: str, data: st.DataObject) -> None:
    doc: JsonObject = data.draw(st.dictionaries(st.sampled_from(FIELDS), json, max_size=5))
    first, *others = index_entries(kind, "its-id", doc)
    assert first.part == "" and first.name and len(first.excerpt) <= LONGEST_EXCERPT
    assert all(other.part for other in others)
    assert set(first.found_by().values()) <= {0, 1} and len(first.digest) == 16


def test_of_a_story_nothing_is_found_that_is_not_on_its_title_page() -> None:
    scene: JsonObject = {
        "id": "cellar",
        "title": "The Murder",
        "scene": "Adeline lies there.",
        "goal": "Flee.",
        "transitions": [],
    }
    doc: JsonObject = {
        "display_name": "The Unlit Hour",
        "introduction": "A lamp went out.",
        "graph": {"start_node": "cellar", "nodes": [scene, {**scene, "id": "b", "transitions": [{"to": "cellar"}]}]},
    }
    (entry,) = index_entries("story", "s", doc)
    assert sorted(entry.found_by()) == ["a", "hour", "lamp", "out", "the", "unlit", "went"]
    assert (entry.words, entry.scenes, entry.endings) == (6, 2, 1)


def test_of_an_ink_story_the_words_are_about_counted() -> None:
    source = "VAR x = 1\n== quay ==\nFog has come up the river.\n* [Wait] You wait. -> quay\n~ x = 2\n-> END\n"
    (entry,) = index_entries("story", "s", {"kind": "ink", "display_name": "Fog", "source": source})
    assert entry.scenes is None and entry.words is not None and 8 <= entry.words <= 12


def test_a_lorebook_is_indexed_up_to_a_bound() -> None:
    entries: list[Json] = [{"entry_id": f"e{n}", "title": f"Title {n}"} for n in range(MOST_PARTS + 5)]
    assert len(index_entries("lorebook", "b", {"display_name": "B", "entries": entries})) == MOST_PARTS + 1


async def test_what_came_in_before_there_was_an_index_is_found_after_an_upgrade() -> None:
    with memory_place() as place:
        store = sql_store(place.settings, FixedClock())
        await store.open()
        async with store.writing() as unit:
            for number in range(250):
                await unit.resources.add("schema", f"s{number}", {"display_name": f"Number {number}"})
        await store.database.with_sqlalchemy(lambda connection: connection.execute(ENTRIES.delete()).rowcount)
        async with store.reading() as unit:
            assert await unit.index.page(ListQuestion(kind="schema", words=["number"])) == []
        await store.database.with_sqlalchemy(index_missing)
        async with store.reading() as unit:
            assert len(await unit.index.page(ListQuestion(kind="schema", words=["number"]))) == 250
        await store.close()
