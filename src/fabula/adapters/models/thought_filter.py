"""Leaves out what a reasoning model thinks aloud at the beginning of its answer, between `<think>` tags."""

from __future__ import annotations

OPENING, CLOSING = "<think>", "</think>"


class Spoken:
    """Passes on what is said. Tags may be cut anywhere; text that only looks like their beginning is kept."""

    def __init__(self) -> None:
        self._waiting: str | None = ""
        self._thinking = False

    def of(self, text: str) -> str:
        """What of the answer so far may be passed on now."""
        if self._waiting is None:
            return text
        self._waiting += text
        if not self._thinking:
            begun = self._waiting.lstrip()
            if OPENING.startswith(begun):
                return ""
            if not begun.startswith(OPENING):
                return self.rest()
            self._thinking = True
        _, closed, said = self._waiting.partition(CLOSING)
        if not closed or not said.strip():
            return ""
        self._waiting = None
        return said.lstrip()

    def rest(self) -> str:
        """What is still held back at the end: nothing of a thought."""
        held, self._waiting = self._waiting, None
        return "" if held is None or self._thinking else held
