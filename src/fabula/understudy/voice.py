"""Chooses words: the same for the same moment, different from moment to moment, and not what was just said."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

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
