"""What follows a turn: all that the next prompt does not need at once, decided purely when the turn is committed."""

from __future__ import annotations

from typing import Final, Literal

from fabula.story.plays import PlayState

FollowerKind = Literal["world", "memory", "lore", "summary", "canon", "story"]

SUMMARY_EVERY: Final = 8
"""A scene that goes on for long is summed up in parts of so many turns."""


MEMORY_EVERY: Final = 4
"""Memories are written down for so many turns at once: until then all of them stand in the history of prompts."""


def followers_of(before: PlayState, after: PlayState, *, wants_lore: bool = False) -> tuple[FollowerKind, ...]:
    """The kinds that follow a turn between these states; most turns have none.

    `wants_lore` says that there is lore to prepare: of a large story, once for everybody, or of the places that a scene
    leads to in a world.
    """
    moved = before.world.current_node != after.world.current_node
    wanted: list[tuple[FollowerKind, bool]] = [
        ("world", before.world_mark != after.world_mark),
        ("memory", moved or after.ended or after.snapshot.turn_index % MEMORY_EVERY == 0),
        ("lore", wants_lore and moved and not after.ended),
        ("summary", _ends_a_part(before, after)),
        ("canon", before.canon_mark != after.canon_mark),
        ("story", _phase(after) != "open"),
    ]
    return tuple(kind for kind, is_wanted in wanted if is_wanted)


def followers_of_change(before: PlayState, after: PlayState, *, reworded: bool) -> tuple[FollowerKind, ...]:
    """The kinds that follow a change by hand; `reworded` says that lines were corrected or struck out."""
    wanted: list[tuple[FollowerKind, bool]] = [
        ("world", before.world_mark != after.world_mark),
        ("summary", reworded),
        ("canon", before.canon_mark != after.canon_mark),
        # Whoever ended a scene leads the story on at once; this is for one who dies before that.
        ("story", _phase(after) == "over" and _phase(before) != "over"),
    ]
    return tuple(kind for kind, is_wanted in wanted if is_wanted)


def _phase(state: PlayState) -> str:
    return "open" if state.free is None else state.free.phase


def _ends_a_part(before: PlayState, after: PlayState) -> bool:
    """Whether what was told since the last summary is to be summed up: a scene ended, or has gone on for long."""
    if before.world.current_node != after.world.current_node or after.ended:
        return True
    return after.snapshot.turn_index % SUMMARY_EVERY == 0
