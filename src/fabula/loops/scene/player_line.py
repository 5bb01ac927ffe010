"""The player's line, understood by rule where it was said: once a turn, before any role is asked.

Every role is told, whoever plays it; the question that is asked back is part of the play, so that the next line can
answer it, also after going back.
"""

from __future__ import annotations

import re

from fabula.language.words import stem, words_of
from fabula.loops.scene.checks import check_by_rule, check_line, check_with_model
from fabula.loops.scene.feasibility import judge_line
from fabula.loops.scene.gate_judge import judge_with_model
from fabula.loops.scene.play_setup import PlaySetup
from fabula.loops.scene.scene_run import LineCheck, SceneRun
from fabula.ports.threads import run_in_thread
from fabula.story.checks import Check
from fabula.story.plays import PlayState
from fabula.story.readings import AskBack, OpenQuestion, Stay, TakeWay, Understood
from fabula.understudy.reading.reader import read_line
from fabula.understudy.reading.scenes import Somebody, scene_text
from fabula.understudy.reading.ways import MOST_KEPT, SceneText, ways_of

MOST_SCENES = 256
"""So many scenes of a play are kept in words."""
MOST_WEIGHT = MOST_SCENES * MOST_KEPT
SHORT_LINE = 300
_TAG = re.compile(r"</?[A-Za-z][^<>]{0,300}>")


async def understand(run: SceneRun, play: PlayState) -> Understood:
    """Reads the player's line, before anybody asks what it means, and rolls for it where it needs that.

    In a thread where the reading may take long; what a check is held against a model may have a say in.
    """
    if run.handover.understood is None:
        is_quick = _is_quick(run.setup, play, run.turn.player_input)
        read = _read(run, play) if is_quick else await run_in_thread(_read, run, play)
        read, verdicts = judge_line(run.setup, play, read, run.past)
        read, run.handover.verdicts = await judge_with_model(run, play, read, verdicts)
        check = _check(run, read)
        if check is not None:
            check = await check_with_model(run, check)
        run.handover.understood, run.handover.check = check_line(run, read, check)
    return run.handover.understood


async def understand_again(run: SceneRun) -> None:
    """In a turn that is resumed behind its beginning: what a model said to the line comes from the memo."""
    if run.handover.understood is None and run.setup.gate_asks_model:
        await understand(run, run.before)


def understood(run: SceneRun, play: PlayState) -> Understood:
    """What the player's line means at the node where the turn begins; it was read when the turn set out."""
    if run.handover.understood is None:
        read, run.handover.verdicts = judge_line(run.setup, play, _read(run, play), run.past)
        run.handover.understood, run.handover.check = check_line(run, read, _check(run, read))
    return run.handover.understood


def _check(run: SceneRun, read: Understood) -> Check | None:
    """The check that a line needs; nothing is rolled for what cannot be done."""
    return None if any(one.stops for one in run.handover.verdicts) else check_by_rule(run, read)


def read_ahead(setup: PlaySetup, before: PlayState, words: str) -> Understood | None:
    """What the words of a turn mean that is about to begin in this state; None where reading them may take long.

    It is what `understand` reads first. Whoever has the words written down reads them meanwhile.
    """
    return _read_words(setup, before, before, words) if _is_quick(setup, before, words) else None


def _read(run: SceneRun, play: PlayState) -> Understood:
    # Nothing else of the state is read; what was read ahead holds for the beginning of the turn.
    if run.read is not None and _key(play) == _key(run.before) and play.turns_in_scene == run.before.turns_in_scene:
        return run.read
    return _read_words(run.setup, run.before, play, run.turn.player_input)


def _read_words(setup: PlaySetup, before: PlayState, play: PlayState, words: str) -> Understood:
    # Tags are no words of a player: an attribute called `trust` is no deed. Roles are not told them either.
    read = read_line(
        _TAG.sub(" ", words),
        _scene(setup, play),
        question=before.question,
        turns_in_scene=play.turns_in_scene,
        before=said_before(before),
    )
    if setup.free is not None and isinstance(read.decision, TakeWay) and _is_of_absent(setup, play, read):
        return read.model_copy(update={"decision": Stay()})
    return read


def _is_of_absent(setup: PlaySetup, play: PlayState, read: Understood) -> bool:
    """Whether a deed is done to somebody who is elsewhere: `I beg Cuthwin` begs nobody else who is here."""
    here = set(play.world.active_characters)
    away = {word for id, one in setup.characters.items() if id not in here for word in words_of(one.name)}
    there = {word for id, one in setup.characters.items() if id in here for word in words_of(one.name)}
    for intent in read.intents:
        words = words_of(intent.text)
        at = next((place for place, word in enumerate(words) if stem(word) == stem(intent.verb)), len(words))
        whom = {word for word in words[at + 1 : at + 4] if len(word) > 2}
        if whom & away - there and not whom & there:
            return True
    return False


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


def _is_quick(setup: PlaySetup, play: PlayState, words: str) -> bool:
    """Whether a line is short, and what its scene says has been read before and is not much."""
    scene = setup.scene_texts.get(_key(play))
    return len(words) <= SHORT_LINE and scene is not None and scene.is_light


def question_of(run: SceneRun, read: Understood) -> OpenQuestion | None:
    """What stays open for the next line to answer. Only the understudy asks back; a model tells turns its own way."""
    if not isinstance(read.decision, AskBack) or not _asks_back(run):
        return None
    return OpenQuestion(node_id=read.node_id, ways=read.decision.ways)


def _asks_back(run: SceneRun) -> bool:
    return run.setup.api("director" if run.setup.swift else "narrator").provider == "understudy"


def _scene(setup: PlaySetup, play: PlayState) -> SceneText:
    """The words of the scene, made once for who is there."""
    known = setup.scene_texts
    _, here = key = _key(play)
    found = known.get(key)
    if found is None:
        people = [
            Somebody(id=id, name=one.name, personality=one.personality, here=id in here)
            for id, one in setup.characters.items()
        ]
        people += [
            Somebody(id=id, name=guest.display_name, personality=guest.personality, here=id in here)
            for id, guest in play.session_characters.items()
        ]
        lore = [(entry.title, tuple(entry.keywords)) for entry in setup.lore if entry.enabled]
        found = scene_text(setup.nodes[play.world.current_node], setup.nodes, people, lore)
        # It is read before others find it: they would read it where they are, and that may be the event loop.
        ways_of(found)
        if len(known) >= MOST_SCENES or found.weight + sum(one.weight for one in known.values()) > MOST_WEIGHT:
            known.clear()
        known[key] = found
    return found


def _key(play: PlayState) -> tuple[str, tuple[str, ...]]:
    return play.world.current_node, tuple(play.world.active_characters)
