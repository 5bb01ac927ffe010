"""Scenes as records: what a scene was for, where, with whom and when it was played, and how it ended; pure.

A scene is open in the state of the play: the last mark of `PlayState.scenes`. When it ends, a record of it is kept with
the turn that ended it, so that every line of turns has its own scenes, and going back has nothing to undo.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

from pydantic import Field

from fabula.story.checks import PLAYER
from fabula.story.graph import Node
from fabula.story.plays import MINUTES_PER_TURN, PlayState, SceneMark
from fabula.story.state import MemoryEntry
from fabula.story.summaries import sum_up
from fabula.story.values import Sparse

SceneOutcome = Literal["left", "met", "asked", "turns", "ended"]
"""How a scene ended: its place was left, its purpose was met, somebody asked for it, it had gone on for as many turns
as it may, or the story ended with it."""
SceneStatus = Literal["open", "finalizing", "completed"]
"""A scene that has ended is `finalizing` until canon has what happened in it."""

MOST_LINES: Final = 400
"""A summary is made of so many lines of a scene, the last ones."""
MOST_PEOPLE: Final = 60


class SceneRecord(Sparse):
    """A scene that has ended. `scene_id` names it on its line; minutes are those of the story.

    `canonizes` says that its end is a turn at which canon is committed, `flashback` that it was played in the past.
    """

    optional = frozenset({"canonizes", "flashback"})
    scene_id: str
    title: str
    purpose: str
    place: str
    participants: list[str] = Field(default=[], max_length=MOST_PEOPLE)
    began_turn: int
    began_minute: int
    ended_turn: int
    ended_minute: int
    outcome: SceneOutcome
    summary: str
    canonizes: bool = False
    flashback: bool = False


def open_mark(play: PlayState) -> SceneMark:
    """Where and when the scene began that is being played."""
    return play.scenes[-1] if play.scenes else SceneMark(turn_index=0, node_id=play.world.current_node)


def began_minute(play: PlayState) -> int:
    """When it was in the story as the scene began that is being played."""
    if play.free is not None and play.free.flashback is not None:
        return play.free.flashback.minute
    mark = open_mark(play)
    return mark.turn_index * MINUTES_PER_TURN if mark.minute is None else mark.minute


def scene_id_of(mark: SceneMark) -> str:
    """What a scene is called on its line: no two begin with one turn."""
    return f"scene-{mark.turn_index}"


def ended_scene(
    before: PlayState,
    after: PlayState,
    node: Node,
    lines: Sequence[MemoryEntry],
    outcome: SceneOutcome,
    *,
    purpose: str,
) -> SceneRecord:
    """The record of the scene in which a turn began, which that turn ended. `lines` are those of the scene."""
    mark, past = open_mark(before), None if before.free is None else before.free.flashback
    present = [*before.world.active_characters, *(who for line in lines for who in _speakers(line))]
    return SceneRecord(
        scene_id=scene_id_of(mark),
        title=node.title,
        purpose=purpose,
        place=node.id,
        participants=list(dict.fromkeys(present))[:MOST_PEOPLE],
        began_turn=mark.turn_index,
        began_minute=began_minute(before),
        ended_turn=after.snapshot.turn_index,
        ended_minute=after.minute,
        outcome=outcome,
        summary=sum_up(lines[-MOST_LINES:]),
        canonizes=after.canon_mark != before.canon_mark,
        flashback=past is not None,
    )


def _speakers(line: MemoryEntry) -> list[str]:
    return [line.speaker_id] if line.kind in ("dialogue", "action") and line.speaker_id != PLAYER else []
