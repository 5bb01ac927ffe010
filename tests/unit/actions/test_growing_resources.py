"""What grows piece by piece has a bound; what was stored before there was one is read, and may become smaller."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tests.unit.actions.conftest import Stage

from fabula.actions.library.lorebooks import UpdateLorebookEntry, update_lorebook_entry
from fabula.actions.repositories import LARGEST_LOREBOOK, LOREBOOKS, MOST_TEXTS
from fabula.ports.actors import OPERATOR
from fabula.ports.errors import InvalidRequest
from fabula.story.resources import Lorebook, LorebookEntry


def book(*texts: str) -> Lorebook:
    entries = [LorebookEntry(entry_id=f"e{n}", title="T", content=text) for n, text in enumerate(texts)]
    return Lorebook(lorebook_id="w", display_name="W", entries=entries)


async def test_what_is_larger_than_it_may_be_only_becomes_smaller(stage: Stage) -> None:
    small = replace(LOREBOOKS, largest=2_000)
    async with stage.house.store.writing() as unit:
        with pytest.raises(InvalidRequest, match=r"A lorebook may have 2000 bytes, and this one would have \d+"):
            await small.add(unit, "w", book("x" * 3_000))
        await LOREBOOKS.add(unit, "w", book("x" * 3_000, "y" * 3_000))
        assert (await small.get(unit, "w")).entries[1].content == "y" * 3_000
        with pytest.raises(InvalidRequest, match="Leave something out"):
            await small.put(unit, "w", book("x" * 3_000, "y" * 3_000, "z"))
        await small.put(unit, "w", book("x" * 3_000))
        assert len((await small.get(unit, "w")).entries) == 1


async def test_many_short_texts_have_a_bound_together(stage: Stage) -> None:
    few = replace(LOREBOOKS, most_texts=100)
    words = LorebookEntry(entry_id="e0", title="T", content="x", keywords=["k"] * 200)
    async with stage.house.store.writing() as unit:
        with pytest.raises(InvalidRequest, match=r"A lorebook may have 100 texts, and this one would have \d+"):
            await few.add(unit, "w", Lorebook(lorebook_id="w", display_name="W", entries=[words]))
        await few.add(unit, "w", book('","' * 200))
        await LOREBOOKS.put(unit, "w", Lorebook(lorebook_id="w", display_name="W", entries=[words, words]))
        await few.put(unit, "w", Lorebook(lorebook_id="w", display_name="W", entries=[words]))


@pytest.mark.parametrize(
    ("first", "change"),
    [
        ({"content": "x" * (LARGEST_LOREBOOK - 1_000)}, {"content": "y" * 1_000}),
        ({"keywords": ["k"] * (MOST_TEXTS - 100)}, {"keywords": ["k"] * 200}),
    ],
)
async def test_nothing_grows_beyond_its_bound_by_changing_its_pieces(
    stage: Stage, first: dict[str, Any], change: dict[str, Any]
) -> None:
    large = LorebookEntry(**{"entry_id": "large", "title": "T", "content": "x", **first})
    async with stage.house.store.writing() as unit:
        await LOREBOOKS.add(unit, "w", book("x").model_copy(update={"entries": [large, *book("x").entries]}))
    command = UpdateLorebookEntry(lorebook_id="w", entry_id="e0", **change)
    with pytest.raises(InvalidRequest, match="Leave something out"):
        await update_lorebook_entry(stage.house, OPERATOR, command)
