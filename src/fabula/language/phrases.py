"""Phrases that are known again: many sentences at once are looked for in a text, letter by letter.

Only letters count. A phrase begins and ends where a word does; where words end inside it does not matter, so that
hyphens, marks and spaces put into its words hide nothing. The phrases stand in a tree of letters, so that the time of a
search follows from the text and not from how many there are, also when a hostile story has a hundred thousand that
begin alike.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from itertools import accumulate
from typing import TypeAlias

LONGEST = 12
MOST_LETTERS = 64
"""A longer sentence is known by so many of its words, and by so many letters: no search goes deeper."""

Phrase: TypeAlias = tuple[str, ...]
Node: TypeAlias = "dict[str, Branch]"
Branch: TypeAlias = tuple[str, Node, list[Phrase]]
"""The letters that lead on, the node that they lead to, and the phrases that end there: each with these letters."""


class Phrases:
    """A set of phrases, each a tuple of words."""

    def __init__(self, phrases: Iterable[Phrase]) -> None:
        self._root: Node = {}
        for phrase in phrases:
            _insert(self._root, phrase)

    def found_in(self, words: Sequence[str]) -> Iterator[Phrase]:
        """Every phrase that stands in the words, once for each place."""
        return (phrase for ending in self._endings(words) for phrase in ending)

    def known_in(self, words: Sequence[str]) -> list[Phrase]:
        """The phrases that stand in the words, each once."""
        met = {id(ending): ending for ending in self._endings(words)}
        return [phrase for ending in met.values() for phrase in ending]

    def stand_at(self, letters: str, place: int, ends: Container[int]) -> tuple[list[Phrase], bool]:
        """The phrases that stand at a place of some letters, and whether another one may, if more letters follow.

        `ends` are the places at which a word ends.
        """
        node, found = self._root, list[Phrase]()
        while branch := node.get(letters[place : place + 1]):
            spelled, node, ending = branch
            if not letters.startswith(spelled, place):
                return found, spelled.startswith(letters[place:])
            place += len(spelled)
            if ending and place in ends:
                found += ending
        return found, place >= len(letters) and bool(node)

    def may_begin_with(self, letters: str) -> bool:
        """Whether a phrase has these letters at its beginning, or no others."""
        found, may_follow = self.stand_at(letters, 0, (len(letters),))
        return may_follow or bool(found)

    def _endings(self, words: Sequence[str]) -> Iterator[list[Phrase]]:
        spelled = " ".join(words).replace("'", "").split(" ")
        text, borders = "".join(spelled), dict.fromkeys(accumulate(map(len, spelled), initial=0))
        for place in borders:
            node = self._root
            while branch := node.get(text[place : place + 1]):
                letters, node, ending = branch
                if not text.startswith(letters, place):
                    break
                place += len(letters)
                if ending and place in borders:
                    yield ending


def letters_of(text: str) -> str:
    """The letters of a normal text."""
    return text.replace(" ", "").replace("'", "")


def _insert(node: Node, phrase: Phrase) -> None:
    """Each way down spells phrases; one that leaves another's way halfway makes a fork there."""
    rest, ending = letters_of("".join(phrase)), list[Phrase]()
    while rest:
        letters, below, ending = node.setdefault(rest[0], (rest, {}, []))
        shared = len(letters)
        if not rest.startswith(letters):
            shared = _shared(letters, rest)
            fork = {letters[shared]: (letters[shared:], below, ending)}
            letters, below, ending = node[rest[0]] = letters[:shared], fork, []
        node, rest = below, rest[shared:]
    ending.append(phrase)


def _shared(one: str, other: str) -> int:
    """How many letters two texts begin with alike."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (a, b) in pairs if a != b), min(len(one), len(other)))
