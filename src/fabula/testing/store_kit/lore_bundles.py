"""The law of lore bundles."""

from __future__ import annotations

from fabula.ports.store import Store
from fabula.testing.world import FixedClock


class LoreBundlesLaw:
    async def test_put_keeps_a_bundle_under_its_version_and_one_that_is_there_already_stays(self, store: Store) -> None:
        for words in ("first", "second"):
            async with store.writing() as unit:
                await unit.lore_bundles.put("v1", {"words": {words: [1]}})
        async with store.reading() as unit:
            assert await unit.lore_bundles.get("v1") == {"words": {"first": [1]}}

    async def test_a_version_that_has_no_bundle_answers_none_and_has_says_so(self, store: Store) -> None:
        async with store.writing() as unit:
            await unit.lore_bundles.put("v1", {})
            assert await unit.lore_bundles.has("v1") and not await unit.lore_bundles.has("v2")
            assert await unit.lore_bundles.get("v2") is None

    async def test_prune_keeps_the_newest_bundles(self, store: Store, clock: FixedClock) -> None:
        for number in range(5):
            clock.advance(1000)
            async with store.writing() as unit:
                await unit.lore_bundles.put(f"v{5 - number}", {})
        async with store.writing() as unit:
            assert await unit.lore_bundles.prune(keep=2) == 3
            assert [await unit.lore_bundles.has(f"v{number}") for number in range(1, 6)] == [True, True, *[False] * 3]
            assert await unit.lore_bundles.prune(keep=2) == 0
