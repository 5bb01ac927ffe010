"""The lore of a story has a bound, however many books it names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.live import live_server

from fabula.actions.setups.story_lore import lore_of_books


async def test_the_lore_of_a_story_is_each_book_once_and_of_very_much_the_first(tmp_path: Path) -> None:
    async with live_server(tmp_path) as client:
        for book in "abcdef":
            entries: list[dict[str, Any]] = [
                {"entry_id": f"{book}{n}", "title": "t", "content": "x" * 9, "keywords": ["y"]} for n in range(3)
            ]
            await client.call("lorebook.create", lorebook_id=book, display_name=book, entries=entries)
        async with client.house.store.reading() as unit:

            async def lore(books: str, **bounds: int) -> list[str]:
                return [entry.entry_id for entry in await lore_of_books(unit, [*books], **bounds)]

            assert await lore("ba" * 500) == ["b0", "b1", "b2", "a0", "a1", "a2"]
            assert len(await lore("abcdef")) == 18
            assert await lore("abcdef", most=4) == ["a0", "a1", "a2", "b0"]
            assert await lore("abcdef", most_letters=25) == ["a0", "a1"]
