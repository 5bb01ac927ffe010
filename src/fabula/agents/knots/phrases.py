"""Phrases that are known again: many sentences at once are looked for in a text, word by word.

The sentences stand in a tree of words, so that the time of a search follows from the text and not from how many
sentences there are, also when a hostile story has a hundred thousand that begin alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

LONGEST = 12
"""A longer sentence is known by so many of its words."""

Phrase: TypeAlias = tuple[str, ...]
Node: TypeAlias = "dict[str, Node | Phrase]"
_END = ""


class Phrases:
    """A set of phrases, each a tuple of words."""

    def __init__(self, phrases: Iterable[Phrase]) -> None:
        self._root: Node = {}
        for phrase in phrases:
            if phrase:
                _insert(self._root, phrase)

    def found_in(self, words: Sequence[str]) -> Iterator[Phrase]:
        """Every phrase that stands in the words, once for each place."""
        words = tuple(words)
        for start in range(len(words)):
            yield from self._found_at(words, start)

    def _found_at(self, words: Phrase, start: int) -> Iterator[Phrase]:
        node = self._root
        for word in words[start : start + LONGEST]:
            below = node.get(word)
            if below is None:
                return
            if isinstance(below, tuple):
                if words[start : start + len(below)] == below:
                    yield below
                return
            node = below
            end = node.get(_END)
            if isinstance(end, tuple):
                yield end


def _insert(root: Node, phrase: Phrase) -> None:
    """A phrase stands at the first word that no other shares; who meets it there pushes it down."""
    node = root
    for depth, word in enumerate(phrase):
        below = node.get(word)
        if below is None or below == phrase:
            node[word] = phrase
            return
        if isinstance(below, tuple):
            pushed: Node = {below[depth + 1] if len(below) > depth + 1 else _END: below}
            node[word] = below = pushed
        node = below
    node[_END] = phrase
