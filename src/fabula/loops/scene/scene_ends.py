"""The end of a scene: a turn that leaves it, or ends the story, keeps the record of it."""

from __future__ import annotations

from collections.abc import Sequence

from fabula.loops.scene.scene_run import SceneRun
from fabula.story.free_plays import USUAL_TURNS, FreePlay, SceneEnd
from fabula.story.lore import scene_began
from fabula.story.plays import PlayState
from fabula.story.scenes import SceneOutcome, SceneRecord, ended_scene, open_mark
from fabula.story.state import MemoryEntry


def scene_end(run: SceneRun, play: PlayState, told: Sequence[MemoryEntry]) -> SceneRecord | None:
    """The scene that a turn has ended, if it ended one. `told` are the lines of the turn, the player's first."""
    outcome = _outcome(run.before, play)
    node = run.setup.nodes.get(open_mark(run.before).node_id)
    if outcome is None or node is None:
        return None
    # What is told when a scene is left is about the next one.
    own = told[:1] if outcome == "left" else told
    purpose = run.setup.purpose(run.before, node)
    return ended_scene(run.before, play, node, [*_lines_before(run), *own], outcome, purpose=purpose)


def _outcome(before: PlayState, after: PlayState) -> SceneOutcome | None:
    if after.ended and not before.ended:
        return "ended"
    if before.free is not None and before.ended:
        return None
    if before.world.current_node != after.world.current_node:
        return "left"
    return None if after.free is None or after.free.phase == "open" else after.free.outcome


def close_free_scene(run: SceneRun, play: PlayState) -> PlayState:
    """In free play a scene is over when its place was left, its purpose was met, or it had as many turns as it may."""
    free = play.free
    if free is None or free.phase != "open" or play.ended or play.conversation is not None:
        # Nobody is led away in the middle of a conversation, and after the end there is nowhere to be led.
        return play
    if run.before.world.current_node != play.world.current_node:
        return _over(play, free, "left")
    if open_mark(run.before) != open_mark(play):
        return _over(play, free, "met")
    most = run.setup.session.max_turns or USUAL_TURNS
    return _over(play, free, "turns") if play.turns_in_scene >= most else play


def _over(play: PlayState, free: FreePlay, outcome: SceneEnd) -> PlayState:
    return play.model_copy(update={"free": free.model_copy(update={"phase": "over", "outcome": outcome})})


def _lines_before(run: SceneRun) -> Sequence[MemoryEntry]:
    """The lines of the scene before this turn, as far back as the turn was told."""
    turns = run.before.snapshot.turn_index - open_mark(run.before).turn_index
    if run.before.free is not None and not run.before.free.walked:
        # The turn before the scene belongs to the scene before.
        turns -= 1
    began = len(run.past) if turns < 0 else scene_began(run.past, turns, complete=True)
    return run.past if began is None else run.past[began:]
