"""Chooses words: the same for the same moment, different from moment to moment, and not what was just said."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TypeVar

from fabula.language.english import sentences
from fabula.language.words import words_of

T = TypeVar("T")


class Voice:
    """A source of choices for one answer. `said` is what has been heard already and should not come again."""

    def __init__(self, *moment: object, said: Iterable[str] = ()) -> None:
        self._moment = "\x1f".join(str(part) for part in moment)
        self._said = "\n".join(said).lower()
        self._count = 0

    def pick(self, phrases: Sequence[str], slots: Mapping[str, str] | None = None) -> str:
        """One phrase with its slots filled; a fresh one while there is any."""
        filled = [phrase.format_map(slots) if slots else phrase for phrase in phrases]
        ranked = sorted(filled, key=self._rank)
        self._count += 1
        chosen = next((phrase for phrase in ranked if not self.was_said(phrase)), ranked[0])
        self._said += f"\n{chosen.lower()}"
        return chosen

    def order(self, choices: Sequence[T]) -> list[T]:
        """All of them, in an order of this moment."""
        self._count += 1
        return sorted(choices, key=lambda choice: self._rank(repr(choice)))

    def chance(self, one_in: int) -> bool:
        """True once in so many moments."""
        self._count += 1
        return int(self._rank("chance")[:8], 16) % one_in == 0

    def was_said(self, phrase: str) -> bool:
        return phrase.lower().rstrip(".!?") in self._said

    def fresh(self, phrases: Sequence[str]) -> list[str]:
        """Those phrases that were not said yet, in their order."""
        return [phrase for phrase in phrases if not self.was_said(phrase)]

    def _rank(self, phrase: str) -> str:
        return hashlib.sha256(f"{self._moment}\x1f{self._count}\x1f{phrase}".encode()).hexdigest()


class FreshVoice(Voice):
    """A voice that says no sentence twice in a whole play: where everything was said, it says nothing.

    What was said is known by its sentences, so that a short one does not hide inside a longer one.
    """

    def __init__(self, *moment: object, said: Iterable[str] = ()) -> None:
        super().__init__(*moment)
        self._sentences: set[str] = set().union(*map(sentence_keys, said))

    def pick(self, phrases: Sequence[str], slots: Mapping[str, str] | None = None) -> str:
        """A fresh phrase with its slots filled, or nothing."""
        filled = [phrase.format_map(slots) if slots else phrase for phrase in phrases]
        ranked = sorted(filled, key=self._rank)
        self._count += 1
        return self.say(next((phrase for phrase in ranked if phrase and not self.was_said(phrase)), ""))

    def greet(self, phrases: Sequence[str], slots: Mapping[str, str] | None = None) -> str:
        """A phrase that may come again, as greetings may; a fresh one while there is any."""
        return self.pick(phrases, slots) or super().pick(phrases, slots)

    def say(self, text: str) -> str:
        """The text, which counts as said from now on."""
        self._sentences |= sentence_keys(text)
        return text

    def was_said(self, phrase: str) -> bool:
        """Whether a sentence of the phrase was told before."""
        return not self._sentences.isdisjoint(sentence_keys(phrase))


@lru_cache(maxsize=16_384)
def sentence_keys(text: str) -> frozenset[str]:
    """The sentences of a text by their words alone. Those of one word, names and exclamations, may come again."""
    quoted = [said for found in _QUOTED.findall(text) for said in sentences(found)]
    keys = (" ".join(words_of(sentence)) for sentence in (*sentences(text), *quoted))
    return frozenset(key for key in keys if " " in key)


_QUOTED = re.compile(r"“([^“”]+)”")
