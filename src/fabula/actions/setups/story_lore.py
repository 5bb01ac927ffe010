"""The lore of a story: the entries of its books, each book once, and of very many the first.

Every role of every turn looks through it, and it is kept while its story is played.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from fabula.actions.repositories import LOREBOOKS
from fabula.ports.store import Unit
from fabula.story.resources import LorebookEntry

MOST_ENTRIES: Final = 20_000
MOST_LETTERS: Final = 16_000_000
BOOKS_AT_ONCE: Final = 4


async def lore_of_books(
    unit: Unit, lorebook_ids: Sequence[str], *, most: int = MOST_ENTRIES, most_letters: int = MOST_LETTERS
) -> tuple[LorebookEntry, ...]:
    """The entries of some books in their order; those that are too many, or too long together, are left out."""
    ids = [*dict.fromkeys(lorebook_ids)]
    lore: list[LorebookEntry] = []
    letters = 0
    for at in range(0, len(ids), BOOKS_AT_ONCE):
        books = await LOREBOOKS.get_all(unit, ids[at : at + BOOKS_AT_ONCE])
        for entry in (entry for id in ids[at : at + BOOKS_AT_ONCE] for entry in books[id].entries):
            letters += len(entry.content) + sum(map(len, entry.keywords))
            if len(lore) == most or letters > most_letters:
                return tuple(lore)
            lore.append(entry)
    return tuple(lore)
