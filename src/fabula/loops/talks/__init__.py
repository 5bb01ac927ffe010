"""The conversation loop: the player talks with one to four of the cast, apart from the scene, and they answer."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fabula.loops.talks.graph import CloseTalk, PlayTalk


def is_loaded() -> bool:
    """Whether asking for the player takes no time."""
    # A module is listed while it is still being imported; its last name tells that it is whole.
    return hasattr(sys.modules.get("fabula.loops.talks.graph"), "PlayTalk")


def talk_closer() -> CloseTalk:
    """What leaves a conversation."""
    from fabula.loops.talks.graph import close_talk

    return close_talk


def talk_player() -> PlayTalk:
    """What plays a turn of a conversation. LangGraph takes a second to import, so it is loaded here."""
    from fabula.loops.talks.graph import play_talk

    return play_talk
