"""What grows piece by piece has a bound; what was stored before there was one is read, and may become smaller."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.unit.actions.conftest import Stage

from fabula.actions.repositories import LOREBOOKS
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
