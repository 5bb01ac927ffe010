"""Lore: which entries of the books apply now, because they always do or because a word calls them to mind."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate

from fabula.story.contexts import Lore, LoreNote
from fabula.story.resources import LorebookEntry

MOST_BASE = 4
MOST_MATCHED = 8
MOST_TIED = 24
AT_ONCE = 4
DROP_STEP = 12
LONGEST_CONTENT = 800

# Scripts written without spaces have no word borders: between their letters a keyword may stand anywhere.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
_LETTER = rf"[^\W{_UNSPACED}]"
_WORD = re.compile(rf"{_LETTER}+")


def active_lore(entries: Iterable[LorebookEntry], texts: Sequence[str], history: Sequence[str] = ()) -> Lore:
    """The lore for a prompt: by the entries' order, then in the author's; disabled entries never apply.

    `texts` tell of the scene as it is; `history` are the entries of the shared history, oldest first. A note that the
    history called up is tied to the entry that did so first: there it stays, and prompts keep their beginning.
    """
    enabled = sorted((entry for entry in entries if entry.enabled), key=lambda entry: entry.order)
    base = [entry for entry in enabled if entry.always_include][:MOST_BASE]
    candidates = [entry for entry in enabled if not entry.always_include]
    found = _called_up(candidates, base, texts, history)
    matches = [Match(entry=entry, place=found[n]) for n, entry in enumerate(candidates) if n in found]
    kept = _within_limit(matches, len(history))
    return Lore(base=[note(entry) for entry in base], matched=[note(match.entry, match.place) for match in kept])


@dataclass(frozen=True, kw_only=True)
class Match:
    """An entry that came to mind; `place` is the entry of the history that called it up, None for the scene."""

    entry: LorebookEntry
    place: int | None


class Heard:
    """Texts in which keywords are looked for, folded to one case and split into words once."""

    def __init__(self, texts: Sequence[str]) -> None:
        folded = [text.casefold() for text in texts]
        self._text = "\n".join(folded)
        self._ends = list(accumulate(len(text) + 1 for text in folded))
        self._words: dict[str, int] = {}
        for number, text in enumerate(folded):
            for word in _WORD.findall(text):
                self._words.setdefault(word, number)

    def first(self, entry: LorebookEntry) -> int | None:
        """The number of the text in which one of the entry's keywords stands first."""
        keywords = [found for keyword in entry.keywords if (found := _keyword(keyword)).folded]
        places = [place for keyword in keywords if (place := self._find(keyword, entry.match)) is not None]
        return min(places, default=None)

    def _find(self, keyword: Keyword, match: str) -> int | None:
        if match == "word" and keyword.is_word:
            return self._words.get(keyword.folded)
        place = self._text.find(keyword.folded)
        if place >= 0 and match == "word":
            found = _whole_word(keyword.folded).search(self._text)
            place = found.start() if found else -1
        return bisect_right(self._ends, place) if place >= 0 else None


@dataclass(frozen=True, kw_only=True)
class Keyword:
    """A keyword in one case; a plain word is found among the words, others are searched for."""

    folded: str
    is_word: bool


@lru_cache(maxsize=8192)
def _keyword(keyword: str) -> Keyword:
    folded = keyword.strip().casefold()
    return Keyword(folded=folded, is_word=_WORD.fullmatch(folded) is not None)


def _called_up(
    candidates: Sequence[LorebookEntry], base: Sequence[LorebookEntry], texts: Sequence[str], history: Sequence[str]
) -> dict[int, int | None]:
    """The candidates that come to mind, with their places; the content of recursive ones may call up more."""
    found: dict[int, int | None] = {}
    asked: list[tuple[Heard, int]] = [(Heard([*history, *texts]), len(history))]
    asked += [(Heard([entry.content]), 0) for entry in base if entry.recursive]
    callers: list[int | None] = [None] * len(asked)
    while asked:
        heard, placed = asked.pop(0)
        caller = callers.pop(0)
        for number, entry in enumerate(candidates):
            if number in found or (first := heard.first(entry)) is None:
                continue
            found[number] = first if first < placed else caller
            if entry.recursive:
                asked.append((Heard([entry.content]), 0))
                callers.append(found[number])
    return found


@lru_cache(maxsize=4096)
def _whole_word(keyword: str) -> re.Pattern[str]:
    before = rf"(?<!{_LETTER})" if _WORD.match(keyword[0]) else ""
    after = rf"(?!{_LETTER})" if _WORD.match(keyword[-1]) else ""
    return re.compile(before + re.escape(keyword) + after)


def _within_limit(matches: list[Match], history_length: int) -> list[Match]:
    """No more than eight at once: in the scene together with the newest entries, or in any few entries before.

    What an entry called up does not depend on later ones, and old notes go several at once: each change among them
    would change the beginning of every later prompt.
    """
    tied: list[Match] = []
    for place in sorted({match.place for match in matches if match.place is not None}):
        here = [match for match in matches if match.place == place]
        tied += here[: _room(tied, place)]
    over = len(tied) - MOST_TIED
    kept = tied[-(-over // DROP_STEP) * DROP_STEP :] if over > 0 else tied
    scene = [match for match in matches if match.place is None][: _room(kept, history_length)]
    chosen = {id(match) for match in (*kept, *scene)}
    return [match for match in matches if id(match) in chosen]


def _room(tied: list[Match], place: int) -> int:
    lately = sum(match.place is not None and match.place > place - AT_ONCE for match in tied)
    return max(0, MOST_MATCHED - lately)


def note(entry: LorebookEntry, place: int | None = None) -> LoreNote:
    """The entry as a role reads it: cut to its own budget of letters, or to the common one."""
    return LoreNote(title=entry.title, content=entry.content[: entry.budget or LONGEST_CONTENT], heard_at=place)
