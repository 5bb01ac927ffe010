"""Seeded draws: the n-th number that a play draws is known from its seed and n alone.

A state keeps the cursor, not a generator, so going back, restarting and the other engine draw the same numbers again.
"""

from __future__ import annotations

from hashlib import blake2b

from fabula.story.seeds import derived_seed

_WORDS = 8
_WORD_BYTES = 8
_RANGE = 2**64


class Draws:
    """Draws numbers one after the other; `cursor` counts them, those that were thrown away included."""

    def __init__(self, seed: int, cursor: int = 0) -> None:
        self._seed, self.cursor = seed, cursor
        self._number, self._block = -1, b""

    def below(self, size: int) -> int:
        """A number from 0 to `size` - 1, each as likely as the others."""
        # The top of the range that `size` does not divide would make small numbers likelier.
        fair = _RANGE - _RANGE % size
        while (word := self._word()) >= fair:
            pass
        return word % size

    def _word(self) -> int:
        number, place = divmod(self.cursor, _WORDS)
        if number != self._number:
            self._number = number
            self._block = blake2b(f"{self._seed}:{number}".encode(), digest_size=_WORDS * _WORD_BYTES).digest()
        self.cursor += 1
        start = place * _WORD_BYTES
        return int.from_bytes(self._block[start : start + _WORD_BYTES], "big")


def play_draws(tree_id: str, seed: int | None, cursor: int) -> Draws:
    """The draws of a play: all lines of one tree draw from one seed, each from its own cursor."""
    return Draws(derived_seed(tree_id if seed is None else seed, "dice"), cursor)
