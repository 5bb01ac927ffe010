"""Keyword search: which of some texts names a keyword first, as a whole word or anywhere."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate

from fabula.language.caches import cached_if_short
from fabula.language.vocabulary import UNSPACED

_LETTER = rf"[^\W{UNSPACED}]"
_WORD = re.compile(rf"{_LETTER}+")


class KeywordSearch:
    """Texts in which keywords are looked for, folded to one case and split into words once."""

    def __init__(self, texts: Sequence[str]) -> None:
        read = [_read(text) for text in texts]
        self._text = "\n".join(folded for folded, _ in read)
        self._ends = list(accumulate(len(folded) + 1 for folded, _ in read))
        self._words: dict[str, int] = {}
        for number, (_, words) in enumerate(read):
            for word in words:
                self._words.setdefault(word, number)

    def first(self, keywords: Iterable[str], *, match: str) -> int | None:
        """The number of the text in which one of the keywords stands first; `match` is `word` or `substring`."""
        known = [found for keyword in keywords if (found := _keyword(keyword)).folded]
        places = [place for keyword in known if (place := self._find(keyword, match)) is not None]
        return min(places, default=None)

    def _find(self, keyword: Keyword, match: str) -> int | None:
        if match == "word" and keyword.is_word:
            return self._words.get(keyword.folded)
        place = self._text.find(keyword.folded)
        if place >= 0 and match == "word":
            found = _whole_word(keyword.folded).search(self._text)
            place = found.start() if found else -1
        return bisect_right(self._ends, place) if place >= 0 else None


@cached_if_short(most=1024, longest=4_000)
def _read(text: str) -> tuple[str, tuple[str, ...]]:
    """A text in one case, and its words."""
    folded = text.casefold()
    return folded, tuple(dict.fromkeys(_WORD.findall(folded)))


@dataclass(frozen=True, kw_only=True)
class Keyword:
    """A keyword in one case; a plain word is found among the words, others are searched for."""

    folded: str
    is_word: bool


@lru_cache(maxsize=8192)
def _keyword(keyword: str) -> Keyword:
    folded = keyword.strip().casefold()
    return Keyword(folded=folded, is_word=_WORD.fullmatch(folded) is not None)


@lru_cache(maxsize=4096)
def _whole_word(keyword: str) -> re.Pattern[str]:
    before = rf"(?<!{_LETTER})" if _WORD.match(keyword[0]) else ""
    after = rf"(?!{_LETTER})" if _WORD.match(keyword[-1]) else ""
    return re.compile(before + re.escape(keyword) + after)
