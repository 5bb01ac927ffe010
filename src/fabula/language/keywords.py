"""Keyword search: which keywords a text names, as whole words or anywhere."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from fabula.language.caches import cached_if_short
from fabula.language.vocabulary import UNSPACED

_LETTER = rf"[^\W{UNSPACED}]"
_WORD = re.compile(rf"{_LETTER}+")


class KeywordIndex:
    """Groups of keywords, each with its way of matching, `word` or `substring`; made once, asked for many texts.

    The lines of a history are asked for again in every turn, so what a text names is remembered.
    """

    def __init__(self, groups: Iterable[tuple[Sequence[str], str]]) -> None:
        self._words: dict[str, list[int]] = {}
        self._others: list[tuple[int, str, str]] = []
        for number, (keywords, match) in enumerate(groups):
            for keyword in filter(lambda one: one.folded, map(_keyword, keywords)):
                if match == "word" and keyword.is_word:
                    self._words.setdefault(keyword.folded, []).append(number)
                else:
                    self._others.append((number, keyword.folded, match))
        self.named_in: Callable[[str], tuple[int, ...]] = cached_if_short(most=512, longest=4_000)(self._named_in)
        """The numbers of the groups of which a text names a keyword, in their order."""

    def _named_in(self, text: str) -> tuple[int, ...]:
        folded = text.casefold()
        found = {number for word in _WORD.findall(folded) for number in self._words.get(word, ())}
        found.update(number for number, keyword, match in self._others if _stands_in(folded, keyword, match))
        return tuple(sorted(found))


def _stands_in(folded: str, keyword: str, match: str) -> bool:
    if keyword not in folded:
        return False
    return match != "word" or _whole_word(keyword).search(folded) is not None


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
