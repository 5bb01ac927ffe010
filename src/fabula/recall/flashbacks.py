"""Flashbacks: a strong memory that the scene calls up at once, by stated odds, at most one in a scene.

| what comes back | when | odds |
|---|---|---|
| a trauma | one of its triggers is in the player's words | 6 in 10 |
| a trauma | one of its triggers is in what was told last, or in the scene | 3 in 10 |
| a strong memory of the play | the player's words bring it back | 2 in 10 |

A strong memory is one that matters much (importance 4 or 5) and stirs (arousal of a half). The same place, and the same
people, add 1 in 10 each to it; a mood that fits adds 1 in 10 to either. Of several the most likely one may come.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from fabula.ports.memories import Memory
from fabula.recall.touch import touched_by
from fabula.story.minds import Emotion, Trauma

BY_WORDS: Final = 0.6
BY_SCENE: Final = 0.3
BY_MEMORY: Final = 0.2
MORE: Final = 0.1
STRONG_IMPORTANCE: Final = 4
STRONG_AROUSAL: Final = 0.5
FITTING_MOOD: Final = 0.1
"""A mood of so much valence colours what comes back."""


@dataclass(frozen=True, kw_only=True)
class Reminder:
    """Something that may come back to somebody: what it is, what calls it up, and how likely it comes.

    `told` is what the player may be told of it. `source` is the id of the memory, empty for a trauma.
    """

    owner: str
    text: str
    told: str
    emotion: Emotion | None
    cue: str
    odds: float
    source: str = ""


def by_trauma(
    owner: str, traumas: Sequence[Trauma], *, said: frozenset[str], around: frozenset[str], valence: float
) -> list[Reminder]:
    """The traumas that the player's words, or what was told and seen, call up."""
    found = []
    for trauma in traumas:
        by_words, by_scene = touched_by(said, trauma.triggers), touched_by(around, trauma.triggers)
        cue, odds = (by_words, BY_WORDS) if by_words is not None else (by_scene, BY_SCENE)
        if cue is not None:
            odds = round(odds + (MORE if valence <= -FITTING_MOOD else 0.0), 2)
            told = trauma.told or ""
            found.append(Reminder(owner=owner, text=trauma.text, told=told, emotion=trauma.emotion, cue=cue, odds=odds))
    return found


def by_memory(memory: Memory, *, where: str, people: frozenset[str], valence: float, cue: str = "") -> Reminder | None:
    """A memory that the player's words brought back, if it is strong. What was only thought is told to nobody."""
    if memory.importance < STRONG_IMPORTANCE or memory.feeling.arousal < STRONG_AROUSAL:
        return None
    if any("/thought" in line for line in memory.evidence):
        return None
    fits = valence * memory.feeling.valence > 0 and abs(valence) >= FITTING_MOOD
    more = (memory.where == where and where != "", bool(people & set(memory.people)), fits)
    return Reminder(
        owner=memory.owner.name,
        text=memory.shown,
        told=memory.shown,
        emotion=memory.feeling.emotion,
        cue=cue,
        odds=round(BY_MEMORY + MORE * sum(more), 2),
        source=memory.memory_id,
    )


def choose(reminders: Sequence[Reminder], *, draw: float) -> Reminder | None:
    """What comes back: the most likely one, or nothing; of equals the first. `draw` is a number from 0 to 1."""
    best = max(reminders, key=lambda one: one.odds, default=None)
    return best if best is not None and draw < best.odds else None


def may_come(flashback_turn: int | None, scene_began: int) -> bool:
    """Whether there was none in this scene yet."""
    return flashback_turn is None or flashback_turn <= scene_began
