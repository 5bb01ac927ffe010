"""The dispatcher: the one row of a turn becomes a piece of work for each kind that follows it, in one transaction.

Each piece is keyed by the turn, so that it is done once in effect however often the dispatcher runs. While queues are
late, some kinds are left out or put off.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from fabula.actions.followers.canon_commits import ToolsOf, commit_canon
from fabula.actions.followers.consolidation import CONSOLIDATE, consolidate_play
from fabula.actions.followers.lore_bundles import precompute_lore
from fabula.actions.followers.memories import remember_turn
from fabula.actions.followers.stories import lead_story_on
from fabula.actions.followers.summaries import summarise_turn
from fabula.actions.followers.world_changes import apply_world
from fabula.actions.house import House
from fabula.actions.work.work_kind import HeldWork, Run, Sentences, WorkKind, doubling, taken_over
from fabula.loops.turns.follow import FOLLOWERS
from fabula.ports.meters import FOLLOWERS_SHED
from fabula.ports.store import Unit
from fabula.ports.work import NewWork, QueueName, Work
from fabula.story.followers import FollowerKind
from fabula.story.shedding import shed
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
    "memory": "memory.add_and_embed",
    "lore": "lore.precompute_scene_bundle",
    "summary": "summary.update",
    "canon": "canon.commit",
    "story": "story.lead_on",
}

WORK_QUEUES: Mapping[str, QueueName] = {
    FOLLOWERS: "realtime",
    WORK_NAMES["world"]: "background",
    WORK_NAMES["memory"]: "heavy",
    WORK_NAMES["lore"]: "background",
    WORK_NAMES["summary"]: "heavy",
    WORK_NAMES["canon"]: "heavy",
    WORK_NAMES["story"]: "realtime",
}

FOLLOWER_WORK = (*WORK_QUEUES, CONSOLIDATE)
"""The names of all work that follows turns. What is done for whole plays makes no queue late."""

LATE_S = 15.0
"""From this lag on followers are announced, and so done in the order of their queues and priorities."""


def follower_kinds(house: House, scene_tools: ToolsOf) -> dict[str, WorkKind]:
    """The dispatcher and every kind of follower. `scene_tools` are those of agents that work on a scene."""
    rows: list[tuple[str, int, Run, str]] = [
        (FOLLOWERS, 9, partial(_dispatch, house), "hands out what follows a turn, a piece of work for each kind"),
        (
            WORK_NAMES["world"],
            9,
            partial(apply_world, house),
            "applies what a turn changes in its world, in order",
        ),
        (
            WORK_NAMES["memory"],
            5,
            partial(remember_turn, house),
            "writes down what everyone noticed in the turns up to this one",
        ),
        (
            WORK_NAMES["lore"],
            1,
            partial(precompute_lore, house),
            "prepares the lore of a large story, and of the places that a scene leads to",
        ),
        (
            WORK_NAMES["summary"],
            3,
            partial(summarise_turn, house),
            "sums up what was told since the last summary on this line",
        ),
        (
            WORK_NAMES["canon"],
            4,
            partial(commit_canon, house, scene_tools),
            "has the canon keeper judge what was proposed up to this turn",
        ),
        (
            WORK_NAMES["story"],
            8,
            partial(lead_story_on, house),
            "moves the world on after a scene of a free play, and begins the next one",
        ),
    ]
    kinds = {
        name: _kind(run if name == FOLLOWERS else partial(_alone, house, run), WORK_QUEUES[name], priority, does)
        for name, priority, run, does in rows
    }
    does = "consolidates what is remembered in a play, and lets it fade"
    return {**kinds, CONSOLIDATE: _kind(partial(consolidate_play, house), "heavy", 0, does)}


def _kind(run: Run, queue: QueueName, priority: int, does: str) -> WorkKind:
    return WorkKind(
        run=run,
        does=does,
        deadline_s=DEADLINE_S,
        most_attempts=MOST_ATTEMPTS,
        backoff=BACKOFF,
        sentences=SENTENCES,
        unwatched=True,
        queue=queue,
        priority=priority,
    )


async def _alone(house: House, run: Run, held: HeldWork) -> JsonObject | None:
    """What follows turns of one play in the same way is done one after another here: who comes early does what is
    missing before it, and those who would do the same beside it find it done."""
    async with house.following.alone(f"{held.work.kind} {held.work.subject}"):
        return await run(held)


async def _dispatch(house: House, held: HeldWork) -> JsonObject | None:
    work = held.work
    asked = work.input.get("kinds")
    # A kind that only a newer version knows is left to the servers of that version.
    wanted = [kind for kind in WORK_NAMES if isinstance(asked, list) and kind in asked]
    lag = await house.queue_lag.measure(house.store, house.clock, house.meters, WORK_QUEUES)
    new = _under_load(house, [follower_of(house, kind, work.subject, work.input) for kind in wanted], lag)
    if max(lag.values()) < LATE_S:
        new = [_here(house, one) for one in new]

    async def fan_out(unit: Unit) -> list[Work]:
        begun = [await unit.work.begin(one) for one in new]
        if not await unit.work.finish(work):
            raise taken_over(work)
        return begun

    # Not durable, as all that follows turns: what a power cut takes is found undone, and done again.
    await house.work.go_on(work, await house.store.write(fan_out, durable=False))
    return None


def _here(house: House, follower: NewWork) -> NewWork:
    """A follower that is due now is done where it was begun, if that process does work of its kind."""
    return replace(follower, held=house.work.lease_for(follower.kind)) if follower.due_at_ms == 0 else follower


def _under_load(house: House, followers: list[NewWork], lag: Mapping[QueueName, float]) -> list[NewWork]:
    """What is done of these now, or later, while queues are late; `story/shedding.py` says which."""
    kept = []
    for kind, follower in zip(_kinds_of(followers), followers, strict=True):
        decided = shed(kind, lag[WORK_QUEUES[follower.kind]])
        if decided is not None:
            house.meters.add(FOLLOWERS_SHED, kind, decided.how)
        if decided is None:
            kept.append(follower)
        elif decided.how == "delay":
            kept.append(replace(follower, due_at_ms=house.clock.now_ms() + round(decided.delay_s * 1000)))
    return kept


def _kinds_of(followers: list[NewWork]) -> list[str]:
    names = {name: kind for kind, name in WORK_NAMES.items()}
    return [names[follower.kind] for follower in followers]


def follower_of(house: House, kind: FollowerKind, session_id: str, told: JsonObject) -> NewWork:
    """The work on one kind of follower of a turn; it is told all that the row of the turn says but who else follows."""
    turn_id = str(told["turn_id"])
    return NewWork(
        work_id=house.ids.new("work"),
        kind=WORK_NAMES[kind],
        key=turn_id,
        subject=session_id,
        input={name: value for name, value in told.items() if name != "kinds"},
        trace_id=turn_id,
    )
