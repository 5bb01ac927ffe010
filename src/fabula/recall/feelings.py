"""What was felt, and how much it matters, by the words of a text; rough, and the same rough every time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import cache
from typing import Final

from fabula.language.stemming import stem_in
from fabula.language.words import words_of
from fabula.ports.memories import Feeling
from fabula.story.minds import Emotion

_WORDS: Final[dict[Emotion, tuple[float, float, str]]] = {
    "joy": (0.8, 0.6, "happy joy laugh smile glad delight cheer celebrate love kiss dance grateful freude froh"),
    "trust": (0.5, 0.3, "trust promise friend honest loyal thank swear faithful ally help vertrauen freund"),
    "fear": (-0.7, 0.8, "fear afraid scare terror tremble dread panic horror flee danger threat scream angst"),
    "surprise": (0.1, 0.8, "surprise sudden astonish gasp unexpected startle shock stare überrascht plötzlich"),
    "sadness": (-0.7, 0.4, "sad cry tear grief mourn lonely weep lose loss sorrow regret funeral grave traurig weinen"),
    "disgust": (-0.6, 0.5, "disgust vile rotten stench filthy sick foul revolting loathe ekel"),
    "anger": (-0.7, 0.8, "angry anger rage fury shout hate furious curse threaten hit betray slam wut zorn hass"),
    "anticipation": (0.3, 0.5, "hope wait expect soon tomorrow plan eager ready prepare hoffen warten"),
}  # fmt: skip
_WEIGHTY = (
    "kill die dead death murder blood wound fire burn steal secret betray confess reveal marry kiss born promise swear "
    "curse escape arrest save king treasure letter key poison war win victory lose forgive goodbye tot mord geheimnis"
)

MOST_FELT: Final = 4_000
"""So many letters of a text are felt, its first: a line of words that nobody knows would be stemmed for long."""


@cache
def _emotion_of() -> Mapping[str, Emotion]:
    """The feeling of each stem; made at the first text, because stemming takes a moment to load."""
    return {stem_in(word): emotion for emotion, (_, _, words) in _WORDS.items() for word in words.split()}


@cache
def _weighty_stems() -> frozenset[str]:
    return frozenset(stem_in(word) for word in _WEIGHTY.split())


def load_stems() -> None:
    """Loads what the first text needs; it takes as long as some turns do."""
    _emotion_of()
    _weighty_stems()


def colour_of(emotion: Emotion) -> tuple[float, float]:
    """How pleasant and how stirring a feeling is at its strongest."""
    valence, arousal, _ = _WORDS[emotion]
    return valence, arousal


def feeling_in(text: str) -> Feeling:
    """The strongest of the eight feelings that a text speaks of; none where it speaks of none."""
    known, text = _emotion_of(), text[:MOST_FELT]
    counts: Counter[Emotion] = Counter(
        emotion for word in words_of(text) if (emotion := known.get(stem_in(word))) is not None
    )
    if not counts:
        return Feeling()
    (emotion, times), *_ = sorted(counts.items(), key=lambda one: (-one[1], one[0]))
    valence, arousal, _ = _WORDS[emotion]
    strength = min(1.0, 0.6 + 0.2 * times + 0.1 * text.count("!"))
    return Feeling(emotion=emotion, valence=round(valence * strength, 2), arousal=round(arousal * strength, 2))


def importance_of(text: str, feeling: Feeling, *, changed: bool = False) -> int:
    """From 1 to 5: what is felt strongly, what speaks of weighty things, and what changed the world matters more."""
    weighty = sum(stem_in(word) in _weighty_stems() for word in set(words_of(text[:MOST_FELT])))
    return min(5, 1 + min(2, weighty) + (feeling.arousal >= 0.6) + changed)
