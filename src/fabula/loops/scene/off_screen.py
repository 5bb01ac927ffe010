"""The world beyond the scene, in a turn: agendas move when a scene ends, what came to pass is proposed to canon, and
plot threads follow what happened."""

from __future__ import annotations

from collections.abc import Sequence

from fabula.canon.staging import Proposed, agenda_proposals, conflict_proposals
from fabula.loops.scene.contexts import Scene
from fabula.loops.scene.player_line import check_of
from fabula.loops.scene.scene_run import SceneRun
from fabula.rules.conflicts import ConflictChange
from fabula.rules.off_screen import (
    begin_off_screen,
    follow_conflicts,
    follow_threads,
    is_time_to_move,
    move_off_screen,
    notice_news,
)
from fabula.rules.story_templates import follow_template
from fabula.story.agendas import FiredAgenda
from fabula.story.canon import Change, entities_in
from fabula.story.events import ConflictChanged, OffScreenEvent, ThreadChanged, WorldAdvanced
from fabula.story.plays import PlayState
from fabula.story.state import MemoryEntry

TOLD = ("narration", "dialogue", "action")
"""The kinds of lines that tell the story; a player's own words do not."""


def let_the_world_move(run: SceneRun, play: PlayState, scene: Scene) -> PlayState:
    """The play after the world beyond it moved, if this turn ends a scene; it is told, and costs no model."""
    clocks = run.setup.clocks
    play = begin_off_screen(play, clocks, run.setup.threads, run.setup.conflicts)
    before = play.off_screen
    if before is None or not is_time_to_move(play, scene_ended=scene.transitioned):
        return play
    moved, advanced = move_off_screen(play, clocks, run.setup.conflicts, tree_id=run.turn.tree_id)
    tell_conflicts(run, advanced.conflicts)
    if advanced.clocks:
        events = tuple(OffScreenEvent.of(one) for one in advanced.fired)
        run.stage.tell(WorldAdvanced(minutes=play.minute - before.minute, events=events))
    return moved


def fired_now(run: SceneRun, play: PlayState) -> list[FiredAgenda]:
    """What came to pass with this turn."""
    off_screen = play.off_screen
    if off_screen is None:
        return []
    known = run.before.off_screen
    earlier = frozenset() if known is None else frozenset((one.clock_id, one.minute) for one in known.fired)
    return [one for one in off_screen.fired if (one.clock_id, one.minute) not in earlier]


def off_screen_proposals(run: SceneRun, play: PlayState) -> Sequence[Proposed]:
    """What this turn proposes to canon because of what came to pass."""
    fired = fired_now(run, play)
    if not fired or play.off_screen is None:
        return []
    stood = {} if run.before.off_screen is None else run.before.off_screen.conflicts
    agendas = agenda_proposals(fired, play.off_screen.all_clocks(run.setup.clocks))
    return [*agendas, *conflict_proposals(run.setup.conflicts, stood, play)]


def keep_conflicts(run: SceneRun, play: PlayState) -> PlayState:
    """The play after what happened in this turn pushed its conflicts; each that moved is told."""
    if not run.setup.conflicts:
        return play
    play = begin_off_screen(play, run.setup.clocks, run.setup.threads, run.setup.conflicts)
    followed, changes = follow_conflicts(play, run.setup.conflicts, fired_now(run, play))
    tell_conflicts(run, changes)
    return followed


def tell_conflicts(run: SceneRun, changes: Sequence[ConflictChange]) -> None:
    """Tells which conflicts moved, and why; authors find every step in the explanation of the turn."""
    for one in changes:
        conflict, step = one.conflict, one.step
        run.stage.tell(
            ConflictChanged(
                conflict_id=conflict.conflict_id,
                title=conflict.title,
                phase=step.phase,
                intensity=step.intensity,
                why=step.why,
            )
        )
    if changes:
        rows = run.stage.recorder.rows.setdefault("conflicts", [])
        rows += [{"conflict_id": one.conflict.conflict_id, **one.step.as_json()} for one in changes]


def keep_threads(run: SceneRun, play: PlayState, staged: Sequence[tuple[Change, str]]) -> PlayState:
    """The play after its plot threads followed this turn; each that moved is told. `staged` are the changes of canon
    that the turn proposes, each in words. What came to pass and was told with the scene is not told again."""
    if play.off_screen is None:
        return play
    play = notice_news(run.before, play)
    quests = () if run.setup.world is None else run.setup.world.quests
    followed, changes = follow_threads(
        play,
        run.setup.threads,
        quests=quests,
        fired=fired_now(run, play),
        touched=_touched(run, staged),
        free=run.setup.free,
    )
    for one in changes:
        thread, move = one.thread, one.move
        run.stage.tell(ThreadChanged(thread_id=thread.thread_id, title=thread.title, status=move.status, why=move.why))
    return followed


def _touched(run: SceneRun, staged: Sequence[tuple[Change, str]]) -> dict[str, str]:
    """To whom or what something happened in this turn, by id, and what: a check that succeeded, a change of canon."""
    touched = {id: sentence for change, sentence in staged for id in entities_in(change.content)}
    check = check_of(run)
    if check is not None and check.resolved.resolution.succeeded:
        asked = check.resolved.resolution.check
        for id in (run.before.world.current_node, asked.opponent):
            if id is not None:
                touched[id] = f"A check succeeded: {asked.deed}"
    return touched


def keep_template(run: SceneRun, play: PlayState, lines: Sequence[MemoryEntry]) -> PlayState:
    """The play after a turn, as far as it has come in the template that it follows."""
    followed = run.setup.followed(play)
    if followed is None:
        return play
    told = [line.text for line in lines if line.kind in TOLD]
    return play.model_copy(update={"template": follow_template(*followed, play, told)})
