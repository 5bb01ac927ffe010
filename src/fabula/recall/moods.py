"""Mood and fading, both on story time.

A mood is how strongly each of eight feelings is felt. Three rules move it:

1. *Decay*: after six hours of the story half of a feeling is left.
2. *Inertia*: something felt takes the mood at most half the way; nobody's mood turns whole at a word.
3. *Opposites*: what is felt lessens its opposite by half as much.

It is part of the state of a play; how well a memory is kept is worked out anew from what was lived through. So both are
what they were when somebody goes back.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from fabula.ports.memories import Feeling
from fabula.recall.feelings import colour_of
from fabula.story.minds import Emotion, MoodState

DAY: Final = 24 * 60
MOOD_HALF_LIFE: Final = 6 * 60
"""After so many minutes of the story half of a feeling is left."""
HALF_WAY: Final = 0.5
HARDLY: Final = 0.05
"""What is felt less than this is felt no more."""
INERTIA: Final = 1.0
"""As much as one whole feeling stands for how somebody is when nothing happens."""
NOTICEABLE: Final = 0.2
"""A feeling that is worth a word."""
OPPOSITES: Final[dict[Emotion, Emotion]] = {
    "joy": "sadness",
    "sadness": "joy",
    "trust": "disgust",
    "disgust": "trust",
    "fear": "anger",
    "anger": "fear",
    "surprise": "anticipation",
    "anticipation": "surprise",
}
_WORDS: Final[dict[Emotion, str]] = {
    "joy": "glad",
    "trust": "trusting",
    "fear": "afraid",
    "surprise": "startled",
    "sadness": "sad",
    "disgust": "disgusted",
    "anger": "angry",
    "anticipation": "expectant",
}
LIFETIMES: Final = {1: 30 * DAY, 2: 120 * DAY, 3: 365 * DAY}
"""How long memories last by their importance; those that matter more never fade."""


@dataclass(frozen=True, kw_only=True)
class Mood:
    """A mood as a whole: the strongest feeling, if one is noticeable, how pleasant it all is, and how stirring."""

    emotion: Emotion | None = None
    strength: float = 0.0
    valence: float = 0.0
    arousal: float = 0.0

    @property
    def words(self) -> str:
        """The mood in a word or two; nothing where nothing is noticeable."""
        if self.emotion is None:
            return ""
        degree = "a little " if self.strength < 0.5 else "very " if self.strength >= 0.75 else ""
        return f"{degree}{_WORDS[self.emotion]}"


def word_for(emotion: Emotion) -> str:
    """How somebody is who feels this."""
    return _WORDS[emotion]


def mood_after(before: MoodState | None, felt: Iterable[Feeling], minute: int) -> MoodState:
    """The mood at a minute of the story, after what was felt since the one before, the oldest first."""
    strengths = {} if before is None else _decayed(before, minute)
    for feeling in felt:
        if feeling.emotion is None:
            continue
        impulse = HALF_WAY * _strength_of(feeling)
        now, opposite = strengths.get(feeling.emotion, 0.0), OPPOSITES[feeling.emotion]
        strengths[feeling.emotion] = now + impulse * (1 - now)
        strengths[opposite] = max(0.0, strengths.get(opposite, 0.0) - HALF_WAY * impulse)
    kept = {emotion: round(value, 3) for emotion, value in sorted(strengths.items()) if value >= HARDLY}
    return MoodState(felt=kept, minute=minute)


def _decayed(before: MoodState, minute: int) -> dict[Emotion, float]:
    left = 0.5 ** (max(0, minute - before.minute) / MOOD_HALF_LIFE)
    return {emotion: value * left for emotion, value in before.felt.items()}


def _strength_of(feeling: Feeling) -> float:
    """How strongly something was felt, from 0 to 1: as much of the most stirring form of that feeling."""
    assert feeling.emotion is not None
    return min(1.0, feeling.arousal / colour_of(feeling.emotion)[1])


def mood_of(state: MoodState | None) -> Mood:
    """A mood as a whole."""
    if state is None or not state.felt:
        return Mood()
    weights = INERTIA + sum(state.felt.values())
    strongest = max(sorted(state.felt), key=lambda emotion: state.felt[emotion])
    strength = state.felt[strongest]
    return Mood(
        emotion=strongest if strength >= NOTICEABLE else None,
        strength=strength,
        valence=round(sum(value * colour_of(one)[0] for one, value in state.felt.items()) / weights, 3),
        arousal=round(sum(value * colour_of(one)[1] for one, value in state.felt.items()) / weights, 3),
    )


def fidelity_at(minute: int, *, remembered: int, importance: int, pinned: bool) -> float:
    """How well a memory is kept at a minute of the story, from 1 to 0; pinned ones never fade."""
    lifetime = LIFETIMES.get(importance)
    if pinned or lifetime is None:
        return 1.0
    return max(0.0, 1.0 - max(0, minute - remembered) / lifetime)
