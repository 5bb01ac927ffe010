"""One part of a stored document is found in its text, and nothing else is taken for it or costs anything."""

from __future__ import annotations

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as some
from tests.growth import calls_of

from fabula.adapters.stores.document_parts import find_part
from fabula.adapters.stores.tables import pack
from fabula.ports.store import PartName
from fabula.story.values import Json, JsonObject

SNARES = ["{", "}", "[", "]", '"', "\\", '\\"', '{"entry_id":"e1",', '"entry_id":"e1"', ",", "\0", "é", "\u2028"]
TEXTS = some.lists(some.sampled_from([*SNARES, "word "]), max_size=6).map("".join)
VALUES = some.recursive(
    TEXTS | some.integers(-5, 5) | some.none(),
    lambda inner: some.lists(inner, max_size=3) | some.dictionaries(TEXTS | some.just("entry_id"), inner, max_size=3),
    max_leaves=6,
)


def named(name: str) -> PartName:
    return PartName(list="entries", key="entry_id", name=name)


def entry(name: str, before: Json, text: str) -> JsonObject:
    return {"known_by": before, "entry_id": name, "content": text}


@given(some.lists(some.tuples(VALUES, TEXTS), min_size=1, max_size=5), VALUES)
def test_the_part_that_is_meant_is_found_whatever_stands_around_it(rows: list[tuple[Json, str]], other: Json) -> None:
    entries: list[Json] = [entry(f"e{number}", *row) for number, row in enumerate(rows)]
    doc: JsonObject = {"lorebook_id": "w", "display_name": "{", "other": {"x": other}, "entries": entries}
    text = pack("lorebook", doc)
    for number, one in enumerate(entries):
        found = find_part("lorebook", text, named(f"e{number}"))
        if found is None:
            continue  # Somebody reads the whole.
        assert found.part == one
        after = orjson.loads(found.replaced(text, {"entry_id": "new"}))
        assert after["entries"] == [*entries[:number], {"entry_id": "new"}, *entries[number + 1 :]]
        assert {**after, "entries": entries} == orjson.loads(text)


DECOYS: list[Json] = [{"entry_id": "e9"}, [{"entry_id": "e9"}], '{"entry_id":"e9"}', [[{"entry_id": "e9"}]]]


@pytest.mark.parametrize("decoy", DECOYS, ids=str)
def test_what_only_looks_like_it_is_not_it(decoy: Json) -> None:
    text = pack("lorebook", {"entries": [{"entry_id": "e1", "known_by": decoy}], "other": {"o": decoy}})
    assert find_part("lorebook", text, named("e9")) is None


def test_of_a_document_of_another_version_the_whole_is_read() -> None:
    text = pack("lorebook", {"entries": [{"entry_id": "e1"}]})
    assert find_part("lorebook", text, named("e1")) is not None
    assert find_part("lorebook", text.replace('"v":', '"v":9', 1), named("e1")) is None


def test_a_part_costs_the_same_whatever_there_is_beside_it() -> None:
    def calls(count: int) -> int:
        entries: list[Json] = [entry(f"e{number}", None, 'a "word" \\ or { two') for number in range(count)]
        text = pack("lorebook", {"entries": entries})
        return calls_of(lambda: find_part("lorebook", text, named(f"e{count - 1}"))).total()

    assert calls(5_000) == calls(50)
