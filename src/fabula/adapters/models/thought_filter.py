"""Leaves out what a reasoning model thinks aloud at the beginning of its answer, between `<think>` tags."""

from __future__ import annotations

from typing import Final, Literal

OPENING: Final = "<think>"
CLOSING: Final = "</think>"


class Spoken:
    """Passes on what is said. Tags may be cut anywhere; text that only looks like their beginning is kept.

    Each piece is read once: a thought may be megabytes long and come letter by letter.
    """

    def __init__(self) -> None:
        self._where: Literal["before", "thought", "after", "said"] = "before"
        self._held: list[str] = []
        self._cut = ""
        """What may be the beginning of a tag that ends in the next piece."""

    def of(self, text: str) -> str:
        """What of the answer so far may be passed on now."""
        if self._where == "said":
            return text
        if self._where == "before":
            self._held.append(text)
            begun = (self._cut + text).lstrip()
            if OPENING.startswith(begun):
                self._cut = begun
                return ""
            if not begun.startswith(OPENING):
                return self.rest()
            self._where, self._cut, text = "thought", "", begun.removeprefix(OPENING)
            self._held.clear()
        if self._where == "thought":
            thought, closed, text = (self._cut + text).partition(CLOSING)
            if not closed:
                self._cut = thought[1 - len(CLOSING) :]
                return ""
            self._where = "after"
        text = text.lstrip()
        if text:
            self._where = "said"
        return text

    def rest(self) -> str:
        """What is still held back at the end: nothing of a thought."""
        held, self._held, self._where = "".join(self._held), [], "said"
        return held
