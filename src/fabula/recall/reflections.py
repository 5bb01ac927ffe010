"""Reflections: what somebody makes of what keeps coming up, by rule: now and then, from clusters of observations.

1. The observations of late are gathered around people and things: what somebody says or does, and words they share.
2. A cluster counts that has at least four observations from two turns or more, and matters (8 of importance).
3. What is felt in most of them is what somebody makes of it; the observation that matters most stands for the rest.
4. At most two are kept at a time, and the same is not thought twice in a row.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from fabula.language.english import closed
from fabula.language.stemming import stem_in
from fabula.language.words import words_of
from fabula.ports.memories import Feeling, Memory
from fabula.recall.feelings import colour_of
from fabula.recall.touch import stems_in
from fabula.story.minds import Emotion

REFLECT_EVERY: Final = 12
"""Turns between two times of reflection."""
LOOKS_BACK: Final = 48
"""So many observations are looked at."""
LEAST_OBSERVATIONS: Final = 4
LEAST_IMPORTANCE: Final = 8
MOST: Final = 2
LONGEST_QUOTE: Final = 160
_NOUNS: Final[dict[Emotion, str]] = {
    "joy": "joy",
    "trust": "trust",
    "fear": "fear",
    "surprise": "surprise",
    "sadness": "sadness",
    "disgust": "disgust",
    "anger": "anger",
    "anticipation": "hope",
}


@dataclass(frozen=True, kw_only=True)
class Reflection:
    """What somebody makes of a cluster of observations."""

    subject: str
    text: str
    feeling: Feeling
    certainty: float
    evidence: tuple[Memory, ...]


def reflect(observations: Sequence[Memory], *, own_name: str, known: Iterable[str] = ()) -> list[Reflection]:
    """What somebody called so makes of its last observations; `known` are the texts of what it thought of late."""
    clusters = [*_around_people(observations, own_name), *_around_things(observations, own_name)]
    worth = sorted(clusters, key=lambda one: (-sum(memory.importance for memory in one[1]), one[0]))
    thought = set(known)
    found: list[Reflection] = []
    covered: set[str] = set()
    for subject, memories in worth:
        ids = {memory.memory_id for memory in memories}
        # Two names for much the same cluster are one thought.
        if len(ids & covered) * 2 > len(ids):
            continue
        reflection = _made(subject, memories)
        if reflection.text not in thought:
            found.append(reflection)
            covered |= ids
        if len(found) == MOST:
            break
    return found


def _around_people(observations: Sequence[Memory], own_name: str) -> list[tuple[str, list[Memory]]]:
    names = {one.speaker for one in observations if one.speaker and one.speaker not in (own_name, "Narrator")}
    spoken = [(one, frozenset(words_of(one.shown))) for one in observations]
    clusters = []
    for name in sorted(names):
        first = words_of(name)[:1]
        clusters.append((name, [one for one, words in spoken if one.speaker == name or not words.isdisjoint(first)]))
    return [one for one in clusters if _counts(one[1])]


def _around_things(observations: Sequence[Memory], own_name: str) -> list[tuple[str, list[Memory]]]:
    names = {stem_in(word) for one in observations for word in words_of(one.speaker)} | set(
        map(stem_in, words_of(own_name))
    )
    having: dict[str, list[Memory]] = {}
    for one in observations:
        for stem in stems_in(one.shown) - names:
            having.setdefault(stem, []).append(one)
    # What nearly everything speaks of is no subject.
    limit = max(LEAST_OBSERVATIONS, len(observations) // 2)
    clusters = {stem: some for stem, some in sorted(having.items()) if len(some) <= limit and _counts(some)}
    said = _said(clusters)
    return [(f"the {said.get(stem, stem)}", some) for stem, some in clusters.items()]


def _counts(memories: Sequence[Memory]) -> bool:
    several = len(memories) >= LEAST_OBSERVATIONS and len({one.turn_id for one in memories}) > 1
    return several and sum(one.importance for one in memories) >= LEAST_IMPORTANCE


def _said(clusters: Mapping[str, Sequence[Memory]]) -> dict[str, str]:
    """The form of each stem in which it is said most often; every text is gone through once, whatever it shares."""
    forms: dict[str, Counter[str]] = {}
    texts = {one.memory_id: one.shown for some in clusters.values() for one in some}
    for text in texts.values():
        for word, times in Counter(words_of(text)).items():
            if (stem := stem_in(word)) in clusters:
                forms.setdefault(stem, Counter())[word] += times
    return {stem: min(said, key=lambda word: (-said[word], word)) for stem, said in forms.items()}


def _made(subject: str, memories: Sequence[Memory]) -> Reflection:
    felt = Counter(one.feeling.emotion for one in memories if one.feeling.emotion is not None)
    best = max(memories, key=lambda one: (one.importance, one.feeling.arousal, -one.place))
    quote = closed(" ".join(best.shown.split())[:LONGEST_QUOTE])
    emotion, times = max(sorted(felt.items()), key=lambda one: one[1]) if felt else (None, 0)
    if emotion is not None and 2 * times >= sum(felt.values()):
        lead = f"When I think of {subject}, it is with {_NOUNS[emotion]}"
        valence, arousal = colour_of(emotion)
        feeling = Feeling(emotion=emotion, valence=valence, arousal=arousal)
    else:
        lead, feeling = f"It keeps coming back to {subject}", Feeling()
    return Reflection(
        subject=subject,
        text=f"{lead}. Above all: {quote}",
        feeling=feeling,
        certainty=round(min(0.9, 0.5 + 0.05 * len(memories)), 2),
        evidence=tuple(memories),
    )
