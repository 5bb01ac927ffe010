"""The feasibility gate of a turn: the player's line is judged before anything is rolled for it or told.

It follows from the state before the turn, the setup and the line, so a turn that is resumed finds the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fabula.loops.denial import judge_or_deny
from fabula.loops.scene.play_setup import PlaySetup
from fabula.loops.scene.scene_run import SceneRun
from fabula.rules.feasibility import FAILED_GATE, Elsewhere, WorldSeen, axiom_terms, judge_intents, scene_words
from fabula.story.caps import cap_words
from fabula.story.events import IntentJudged
from fabula.story.intent_verdicts import IntentVerdict
from fabula.story.plays import PlayState
from fabula.story.readings import Stay, TakeWay, Understood
from fabula.story.state import MemoryEntry

MOST_ELSEWHERE = 40
LINES_AT_HAND = 40


def judge_line(
    setup: PlaySetup, play: PlayState, read: Understood, past: Sequence[MemoryEntry]
) -> tuple[Understood, list[IntentVerdict]]:
    """The verdicts on a line. What cannot be done opens no way. In a conversation there are only words."""
    if play.conversation is not None:
        return read, []
    verdicts = judge_or_deny("feasibility", lambda: judge_intents(read, _seen(setup, play, past)), [FAILED_GATE])
    if any(one.stops for one in verdicts) and isinstance(read.decision, TakeWay):
        read = read.model_copy(update={"decision": Stay()})
    return read, verdicts


def tell_verdicts(run: SceneRun) -> None:
    """Tells the player what the world says to their line, and notes it."""
    for one in run.handover.verdicts:
        run.stage.tell(IntentJudged(rule=one.rule, result=one.result, sentence=one.sentence, lead=one.lead))
        run.stage.recorder.judge(rule=one.rule, result=one.result, sentence=one.sentence)


def _seen(setup: PlaySetup, play: PlayState, past: Sequence[MemoryEntry]) -> WorldSeen:
    world = play.world
    node = setup.nodes[world.current_node]
    here = list(setup.names_of(world.active_characters, play).values())
    absent = [one.name for id, one in setup.characters.items() if id not in world.active_characters]
    time = play.snapshot.time
    return WorldSeen(
        caps=None if setup.caps is None else cap_words(setup.caps),
        axiom_terms=axiom_terms(setup.axioms) if setup.axioms else None,
        here=here,
        absent=absent,
        ways=[setup.nodes[way.to].title for way in node.transitions if way.to in setup.nodes],
        elsewhere=list(_elsewhere(setup, play)),
        at_hand=lambda: scene_words(*_told_here(setup, play, past)),
        phases=[one.name for one in setup.world.calendar.phases] if setup.world is not None and time else (),
        phase="" if time is None else time.phase,
    )


def _elsewhere(setup: PlaySetup, play: PlayState) -> Iterator[Elsewhere]:
    """The scenes that were visited, of which the player knows what is there."""
    known = setup.visited_words
    for id in sorted(play.visited - {play.world.current_node})[:MOST_ELSEWHERE]:
        node = setup.nodes.get(id)
        if node is None:
            continue
        if id not in known:
            known[id] = Elsewhere(title=node.title, words=scene_words(node.title, node.scene))
        yield known[id]


def _told_here(setup: PlaySetup, play: PlayState, past: Sequence[MemoryEntry]) -> Iterator[str]:
    """All that was told of this scene and of what the player has or carries."""
    node, world = setup.nodes[play.world.current_node], play.world
    yield from (node.title, node.scene, node.goal, setup.introduction, play.snapshot.player_description)
    yield from (f"{key} {value}".replace("_", " ") for key, value in world.player_state.items())
    yield from (f"{key} {value}".replace("_", " ") for key, value in world.custom.items())
    yield from (line.text for line in past[-LINES_AT_HAND:])
