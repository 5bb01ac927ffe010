"""The check of a turn: where the play has a game system, a risky deed is rolled for before anybody tells of it.

It follows from the state before the turn, the player's line and the play's seed alone. A turn that is resumed, told
again or played on the other engine therefore finds the same check with the same dice.
"""

from __future__ import annotations

from fabula.loops.scene.audience import heard_at_first
from fabula.loops.scene.beats import Beat, said_in
from fabula.loops.scene.scene_run import LineCheck, SceneRun
from fabula.rules.agreement import correction, roll_sentence
from fabula.rules.check_needs import needed_check
from fabula.rules.draws import play_draws
from fabula.rules.resolution import resolve
from fabula.story.changes import apply_all, remember
from fabula.story.checks import PLAYER, Resolution
from fabula.story.events import CheckAsked, CheckResolved
from fabula.story.game_systems import GameSystem
from fabula.story.plays import PlayState
from fabula.story.readings import Stay, TakeWay, Understood
from fabula.story.state import MemoryEntry


def check_line(run: SceneRun, read: Understood) -> tuple[Understood, LineCheck | None]:
    """Rolls for a line that needs it. A deed that fails takes no way on, whatever its words would have opened."""
    system, before = run.setup.system, run.before
    if system is None:
        return read, None
    node = run.setup.nodes[before.world.current_node]
    sheets = {PLAYER: before.world.player_state, **before.world.character_state}
    check = needed_check(
        system,
        read,
        check_id=f"check.{run.turn.turn_id}",
        sheets=sheets,
        present=before.world.active_characters,
        difficulty=node.difficulty,
    )
    if check is None:
        return read, None
    draws = play_draws(run.turn.tree_id, before.dice_seed, before.dice_cursor)
    names = _names(run)
    resolved = resolve(system, check, sheets, draws, names)
    if not resolved.resolution.succeeded and isinstance(read.decision, TakeWay):
        read = read.model_copy(update={"decision": Stay()})
    sentence = roll_sentence(resolved.resolution, stat=_stat_name(system, resolved.resolution), names=names)
    return read, LineCheck(resolved=resolved, cursor=draws.cursor, sentence=sentence)


def apply_check(run: SceneRun, play: PlayState) -> PlayState:
    """The state after the check of this turn; everyone in the scene noticed what came of it."""
    checked = run.handover.check
    if checked is None:
        return play
    resolution = checked.resolved.resolution
    check = resolution.check
    run.stage.tell(
        CheckAsked(
            check_id=check.check_id,
            actor=check.actor,
            stat=check.skill or check.stat or "",
            target=resolution.target,
            modifiers=tuple(check.modifiers),
        )
    )
    run.stage.tell(CheckResolved(check_id=check.check_id, resolution=resolution, sentence=checked.sentence))
    applied = apply_all(checked.resolved.ops, play.world, run.setup.bounds(play))
    world = remember(applied.state, [check_entry(run, checked)], limit=run.setup.shared_window)
    return play.with_world(world).model_copy(update={"dice_cursor": checked.cursor})


def check_entry(run: SceneRun, checked: LineCheck) -> MemoryEntry:
    """The roll as a line of the transcript."""
    entry = MemoryEntry(speaker_id=PLAYER, speaker_name=run.before.player_name, kind="action", text=checked.sentence)
    return heard_at_first(run, entry)


def correction_of(checked: LineCheck | None, beats: list[Beat]) -> str | None:
    """What is told in addition where a telling contradicts the dice."""
    told = " ".join(entry.text for entry in said_in(beats) if entry.kind == "narration")
    return None if checked is None else correction(checked.resolved.resolution, told)


def _names(run: SceneRun) -> dict[str, str]:
    guests = {id: guest.display_name for id, guest in run.before.session_characters.items()}
    cast = {id: one.name for id, one in run.setup.characters.items()}
    return {PLAYER: run.before.player_name, **guests, **cast}


def _stat_name(system: GameSystem, resolution: Resolution) -> str:
    check = resolution.check
    if check.skill is not None:
        return system.skills[check.skill].display_name
    return system.attributes[check.stat].display_name if check.stat is not None else system.display_name
