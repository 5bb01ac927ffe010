"""The player's wish for a telling, as the roles that tell a turn are told of it.

A wish is free text of the player's. It stands last, between marks that it cannot contain, so that it reads as what it
is.
"""

from __future__ import annotations

from importlib.resources import files
from typing import Final

LONGEST_WISH: Final = 500
_TEXT: Final = (files("fabula.agents") / "texts" / "wish.txt").read_text("utf-8").strip()


def wish_text(wish: str | None) -> str:
    """The wish in words for a prompt; empty when there is none."""
    if not wish:
        return ""
    plain = " ".join(wish.split()).replace("<<<", "<").replace(">>>", ">")[:LONGEST_WISH]
    return _TEXT.replace("{wish}", plain)
