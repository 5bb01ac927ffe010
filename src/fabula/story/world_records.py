"""What followers make of the world after a turn: the journal, and where everybody is by schedule; pure.

A record belongs to its turn and is made of the record before it on the same line, so going back finds the record of
that turn again, and nothing has to be undone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from fabula.story.caches import IdentityCache
from fabula.story.conditions import Comparison, value_at
from fabula.story.graph import Node
from fabula.story.journals import JournalEntry, journal_after
from fabula.story.plays import PlayState, WorldMark
from fabula.story.schedules import place_of
from fabula.story.story_worlds import StoryWorld, world_tests
from fabula.story.values import Value

MOST_STAYS: Final = 12


class Stay(Value):
    """Where somebody has been since a turn; without a node, in no scene."""

    node_id: str | None
    turn_id: str
    turn_index: int


class WorldRecord(Value):
    """The world after a turn, as far as the next prompt does not need it. `version` counts records along the line.

    `whereabouts` are the last stays of each character that has a schedule, oldest first.
    """

    version: int = 0
    journal: list[JournalEntry] = []
    whereabouts: dict[str, list[Stay]] = {}


def changes_world(before: PlayState | None, after: PlayState, world: StoryWorld | None = None) -> bool:
    """Whether a turn leaves followers anything to do: a scene, a phase, a day, a variable or the end of the play.

    Of the variables only those count that the story's world asks for; all of them, if it is not given.
    """
    now = after.snapshot.time
    if now is None:
        return False
    if before is None or before.snapshot.time is None:
        return True
    then, here, there = before.snapshot.time, before.world, after.world
    if (then.phase, then.day, then.month, then.year) != (now.phase, now.day, now.month, now.year):
        return True
    if here.current_node != there.current_node or before.ended != after.ended:
        return True
    if world is not None:
        return any(
            value_at(test, here) != value_at(test, there) for test in _watched.of(world, lambda: world_tests(world))
        )
    return (here.custom, here.player_state, here.character_state) != (
        there.custom,
        there.player_state,
        there.character_state,
    )


_watched: IdentityCache[StoryWorld, list[Comparison]] = IdentityCache(64)


def mark_world(before: PlayState | None, after: PlayState, turn_id: str, world: StoryWorld | None = None) -> PlayState:
    """The state after a turn, which counts it among those that followers change the world after, if it is one."""
    if not changes_world(before, after, world):
        return after
    earlier = after.world_mark
    mark = WorldMark(turn_id=turn_id, before=None if earlier is None else earlier.turn_id)
    snapshot = after.snapshot.model_copy(update={"world_version": (after.snapshot.world_version or 0) + 1})
    return after.model_copy(update={"snapshot": snapshot, "world_mark": mark})


def record_after(
    before: WorldRecord, world: StoryWorld | None, nodes: Mapping[str, Node], play: PlayState, turn_id: str
) -> WorldRecord:
    """The record of a turn that left the play as it is here."""
    quests = [] if world is None else world.quests
    return WorldRecord(
        version=play.snapshot.world_version or 0,
        journal=journal_after(before.journal, quests, nodes, play, turn_id),
        whereabouts=before.whereabouts if world is None else _whereabouts(before, world, play, turn_id),
    )


def _whereabouts(before: WorldRecord, world: StoryWorld, play: PlayState, turn_id: str) -> dict[str, list[Stay]]:
    now = play.snapshot.time
    if now is None:
        return before.whereabouts
    found: dict[str, list[Stay]] = {}
    for id, schedule in world.schedules_now(play.world, play.relations).items():
        stays, node_id = before.whereabouts.get(id, []), place_of(schedule, now, play.world)
        if not stays or stays[-1].node_id != node_id:
            stay = Stay(node_id=node_id, turn_id=turn_id, turn_index=play.snapshot.turn_index)
            stays = [*stays, stay][-MOST_STAYS:]
        found[id] = stays
    return found
