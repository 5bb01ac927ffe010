"""The player's line, understood by rule where it was said: once a turn, before any role is asked.

Every role is told, whoever plays it; the question that is asked back is part of the play, so that the next line can
answer it, also after going back.
"""

from __future__ import annotations

from fabula.loops.scene.checks import check_line
from fabula.loops.scene.scene_run import LineCheck, SceneRun
from fabula.ports.threads import run_in_thread
from fabula.story.plays import PlayState
from fabula.story.readings import AskBack, OpenQuestion, Understood
from fabula.understudy.reading.reader import read_line
from fabula.understudy.reading.scenes import Somebody, scene_text
from fabula.understudy.reading.ways import SceneText

MOST_SCENES = 256
"""So many scenes of a play are kept in words."""
SHORT_LINE = 300


async def understand(run: SceneRun, play: PlayState) -> Understood:
    """Reads the player's line, before anybody asks what it means; in a thread where that may take long."""
    if run.handover.understood is None and not _is_quick(run, play):
        return await run_in_thread(understood, run, play)
    return understood(run, play)


def understood(run: SceneRun, play: PlayState) -> Understood:
    """What the player's line means at the node where the turn begins."""
    if run.handover.understood is None:
        read = read_line(
            run.turn.player_input,
            _scene(run, play),
            question=run.before.question,
            turns_in_scene=play.turns_in_scene,
            before=said_before(run.before),
        )
        run.handover.understood, run.handover.check = check_line(run, read)
    return run.handover.understood


def check_of(run: SceneRun) -> LineCheck | None:
    """What came of the check that the player's line needed, also in a turn that is resumed after it was made."""
    if run.setup.system is None:
        return None
    understood(run, run.before)
    return run.handover.check


def said_before(play: PlayState) -> str:
    """The player's line of the turn before, if it was said in the same scene."""
    if not play.turns_in_scene:
        return ""
    history = play.world.actor_shared_history
    return next((entry.text for entry in reversed(history) if entry.kind == "player_input"), "")


def _is_quick(run: SceneRun, play: PlayState) -> bool:
    """Whether a line is short, and what its scene says has been read before."""
    return len(run.turn.player_input) <= SHORT_LINE and _key(play) in run.setup.scene_texts


def question_of(run: SceneRun, read: Understood) -> OpenQuestion | None:
    """What stays open for the next line to answer. Only the understudy asks back; a model tells turns its own way."""
    if not isinstance(read.decision, AskBack) or not _asks_back(run):
        return None
    return OpenQuestion(node_id=read.node_id, ways=read.decision.ways)


def _asks_back(run: SceneRun) -> bool:
    return run.setup.api("director" if run.setup.swift else "narrator").provider == "understudy"


def _scene(run: SceneRun, play: PlayState) -> SceneText:
    """The words of the scene, made once for who is there."""
    setup, known = run.setup, run.setup.scene_texts
    _, here = key = _key(play)
    found = known.get(key)
    if found is None:
        if len(known) >= MOST_SCENES:
            known.clear()
        people = [
            Somebody(id=id, name=one.name, personality=one.personality, here=id in here)
            for id, one in setup.characters.items()
        ]
        people += [
            Somebody(id=id, name=guest.display_name, personality=guest.personality, here=id in here)
            for id, guest in play.session_characters.items()
        ]
        lore = [(entry.title, tuple(entry.keywords)) for entry in setup.lore if entry.enabled]
        found = known[key] = scene_text(setup.nodes[play.world.current_node], setup.nodes, people, lore)
    return found


def _key(play: PlayState) -> tuple[str, tuple[str, ...]]:
    return play.world.current_node, tuple(play.world.active_characters)
