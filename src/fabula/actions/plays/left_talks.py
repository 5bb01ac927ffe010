"""A talk that is being left: the piece of work that sums it up, found from where the play stands."""

from __future__ import annotations

from typing import Final

from fabula.ports.plays import Play
from fabula.ports.store import Unit
from fabula.ports.work import Work
from fabula.story.plays import PlayState
from fabula.story.values import JsonObject

CLOSE_CONVERSATION: Final = "conversation_close"


def leaving_of(play: Play) -> JsonObject:
    """What the work on leaving a talk names: a copy of a play has the same conversation, and after going back it may be
    left a second time from the same turn."""
    return {"session_id": play.session_id, "head": play.head_turn_id}


async def talk_being_left(unit: Unit, play: Play, state: PlayState) -> Work | None:
    """The work on leaving the conversation that a play is in; None where nobody is about to."""
    if state.conversation is None:
        return None
    wanted = leaving_of(play)
    for one in await unit.work.of_subject(state.conversation.conversation_id):
        if one.kind == CLOSE_CONVERSATION and one.is_open and wanted.items() <= one.input.items():
            return one
    return None
