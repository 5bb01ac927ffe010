"""People change with what they live through: how those in the scene stand to each other after a turn.

It is decided in the turn, because the next prompt needs it and going back must find it; it costs no model.
"""

from __future__ import annotations

from collections.abc import Sequence

from fabula.loops.scene.player_line import check_of, understood
from fabula.loops.scene.scene_run import SceneRun
from fabula.recall.adaptation import Dared, Moved, Witnessed, adapt, feelings_in
from fabula.story.checks import PLAYER
from fabula.story.plays import PlayState
from fabula.story.state import MemoryEntry
from fabula.story.values import JsonObject


def adapt_people(run: SceneRun, play: PlayState, lines: Sequence[MemoryEntry]) -> PlayState:
    """The play after its people took in what they noticed of this turn; `lines` are all of it, the player's first.

    A conversation has social beats instead, and what is played of the past is over and done with.
    """
    is_past = play.free is not None and play.free.flashback is not None
    if run.before.conversation is not None or is_past:
        return play
    there = dict.fromkeys([*run.before.world.active_characters, *play.world.active_characters])
    names = run.setup.names_of(there, play)
    if not names:
        return play
    minds = {} if run.inner is None else run.inner.minds
    turn = Witnessed(
        player_name=play.player_name,
        names=names,
        absent=[one.name for id, one in run.setup.characters.items() if id not in names],
        said=lines,
        understood=understood(run, run.before),
        dared=_dared(run),
        valences={id: minds[id].valence for id in names if id in minds},
    )
    feelings = feelings_in(turn, play.relations)
    if not feelings:
        return play
    relations, moved = adapt(play.relations, feelings, turn_index=play.snapshot.turn_index)
    if moved:
        run.stage.recorder.rows["relations"] = [_row(one) for one in moved]
    return play.model_copy(update={"relations": relations})


def _dared(run: SceneRun) -> Dared | None:
    check = check_of(run)
    if check is None or check.resolved.resolution.check.actor != PLAYER:
        return None
    resolution = check.resolved.resolution
    return Dared(level=resolution.level, opponent=resolution.check.opponent)


def _row(moved: Moved) -> JsonObject:
    """What authors are told of a change when they ask why a turn went so."""
    step = moved.step
    return {
        "character_id": moved.who,
        "towards": moved.towards,
        "deltas": step.deltas.as_json(),
        "reason": step.reason,
    }
