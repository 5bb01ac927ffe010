"""The one row that a turn leaves behind for everything that follows it."""

from __future__ import annotations

from collections.abc import Sequence

from fabula.ports.plays import Turn
from fabula.ports.work import NewWork
from fabula.ports.world import Ids
from fabula.story.followers import FollowerKind, followers_of
from fabula.story.plays import PlayState

FOLLOWERS = "followers"


def follow_up(ids: Ids, turn: Turn, before: PlayState, after: PlayState) -> NewWork | None:
    """The work on what follows a turn, to be begun in the transaction that commits it; None where nothing does."""
    return follow_with(ids, turn.turn_id, turn.session_id, followers_of(before, after))


def follow_with(ids: Ids, turn_id: str, session_id: str, kinds: Sequence[FollowerKind]) -> NewWork | None:
    """The same for kinds that are known already."""
    if not kinds:
        return None
    return NewWork(
        work_id=ids.new("work"),
        kind=FOLLOWERS,
        key=turn_id,
        subject=session_id,
        input={"turn_id": turn_id, "kinds": list(kinds)},
        trace_id=turn_id,
    )
