"""Keyword search: which keywords a text names, as whole words or anywhere."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from fabula.language.caches import cached_by_digest
from fabula.language.vocabulary import UNSPACED

_LETTER = rf"[^\W{UNSPACED}]"
_WORD = re.compile(rf"{_LETTER}+")
_PIECE = 3
_PIECES_OF = 32
_FEW = 32
LONGEST_TEXT = 20_000
MOST_STEPS = 400_000
"""So much is done to find the keywords of one text; a step is about a tenth of a microsecond."""
_HIT = 5
_LETTERS_PER_STEP = 500
_LONGEST_COMPARED = 100


Sought = tuple[int, str, str]
"""The number of a group, a keyword of it that is searched for, and its way of matching."""


@dataclass(frozen=True, kw_only=True)
class SortedKeywords:
    """The work that an index takes to make: plain words with their groups, other keywords by a piece of them.

    `named` are texts of which is known which groups they name. All of it can be written down as JSON.
    """

    words: Mapping[str, Sequence[int]]
    others: Mapping[str, Sequence[Sought]]
    named: Mapping[str, Sequence[int]] = field(default_factory=dict)


def sort_keywords(groups: Iterable[tuple[Sequence[str], str]]) -> SortedKeywords:
    """Groups of keywords, each with its way of matching, `word` or `substring`, ready to be looked for."""
    words: dict[str, list[int]] = {}
    others: list[Sought] = []
    for number, (keywords, match) in enumerate(groups):
        for keyword in filter(lambda one: one.folded, map(_keyword, keywords)):
            if match == "word" and keyword.is_word:
                words.setdefault(keyword.folded, []).append(number)
            else:
                others.append((number, keyword.folded, match))
    return SortedKeywords(words=words, others=_by_rarest_piece(others))


@dataclass(frozen=True, kw_only=True)
class Named:
    """The groups of which a text names a keyword, in their order, and how many steps it took to find them."""

    groups: tuple[int, ...]
    steps: int


class KeywordIndex:
    """Groups of keywords; made once, asked for many texts.

    The lines of a history are asked for again in every turn, so what a text names is remembered. Of a longer text only
    its first letters are looked at. Where so many keywords almost stand in a text that it takes too many steps to try
    them all, the last ones are not found.
    """

    def __init__(self, keywords: SortedKeywords) -> None:
        self._words, self._others, self._known = keywords.words, keywords.others, keywords.named
        self._lengths = {len(piece) for piece in self._others}
        self.look_through: Callable[[str], Named] = cached_by_digest(most=512, longest=4_000)(self._named_in)

    def named_in(self, text: str) -> tuple[int, ...]:
        """The numbers of the groups of which a text names a keyword, in their order."""
        return self.look_through(text).groups

    def _named_in(self, text: str) -> Named:
        known = self._known.get(text)
        if known is not None:
            return Named(groups=tuple(known), steps=1)
        folded = text[:LONGEST_TEXT].casefold()
        found = {number for word in _WORD.findall(folded) for number in self._words.get(word, ())}
        search = _Search(folded, steps=len(folded) * (1 + len(self._lengths)))
        # In an order of their own: those of a set are another one in each process.
        for piece in sorted(self._pieces_in(folded)):
            for number, keyword, match in self._others[piece]:
                if number not in found and search.finds(keyword, match):
                    found.add(number)
        return Named(groups=tuple(sorted(found)), steps=search.steps)

    def _pieces_in(self, folded: str) -> Iterable[str]:
        """The pieces of keywords that a text has somewhere: keywords of other pieces need not be searched for."""
        if len(self._others) <= _FEW:
            return [piece for piece in self._others if piece in folded]
        pieces = {folded[at : at + length] for length in self._lengths for at in range(len(folded))}
        return pieces & self._others.keys()


def _by_rarest_piece(keywords: list[Sought]) -> dict[str, list[Sought]]:
    """Keywords by a piece of them that as few as possible have in common."""
    pieces = [_pieces(keyword) for _, keyword, _ in keywords]
    common = Counter(piece for some in pieces for piece in some)
    found: dict[str, list[Sought]] = {}
    for one, some in zip(keywords, pieces, strict=True):
        found.setdefault(min(some, key=lambda piece: common[piece]), []).append(one)
    return found


def _pieces(keyword: str) -> list[str]:
    last = min(len(keyword), _PIECES_OF) - _PIECE
    return [keyword[at : at + _PIECE] for at in range(max(1, last + 1))]


class _Search:
    """Keywords are searched for in a text until it has taken too many steps; each is searched for once."""

    def __init__(self, folded: str, *, steps: int) -> None:
        self._folded, self.steps = folded, steps
        self._known: dict[tuple[str, str], bool] = {}

    def finds(self, keyword: str, match: str) -> bool:
        """Whether a keyword stands in the text; not if it took too many steps to find out."""
        found = self._known.get((keyword, match))
        if found is None:
            found = self._known[keyword, match] = self._stands_here(keyword, match)
        return found

    def _stands_here(self, keyword: str, match: str) -> bool:
        at = -1
        while self.steps < MOST_STEPS:
            begin, at = at + 1, self._folded.find(keyword, at + 1)
            letters = (len(self._folded) if at < 0 else at) - begin
            self.steps += _HIT + letters * min(len(keyword), _LONGEST_COMPARED) // _LETTERS_PER_STEP
            if at < 0 or match != "word" or _is_whole(self._folded, keyword, at):
                return at >= 0
        return False


def _is_whole(folded: str, keyword: str, at: int) -> bool:
    """Whether a keyword at this place is no part of a longer word; signs at its ends may stand beside letters."""
    end = at + len(keyword)
    joins_before = at > 0 and _WORD.match(keyword[0]) and _WORD.match(folded[at - 1])
    joins_after = end < len(folded) and _WORD.match(keyword[-1]) and _WORD.match(folded[end])
    return not joins_before and not joins_after


@dataclass(frozen=True, kw_only=True)
class Keyword:
    """A keyword in one case; a plain word is found among the words, others are searched for."""

    folded: str
    is_word: bool


@lru_cache(maxsize=8192)
def _keyword(keyword: str) -> Keyword:
    folded = keyword.strip().casefold()
    return Keyword(folded=folded, is_word=_WORD.fullmatch(folded) is not None)
