"""Notices when an NPC says again what it has just said, as early as that can be told and no earlier.

While a new line reads like the beginning of an old one it is held back; with the first words that differ it flows.
A speech of hundreds of words is no line: to compare two of them takes as long as their words with each other.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from fabula.language.words import words_of

TURNS_WATCHED = 3
FEW_WORDS = 3
WORDS_PER_SLIP = 6
ALIKE = 0.9
MOST_WORDS = 200
LONGEST_LINE = 4_000

Words = tuple[str, ...]


def old_lines(last_says: Sequence[str]) -> tuple[Words, ...]:
    """The lines that may not come again, from what was said in the last turns, oldest first.

    A line of a word or two (`Yes.`) counts only when both of the last turns said it.
    """
    lines = [_words_of_line(text) for text in last_says[-TURNS_WATCHED:]]
    long = [line for line in lines if line is not None and len(line) >= FEW_WORDS]
    short = [lines[-1]] if len(lines) > 1 and lines[-1] and lines[-1] == lines[-2] else []
    return tuple(dict.fromkeys([*long, *short]))


def may_become(text: str, old: Sequence[Words]) -> bool:
    """Whether a line that begins like `text` may still turn out to be one of the old ones."""
    words = _words_of_line(text)
    return words is not None and any(_begins_like(words, line) for line in old)


def is_one_of(text: str, old: Sequence[Words]) -> bool:
    """Whether a whole line is one of the old ones, or as good as."""
    words = _words_of_line(text)
    return words is not None and any(_alike(words, line) for line in old if words)


def _words_of_line(text: str) -> Words | None:
    """The words of a line; None where it is too long for one."""
    words = tuple(words_of(text)) if len(text) <= LONGEST_LINE else None
    return None if words is None or len(words) > MOST_WORDS else words


def _begins_like(words: Words, line: Words) -> bool:
    if not words:
        return True
    if len(words) > len(line) + 1 + len(line) // WORDS_PER_SLIP:
        return False
    slips = sum(new != known for new, known in zip(words[:-1], line, strict=False))
    # The last word may still grow, so that it only has to begin alike.
    place = len(words) - 1
    slips += place >= len(line) or not line[place].startswith(words[-1])
    return slips <= len(words) // WORDS_PER_SLIP


def _alike(words: Words, line: Words) -> bool:
    if words == line:
        return True
    return len(words) >= FEW_WORDS and difflib.SequenceMatcher(None, words, line, autojunk=False).ratio() >= ALIKE
