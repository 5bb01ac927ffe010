"""The one row that a turn leaves behind for everything that follows it."""

from __future__ import annotations

from collections.abc import Sequence

from fabula.ports.plays import Turn
from fabula.ports.work import NewWork
from fabula.ports.world import Ids
from fabula.story.followers import FollowerKind, followers_of
from fabula.story.plays import PlayState
from fabula.story.values import JsonObject

FOLLOWERS = "followers"


def follow_up(ids: Ids, turn: Turn, before: PlayState, after: PlayState, *, wants_lore: bool = False) -> NewWork | None:
    """The work on what follows a turn, to be begun in the transaction that commits it; None where nothing does."""
    return follow_with(ids, turn.turn_id, turn.session_id, followers_of(before, after, wants_lore=wants_lore))


def follow_with(
    ids: Ids,
    turn_id: str,
    session_id: str,
    kinds: Sequence[FollowerKind],
    *,
    changed_turns: Sequence[int] | None = None,
) -> NewWork | None:
    """The same for kinds that are known already. `changed_turns` are those whose lines a change by hand reworded."""
    if not kinds:
        return None
    changed: JsonObject = {} if changed_turns is None else {"changed_turns": list(changed_turns)}
    return NewWork(
        work_id=ids.new("work"),
        kind=FOLLOWERS,
        key=turn_id,
        subject=session_id,
        input={"turn_id": turn_id, "kinds": list(kinds), **changed},
        trace_id=turn_id,
    )
