"""Puts together characters whose halves come in two pieces of an answer.

Some servers cut their answers between the two surrogates with which JSON spells an emoji. A half that stays alone
becomes the sign for what cannot be read: nobody could keep or send it.
"""

from __future__ import annotations

import re
from typing import Final

_HALF: Final = re.compile("[\ud800-\udfff]")
_FIRST_HALF: Final = re.compile("[\ud800-\udbff]\\Z")


class HalfCharacters:
    """Passes texts on; a first half at the end of one waits for the next one."""

    def __init__(self) -> None:
        self._held = ""

    def of(self, text: str) -> str:
        """What of the answer so far may be passed on now."""
        if not self._held and text.isascii():
            return text
        text, self._held = self._held + text, ""
        if _FIRST_HALF.search(text):
            text, self._held = text[:-1], text[-1]
        return without_halves(text)

    def rest(self) -> str:
        """What still waits at the end."""
        held, self._held = self._held, ""
        return without_halves(held)


def without_halves(text: str) -> str:
    """The text with halves that stand beside each other put together, and others replaced."""
    if not _HALF.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
