"""Plays of random lines over four worlds: nothing moves that was not said, nothing is told too early or twice.

The lines are those of the tables in `utterances` and nonsense, in the scene that they were written for or in any other.
And a solver, who knows only what the ways and the tables say, finds every ending of every story.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from dataclasses import replace
from functools import cache

import pytest
from tests.mass import Mass
from tests.rule_play import RulePlay, Told, play_of
from tests.transcripts.test_utterances import ROWS, Utterance, worlds

from fabula.language.english import sentences
from fabula.language.words import stems, words_of
from fabula.loops.scene.play_setup import PlaySetup
from fabula.story.conditions import holds
from fabula.story.graph import Node, Transition
from fabula.story.graph import tests_of as comparisons_of
from fabula.story.knowledge import Piece, is_held, is_revealed
from fabula.story.readings import TakeWay
from fabula.understudy.reading.lexicon import SYNONYMS
from fabula.understudy.scene_view import in_own_mouth
from fabula.understudy.tones import PLAIN, TONES

POINTS = re.compile(r"\b(?:it|there|them|that|this)\b", re.IGNORECASE)
YES = frozenset({"yes"})
PARTS = 20
TURNS = 12
NONSENSE = [
    "",
    "...",
    "asdf qwer",
    "purple monkey dishwasher",
    "colourless green ideas sleep furiously",
    "%$#@!",
    "the the the",
    "Was machst du hier, mein Freund, und warum?",
    "123 456",
    "I I I I",
    "yes",
    "no",
    "the first one",
    "neither",
    "hello",
    "why?",
]
IMPLIED = {
    "trust": "promise swear word soul help safe honest",
    "promise": "yes word swear",
    "accept": "yes",
    "agree": "yes",
    "betray": "report",
    "warn": "tell everyone everybody",
}
"""Words that say a thing which a way may wait for without being in its goal."""
WRONG = (r"[{}]", r"  ", r"\bthe the\b", r"\bMr\. Mr\.", r"“[^”]*$", r"\b[Yy]ou you\b", r"\.\.(?!\.)")


def lines_of(world: str) -> dict[str, list[Utterance]]:
    found: dict[str, list[Utterance]] = {}
    for row in ROWS:
        if row.world == world:
            found.setdefault(row.scene, []).append(row)
    return found


@cache
def greetings(world: str) -> frozenset[str]:
    names = [one.name for one in worlds()[world].characters.values()]
    return frozenset(
        one
        for tone in (*TONES, PLAIN)
        for text in tone.greet
        for name in names
        for player in ("friend", "Robin")
        for one in sentences(text.format(name=name, player=player))
    )


def held_pieces(setup: PlaySetup) -> list[tuple[Piece, str]]:
    """What may have to be held back, in the words in which anybody could tell it."""
    people = setup.characters.values()
    lore = [(entry, entry.content) for entry in setup.lore]
    facts = [(fact, fact.text) for one in people for fact in one.facts]
    own = [(fact, in_own_mouth(fact.text, one.name)) for one in people for fact in one.facts]
    return [(piece, text) for piece, text in (*lore, *facts, *own) if is_held(piece)]


@pytest.mark.mass
@pytest.mark.parametrize("part", range(PARTS))
def test_nothing_moves_that_was_not_said_and_nothing_is_told_too_early_or_twice(part: int, mass: Mass) -> None:
    for number in range(mass(2000 // PARTS)):
        play_randomly(part * 10_000 + number)


def play_randomly(seed: int) -> None:
    dice = random.Random(seed)
    world = dice.choice(sorted(worlds()))
    setup, lines = worlds()[world], lines_of(world)
    play = play_of(setup, seed=seed)
    told: list[str] = [setup.introduction]
    before = ""
    for _ in range(TURNS):
        row = pick(dice, lines, play.node.id)
        question = play.play.question
        turn = play.say(row if isinstance(row, str) else row.line)
        assert turn.text.strip(), (seed, turn.read.line)
        if turn.ops or turn.before != turn.after:
            caused = is_caused(play.setup, turn, row, before, asked=question is not None)
            assert caused, (seed, turn.read.line, turn.before)
        before = turn.read.line
        told.append(turn.text)
        check_secrets(play, turn, seed)
        check_endings(play, turn, seed)
        if play.ended:
            break
    check_words(world, told, seed)


def pick(dice: random.Random, lines: dict[str, list[Utterance]], scene: str) -> Utterance | str:
    """A line of this scene, of any other, or nonsense."""
    chance = dice.random()
    if chance < 0.5 and lines.get(scene):
        return dice.choice(lines[scene])
    if chance < 0.85:
        return dice.choice([row for rows in lines.values() for row in rows])
    return dice.choice(NONSENSE)


def is_caused(setup: PlaySetup, turn: Told, row: Utterance | str, before: str, *, asked: bool) -> bool:
    """Whether the line says what happened: by its table, as an answer, or in words of the way that was taken; `it` and
    `there` may be what the line before named."""
    if not isinstance(turn.read.decision, TakeWay):
        return False
    way = setup.nodes[turn.before].transitions[turn.read.decision.way]
    if turn.before != turn.after and turn.after != way.to:
        return False
    if isinstance(row, Utterance) and row.scene == turn.before and not row.setup:
        wanted = row.expected.removeprefix("move:")
        tests = {f"{test.key}={str(test.value).lower()}" for test in comparisons_of(way.condition)}
        return wanted.lower() in tests | {way.to} or (asked and turn.read.answers)
    if asked and turn.read.answers:
        return True
    said = f"{turn.read.line} {before}" if POINTS.search(turn.read.line) else turn.read.line
    meant = words_of_way(setup.nodes[turn.before], way, setup)
    return bool(widened(stems(said)) & widened(stems(meant))) or bool(set(words_of(said)) & set(words_of(meant)) & YES)


def widened(words: frozenset[str]) -> frozenset[str]:
    return words | frozenset(one for word in words for one in stems(" ".join(SYNONYMS.get(word, ()))))


def words_of_way(node: Node, way: Transition, setup: PlaySetup) -> str:
    tests = [f"{test.key} {test.value}".replace("_", " ") for test in comparisons_of(way.condition)]
    cast = [setup.characters[id] for id in setup.nodes[way.to].characters]
    people = [f"{one.name} {one.personality.split(',')[0]}" for one in cast]
    also = [more for key, more in IMPLIED.items() if key in f"{tests} {node.goal}".lower()]
    return " ".join([node.goal, node.scene, setup.nodes[way.to].title, *(way.means or ()), *tests, *people, *also])


def check_secrets(play: RulePlay, turn: Told, seed: int) -> None:
    for piece, text in held_pieces(play.setup):
        if not is_revealed(piece, play.play.world):
            assert sentences(text)[0] not in turn.text, (seed, turn.read.line, text)


def check_endings(play: RulePlay, turn: Told, seed: int) -> None:
    """An ending has its words, and no other scene has them."""
    for node in play.setup.graph.nodes:
        if not node.transitions:
            first = sentences(node.scene)[0]
            assert (first in turn.text) == (turn.after == node.id), (seed, turn.read.line, node.id)


def check_words(world: str, told: list[str], seed: int) -> None:
    counted = Counter(one for text in told for one in sentences(text.replace("\n", " ")) if " " in one)
    twice = {one for one, count in counted.items() if count > 1} - greetings(world)
    assert not twice, (seed, twice)
    for text in told[1:]:
        for wrong in WRONG:
            assert not re.search(wrong, text), (seed, wrong, text)


# -- a solver ---------------------------------------------------------------------------------------------------------

ENDINGS = [
    (world, node.id)
    for world in ("dead-air", "the-locked-sea-chest", "the-unlit-hour", "the-walking-court")
    for node in worlds()[world].graph.nodes
    if not node.transitions
]


@pytest.mark.parametrize(("world", "ending"), ENDINGS, ids=lambda one: str(one))
def test_every_ending_is_found_by_saying_what_leads_there(world: str, ending: str) -> None:
    play = play_of(worlds()[world])
    steps = 0
    while not play.ended:
        way = next_way(play, ending)
        play = took(play, way, world)
        steps += 1
        assert steps < 30
    assert play.node.id == ending


def next_way(play: RulePlay, ending: str) -> Transition:
    """A way from here that the ending can be reached by."""
    return next(way for way in play.node.transitions if ending in reached(play.setup, way.to))


def reached(setup: PlaySetup, start: str) -> frozenset[str]:
    found, waiting = {start}, [start]
    while waiting:
        for way in setup.nodes[waiting.pop()].transitions:
            if way.to not in found:
                found.add(way.to)
                waiting.append(way.to)
    return frozenset(found)


def took(play: RulePlay, way: Transition, world: str) -> RulePlay:
    """The play after a line, said as often as the way needs it, has taken the way."""
    for line in candidates(play.node, way, world):
        tried = replace(play, past=list(play.past))
        for _ in range(4):
            turn = tried.say(line)
            if turn.before != turn.after:
                break
        if turn.after == way.to and holds(way.condition, tried.play.world):
            return tried
    raise AssertionError(f"{play.node.id}: nothing that is said leads to {way.to}")


def candidates(node: Node, way: Transition, world: str) -> list[str]:
    wanted = {f"move:{test.key}={str(test.value).lower()}" for test in comparisons_of(way.condition)} | {
        f"move:{way.to}"
    }
    rows = lines_of(world).get(node.id, [])
    named = [row.line for row in rows if row.expected.lower() in wanted and not row.setup]
    return [*(f"I {one}." for one in way.means or ()), *(f"{one}." for one in way.means or ()), *named]
