"""The conversation loop: one run per turn of an Ink play, in which characters may talk back."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fabula.loops.conversation.graph import PlayKnots


def is_loaded() -> bool:
    """Whether asking for the player takes no time."""
    return "fabula.loops.conversation.graph" in sys.modules


def knot_player() -> PlayKnots:
    """What plays a turn of an Ink story. LangGraph takes a second to import, so it is loaded here."""
    from fabula.loops.conversation.graph import play_knots

    return play_knots
