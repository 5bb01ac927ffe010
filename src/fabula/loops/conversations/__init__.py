"""The conversation loop: the player talks with one to four of the cast, apart from the scene, and they answer."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fabula.loops.conversations.graph import LeaveConversation, PlayConversation


def is_loaded() -> bool:
    """Whether asking for the player takes no time."""
    # A module is listed while it is still being imported; its last name tells that it is whole.
    return hasattr(sys.modules.get("fabula.loops.conversations.graph"), "PlayConversation")


def conversation_leaver() -> LeaveConversation:
    """What leaves a conversation."""
    from fabula.loops.conversations.graph import leave_conversation

    return leave_conversation


def conversation_player() -> PlayConversation:
    """What plays a turn of a conversation. LangGraph takes a second to import, so it is loaded here."""
    from fabula.loops.conversations.graph import play_conversation

    return play_conversation
