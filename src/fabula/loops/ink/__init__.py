"""The loop of Ink plays: one run per turn, in which characters may talk back."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fabula.loops.ink.graph import PlayKnots


def is_loaded() -> bool:
    """Whether asking for the player takes no time."""
    # A module is listed while it is still being imported; its last name tells that it is whole.
    return hasattr(sys.modules.get("fabula.loops.ink.graph"), "PlayKnots")


def knot_player() -> PlayKnots:
    """What plays a turn of an Ink story. LangGraph takes a second to import, so it is loaded here."""
    from fabula.loops.ink.graph import play_knots

    return play_knots
