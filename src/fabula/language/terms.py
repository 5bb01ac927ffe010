"""Terms: words and phrases that somebody wrote down, found in texts by the forms of their words.

1. A term stands in a sentence that has all its telling words, in any order and form: `harm to children` in `The child
   comes to harm`. A term in quotes stands only where its words follow each other.
2. Texts are compared as they read: without accents that hide a word, and with letters put together that were typed
   apart (`t o r t u r e`, `tor-ture`).
3. Words are known by their English stems. Other languages are compared word by word, and scripts without spaces letter
   by letter.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from fabula.language.stemming import STOP_WORDS, stem_in
from fabula.language.vocabulary import UNSPACED, plain, sentences_of
from fabula.language.words import word_set, words_of

_SMALL: Final = STOP_WORDS["english"]
_SMALLEST: Final = word_set("a an the of to from in on at by is be it i my with for into over")
_UNSPACED: Final = re.compile(f"[{UNSPACED}]")
_QUOTED: Final = re.compile(r"^[\"“'‘](.+)[\"”'’]$")
_JOINED: Final = re.compile(r"(?<![^\W_])[^\W_]++(?:[-.*_·][^\W_]++)++")
_LETTERS_APART: Final = re.compile(r"(?<![^\W_])[^\W_](?:[ .*_-]{1,2}[^\W_](?![^\W_])){2,40}")
_MARKS: Final = re.compile(r"[\W_]+")
LONGEST_TEXT: Final = 20_000
MOST_LETTERS: Final = 10_000
"""Of words that are looked for together: each is stemmed on the event loop when they are made ready."""


@dataclass(frozen=True, kw_only=True)
class _Term:
    name: str
    stems: tuple[str, ...]
    exact: bool


class Terms:
    """Terms by the name under which each is told."""

    def __init__(self, named: Iterable[tuple[str, str]], *, keep_small: bool = False) -> None:
        """With `keep_small` all but the smallest words tell: `owns the river` needs `own`, too."""
        self._small = _SMALLEST if keep_small else _SMALL
        self._by_stem: dict[str, list[_Term]] = {}
        self._unspaced: list[tuple[str, str]] = []
        for name, words in named:
            self._add(name, words)

    def __bool__(self) -> bool:
        return bool(self._by_stem or self._unspaced)

    def _add(self, name: str, words: str) -> None:
        if _UNSPACED.search(words):
            self._unspaced.append((name, _MARKS.sub("", plain(words)).lower()))
            return
        term = _term(name, words, self._small)
        if term.stems:
            # Every sentence that has the term has its longest word, and few others have that.
            self._by_stem.setdefault(max(term.stems, key=len), []).append(term)

    def find(self, text: str) -> str | None:
        """The name of a term that stands in a text; the first that is found."""
        return next(
            (found for sentence in sentences_of(text[:LONGEST_TEXT]) if (found := self.find_in(sentence))), None
        )

    def find_in(self, sentence: str) -> str | None:
        """The same for one sentence."""
        read = plain(sentence)
        stems = _stems(read)
        # Each stem once, and looked up: whoever repeats a word of many terms would have all of them compared each time.
        present, in_a_row = dict.fromkeys(stems), f" {' '.join(stems)} "
        for stem in present:
            for term in self._by_stem.get(stem, ()):
                if _stands_in(term, present, in_a_row):
                    return term.name
        return self._find_unspaced(read) or self._find_hidden(read)

    def _find_unspaced(self, read: str) -> str | None:
        if not self._unspaced or read.isascii():
            return None
        letters = _MARKS.sub("", read).lower()
        return next((name for name, words in self._unspaced if words in letters), None)

    def _find_hidden(self, read: str) -> str | None:
        """A term of one word whose letters were typed apart."""
        if not self._by_stem:
            return None
        apart = [*_JOINED.findall(read), *_LETTERS_APART.findall(read)]
        for hidden in apart:
            stem = stem_in(_MARKS.sub("", hidden).lower()[:40])
            for term in self._by_stem.get(stem, ()):
                if term.stems == (stem,):
                    return term.name
        return None


def _term(name: str, words: str, small: Container[str] = _SMALL) -> _Term:
    quoted = _QUOTED.match(words.strip())
    found = words_of(plain(quoted.group(1) if quoted else words))
    telling = [word for word in found if word not in small and len(word) > 1]
    exact = quoted is not None or not telling
    return _Term(name=name, stems=tuple(map(_stem, found if exact else telling)), exact=exact)


def _stems(read: str) -> list[str]:
    return list(map(_stem, words_of(read)))


def _stem(word: str) -> str:
    return stem_in(word.removesuffix("'s")[:40])


def _stands_in(term: _Term, present: Container[str], in_a_row: str) -> bool:
    if term.exact:
        return f" {' '.join(term.stems)} " in in_a_row
    return all(stem in present for stem in term.stems)


def terms_problem(what: str, terms: Iterable[str]) -> str | None:
    """Why so many words are not taken. What was stored before there was a limit is still read."""
    letters = sum(map(len, terms))
    if letters <= MOST_LETTERS:
        return None
    return f"{what} may have {MOST_LETTERS} letters together, and these have {letters}. Name fewer words."


def same_words(one: str, other: str) -> bool:
    """Whether two names have the same telling words."""
    return telling_words(one) == telling_words(other) != frozenset()


def telling_words(name: str) -> frozenset[str]:
    """What two names have in common that mean the same."""
    return frozenset(_term("", name).stems)


@lru_cache(maxsize=256)
def exact_phrases(phrases: tuple[str, ...]) -> Terms:
    """Phrases that stand only where their words follow each other; made once for the same ones."""
    return Terms((phrase, f'"{phrase}"') for phrase in phrases)
