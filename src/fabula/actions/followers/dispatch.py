"""The dispatcher: the one row of a turn becomes a piece of work for each kind that follows it, in one transaction.

Each piece is keyed by the turn, so that it is done once in effect however often the dispatcher runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from fabula.actions.followers.lore_bundles import precompute_lore
from fabula.actions.followers.summaries import summarise_turn
from fabula.actions.followers.world_changes import apply_world
from fabula.actions.house import House
from fabula.actions.work.work_kind import HeldWork, Run, Sentences, WorkKind, doubling, taken_over
from fabula.loops.turns.follow import FOLLOWERS
from fabula.ports.store import Unit
from fabula.ports.work import NewWork, QueueName, Work
from fabula.story.followers import FollowerKind
from fabula.story.values import JsonObject

MOST_ATTEMPTS = 8
BACKOFF = doubling(first_s=1.0, longest_s=300.0)
DEADLINE_S = 120.0
SENTENCES = Sentences(
    too_long="What follows this turn took too long.",
    broken="What follows this turn failed inside the server; its log has the details.",
    worn_out="The server stopped again and again while it was at this. It is not tried any more.",
)

WORK_NAMES: Mapping[FollowerKind, str] = {
    "world": "world.apply",
    "lore": "lore.precompute_scene_bundle",
    "summary": "summary.update",
}

FOLLOWER_WORK = (FOLLOWERS, *WORK_NAMES.values())
"""The names of all work that follows turns."""


def follower_kinds(house: House) -> dict[str, WorkKind]:
    """The dispatcher and every kind of follower."""
    return {
        FOLLOWERS: _kind(partial(_dispatch, house), "realtime"),
        WORK_NAMES["world"]: _kind(partial(apply_world, house), "background"),
        WORK_NAMES["lore"]: _kind(partial(precompute_lore, house), "background"),
        WORK_NAMES["summary"]: _kind(partial(summarise_turn, house), "heavy"),
    }


def _kind(run: Run, queue: QueueName) -> WorkKind:
    return WorkKind(
        run=run,
        deadline_s=DEADLINE_S,
        most_attempts=MOST_ATTEMPTS,
        backoff=BACKOFF,
        sentences=SENTENCES,
        unwatched=True,
        queue=queue,
    )


async def _dispatch(house: House, held: HeldWork) -> JsonObject | None:
    work = held.work
    asked = work.input.get("kinds")
    # A kind that only a newer version knows is left to the servers of that version.
    wanted = [name for kind, name in WORK_NAMES.items() if isinstance(asked, list) and kind in asked]

    async def fan_out(unit: Unit) -> list[Work]:
        new = [_follower(house, name, work) for name in wanted]
        begun = [await unit.work.begin(one) for one in new]
        if not await unit.work.finish(work):
            raise taken_over(work)
        return begun

    house.work.announce(*await house.store.write(fan_out))
    return None


def _follower(house: House, name: str, of: Work) -> NewWork:
    """A follower of the turn that a row is about; it is told all that the row says but who else follows."""
    turn_id = str(of.input["turn_id"])
    return NewWork(
        work_id=house.ids.new("work"),
        kind=name,
        key=turn_id,
        subject=of.subject,
        input={name: value for name, value in of.input.items() if name != "kinds"},
        trace_id=turn_id,
    )
