"""The one row that a turn leaves behind for everything that follows it."""

from __future__ import annotations

from fabula.ports.plays import Turn
from fabula.ports.work import NewWork
from fabula.ports.world import Ids
from fabula.story.followers import followers_of
from fabula.story.plays import PlayState

FOLLOWERS = "followers"


def follow_up(ids: Ids, turn: Turn, before: PlayState, after: PlayState) -> NewWork | None:
    """The work on what follows a turn, to be begun in the transaction that commits it; None where nothing does."""
    kinds = followers_of(before, after)
    if not kinds:
        return None
    return NewWork(
        work_id=ids.new("work"),
        kind=FOLLOWERS,
        key=turn.turn_id,
        subject=turn.session_id,
        input={"turn_id": turn.turn_id, "kinds": list(kinds)},
        trace_id=turn.turn_id,
    )
