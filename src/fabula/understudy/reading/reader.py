"""Reads a player's line in its scene: what it means, and whether it takes a way, is asked back or changes nothing."""

from __future__ import annotations

import re
from collections.abc import Sequence

from fabula.story.readings import AskBack, Decision, Intent, OpenQuestion, Stay, TakeWay, Unclear, Understood
from fabula.understudy.reading.clauses import Line, read_clauses
from fabula.understudy.reading.decisions import decide, points_back
from fabula.understudy.reading.deeds import Deed, content, deed_of
from fabula.understudy.reading.intents import intents_of
from fabula.understudy.reading.lexicon import DETERMINERS, FOREIGN, NO, YES
from fabula.understudy.reading.ways import SceneText, SceneWays, ways_of
from fabula.understudy.reading.words import SMALL, is_word

LONGEST = 1_000
"""More letters of a line are not read."""
TURNS_PER_HINT = 3
_LETTER = re.compile(r"[^\W\d_]+")
_ORDINALS = {
    "first": 0,
    "1": 0,
    "one": 0,
    "former": 0,
    "second": 1,
    "2": 1,
    "two": 1,
    "latter": 1,
    "third": 2,
    "3": 2,
    "last": -1,
}
_SHORT_ANSWER = 6


def read_line(
    text: str, scene: SceneText, *, question: OpenQuestion | None = None, turns_in_scene: int = 0, before: str = ""
) -> Understood:
    """What a line means where it is said. `question` is what the storyteller asked back in the turn before; `before` is
    the line that the player said then in the same scene: `it` and `there` may be what that one named."""
    line_text = text[:LONGEST]
    here = ways_of(scene)
    line = read_clauses(line_text, here.story, here.names, here.things)
    if is_foreign(line_text, here):
        return Understood(line=text, node_id=scene.node_id, decision=Unclear(reason="language"), intents=_unknown(line))
    deeds = [deed_of(clause) for clause in line.clauses if clause.words]
    intents = intents_of(line, deeds, here)
    # Most lines point at nothing, and then nobody needs to know what the one before named.
    named = _named_in(before, here) if before and any(map(points_back, deeds)) else frozenset[str]()
    decision, scores = decide(line, deeds, here, named)
    answer = _answer(line, deeds, here, question, scene.node_id)
    if answer is not None:
        decision = answer
    elif _is_of_the_play(intents) or _is_for_nobody(decision, line, here):
        decision = Stay()
    return Understood(
        line=text,
        node_id=scene.node_id,
        intents=intents,
        scores=scores,
        decision=_named(decision, here),
        topic=_topic(deeds, here),
        addressed=next((intent.whom for intent in intents if intent.whom), ""),
        answers=answer is not None,
        hint=_hint(decision, turns_in_scene),
    )


def _is_of_the_play(intents: Sequence[Intent]) -> bool:
    return bool(intents) and intents[0].kind in ("hint", "where", "who_is_here", "silence")


def _is_for_nobody(decision: Decision, line: Line, here: SceneWays) -> bool:
    """Whether a line would move the story, and is for somebody who is not there to hear it."""
    if not isinstance(decision, TakeWay) or here.ways[decision.way].going:
        return False
    called = [person for person in here.people if person.words & line.spoken_to]
    about = any(person.words & here.ways[decision.way].own for person in called)
    return bool(called) and not about and not any(person.here for person in called)


def _named_in(before: str, here: SceneWays) -> frozenset[str]:
    """What a line named, for the next one to point at."""
    line = read_clauses(before[:LONGEST], here.story, here.names, here.things)
    return frozenset(noun for clause in line.clauses if clause.words for noun in deed_of(clause).nouns)


def _hint(decision: Decision, turns_in_scene: int) -> int:
    """The number of the hint that is due: every third turn that leads nowhere."""
    waited = turns_in_scene + 1
    return waited // TURNS_PER_HINT if isinstance(decision, (Stay, Unclear)) and waited % TURNS_PER_HINT == 0 else 0


def _named(decision: Decision, here: SceneWays) -> Decision:
    if not isinstance(decision, AskBack):
        return decision
    return decision.model_copy(update={"names": [here.ways[way].label for way in decision.ways]})


def _unknown(line: Line) -> list[Intent]:
    return [Intent(kind="unknown", text=line.text)]


def _topic(deeds: Sequence[Deed], here: SceneWays) -> list[str]:
    """What the line is about: its nouns in their order, each once."""
    names = here.names_of_nouns
    found = [word for deed in deeds for word in (*deed.things, *sorted(deed.nouns)) if word in content((word,))]
    return list(dict.fromkeys(names.get(word, word) for word in found if word not in SMALL))


# -- answers to a question that was asked back ------------------------------------------------------------------------


def _answer(
    line: Line, deeds: Sequence[Deed], here: SceneWays, question: OpenQuestion | None, node_id: str
) -> Decision | None:
    """What a short answer to an open question decides; None when the line says something else."""
    if question is None or question.node_id != node_id or not line.words or len(line.words) > _SHORT_ANSWER:
        return None
    words = [
        word for word in line.words if word not in DETERMINERS or word in _ORDINALS or word in ("both", "neither", "no")
    ]
    if any(way >= len(here.ways) for way in question.ways):
        return None
    if set(words) & {"neither", "none", "nothing"} or (words and words[0] in NO and len(words) <= 2):
        return Stay()
    if words and words[0] in YES and len(question.ways) == 1 and all(word in YES | SMALL | {"mean"} for word in words):
        return TakeWay(way=question.ways[0])
    if words and all(word in YES for word in words):
        return AskBack(ways=question.ways)
    ordinal = next((_ORDINALS[word] for word in words if word in _ORDINALS), None)
    if ordinal is not None and ordinal < len(question.ways) and len(words) <= 2:
        return TakeWay(way=question.ways[ordinal])
    return _by_name(deeds, here, question)


def _by_name(deeds: Sequence[Deed], here: SceneWays, question: OpenQuestion) -> Decision | None:
    """The one way among those asked about that the words name."""
    if any(deed.clause.mood == "question" or deed.clause.negated or deed.clause.rejected for deed in deeds):
        return None
    named = frozenset(noun for deed in deeds for noun in deed.nouns)
    fitting = [way for way in question.ways if named & (here.ways[way].own | here.ways[way].named)]
    if len(fitting) > 1:
        fitting = [way for way in fitting if named & here.ways[way].own] or fitting
    harmful = any(deed.clause.verb_at is not None and deed.harmless for deed in deeds)
    return TakeWay(way=fitting[0]) if len(fitting) == 1 and not harmful else None


# -- languages --------------------------------------------------------------------------------------------------------


def is_foreign(text: str, here: SceneWays) -> bool:
    """Whether a line is in a language that is not read: in another script, or with another language's small words."""
    words = [word.lower() for word in _LETTER.findall(text)]
    if not words:
        return False
    if sum(not word[0].isascii() and ord(word[0]) > 0x24F for word in words) * 2 > len(words):
        return True
    if len(words) < 3:
        return False
    if max(len(small.intersection(words)) for small in FOREIGN.values()) < 2:
        return False
    known = sum(word in SMALL or word in here.story or word in here.names or is_word(word) for word in words)
    strange = sum(not (word in here.story or word in here.names or is_word(word)) for word in words)
    return strange * 3 >= len(words) and known < len(words)
