"""Lore: which entries of the books apply now, because they always do or because a word calls them to mind."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from fabula.story.contexts import Lore, LoreNote
from fabula.story.resources import LorebookEntry

MOST_BASE = 4
MOST_MATCHED = 8
LONGEST_CONTENT = 800

# Scripts written without spaces have no word borders: between their letters a keyword may stand anywhere.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
_LETTER = rf"[^\W{_UNSPACED}]"


def active_lore(entries: Iterable[LorebookEntry], texts: Sequence[str]) -> Lore:
    """The lore for a prompt: by the entries' order, then in the author's; disabled entries never apply."""
    enabled = sorted((entry for entry in entries if entry.enabled), key=lambda entry: entry.order)
    base = [entry for entry in enabled if entry.always_include][:MOST_BASE]
    matched = matched_entries([entry for entry in enabled if not entry.always_include], base, texts)
    return Lore(base=[note(entry) for entry in base], matched=[note(entry) for entry in matched])


def matched_entries(
    candidates: Sequence[LorebookEntry], base: Sequence[LorebookEntry], texts: Sequence[str]
) -> list[LorebookEntry]:
    """The entries that the texts call to mind; the content of recursive ones may call up more."""
    found: list[LorebookEntry] = []
    heard = "\n".join([*texts, *(entry.content for entry in base if entry.recursive)]).casefold()
    while heard:
        fresh = [entry for entry in candidates if entry not in found and called_up(entry, heard)]
        found += fresh
        heard = "\n".join(entry.content for entry in fresh if entry.recursive).casefold()
    place = {entry.entry_id: index for index, entry in enumerate(candidates)}
    return sorted(found[:MOST_MATCHED], key=lambda entry: place[entry.entry_id])


def called_up(entry: LorebookEntry, folded_text: str) -> bool:
    """Whether one of the entry's keywords stands in the text (given in casefolded form)."""
    keywords = [folded for keyword in entry.keywords if (folded := keyword.strip().casefold())]
    if entry.match == "substring":
        return any(keyword in folded_text for keyword in keywords)
    return any(keyword in folded_text and _whole_word(keyword).search(folded_text) for keyword in keywords)


@lru_cache(maxsize=4096)
def _whole_word(keyword: str) -> re.Pattern[str]:
    letter = re.compile(_LETTER)
    before = rf"(?<!{_LETTER})" if letter.match(keyword[0]) else ""
    after = rf"(?!{_LETTER})" if letter.match(keyword[-1]) else ""
    return re.compile(before + re.escape(keyword) + after)


def note(entry: LorebookEntry) -> LoreNote:
    """The entry as a role reads it: cut to its own budget of letters, or to the common one."""
    return LoreNote(title=entry.title, content=entry.content[: entry.budget or LONGEST_CONTENT])
