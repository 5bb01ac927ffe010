"""Consolidation: what was lived through again and again becomes one memory, and what is old fades to its gist.

1. *Near-duplicates*: at least three observations of the same speaker that share four fifths of their telling words, and
   neither differ in a number nor in a `not`, become a summary that has the text of the fullest one.
2. *Fading*: at least three observations of one scene that matter little (importance 1 or 2), that nobody pinned or
   recalled, and of which less than half is left, become a summary of their scene.
3. A summary matters as much as the weightiest of what it covers; one of a scene a step more, so that it outlasts it.

What a summary covers leaves recall from that turn on. Nothing is overwritten or deleted: going back to before brings it
back, and so does forgetting nothing but one of them.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from fabula.ports.memories import Memory, NewMemory
from fabula.recall.moods import fidelity_at
from fabula.recall.touch import stems_in

LEAST_ALIKE: Final = 3
SHARED: Final = 0.8
LEAST_WORDS: Final = 3
LITTLE: Final = 2
HALF: Final = 0.5
MOST_PEOPLE: Final = 12
GIST_WORDS: Final = 30
_NEGATION = re.compile(r"\b(?:not|never|no|none|nobody|nothing|\w+n['’]t|nicht|kein\w*|nie|pas|jamais)\b", re.I)
_NUMBER = re.compile(r"\d+")
_TIMES: Final = {2: "twice", 3: "three times", 4: "four times", 5: "five times"}

Gist = Callable[[Sequence[Memory], int], str]
"""Sums observations up in at most so many words."""


@dataclass(frozen=True, kw_only=True)
class Consolidated:
    """A summary, and the ids of the memories that it covers."""

    summary: NewMemory
    covers: tuple[str, ...]


def consolidate(observations: Sequence[Memory], *, minute: int, gist: Gist) -> list[Consolidated]:
    """What becomes of an owner's observations at a minute of the story; they come in their order, and are covered by no
    summary yet. The same ones give the same summaries."""
    loose = [one for one in observations if not one.pinned and one.kind == "observation"]
    made = [_repeated(some) for some in _alike(loose)]
    covered = {id for one in made for id in one.covers}
    left = [one for one in loose if one.memory_id not in covered and _is_fading(one, minute)]
    return [*made, *(_scene_gist(some, gist) for some in _by_scene(left))]


def _is_fading(one: Memory, minute: int) -> bool:
    kept = fidelity_at(minute, remembered=one.minute, importance=one.importance, pinned=one.pinned)
    return kept < HALF and one.importance <= LITTLE and one.recalls == 0


def _alike(memories: Sequence[Memory]) -> list[list[Memory]]:
    """Near-duplicates, each group in its order; the first of a group is what the others are compared with."""
    groups: list[tuple[frozenset[str], list[Memory]]] = []
    by_stem: dict[tuple[str, bool, tuple[str, ...], str], list[int]] = {}
    for one in memories:
        stems = stems_in(one.shown)
        if len(stems) < LEAST_WORDS:
            continue
        kind = (one.speaker, bool(_NEGATION.search(one.shown)), tuple(_NUMBER.findall(one.shown)))
        near = {group for stem in stems for group in by_stem.get((*kind, stem), ())}
        best = max(sorted(near), key=lambda group: _likeness(stems, groups[group][0]), default=None)
        if best is not None and _likeness(stems, groups[best][0]) >= SHARED:
            groups[best][1].append(one)
            continue
        for stem in stems:
            by_stem.setdefault((*kind, stem), []).append(len(groups))
        groups.append((stems, [one]))
    return [some for _, some in groups if len(some) >= LEAST_ALIKE]


def _likeness(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other)


def _by_scene(memories: Sequence[Memory]) -> list[list[Memory]]:
    scenes: dict[str, list[Memory]] = {}
    for one in memories:
        scenes.setdefault(one.scene, []).append(one)
    return [some for some in scenes.values() if len(some) >= LEAST_ALIKE]


def _repeated(memories: Sequence[Memory]) -> Consolidated:
    """The fullest text of several that are nearly the same, and how often it was so."""
    fullest = max(memories, key=lambda one: (len(stems_in(one.shown)), len(one.shown), one.place))
    times = _TIMES.get(len(memories), "many times")
    return _made(memories, f"({times}) {fullest.shown}", fullest.speaker, max(one.importance for one in memories))


def _scene_gist(memories: Sequence[Memory], gist: Gist) -> Consolidated:
    importance = min(5, 1 + max(one.importance for one in memories))
    return _made(memories, gist(memories, GIST_WORDS) or memories[0].shown, "", importance)


def _made(memories: Sequence[Memory], text: str, speaker: str, importance: int) -> Consolidated:
    ids = tuple(one.memory_id for one in memories)
    name = hashlib.sha256("\n".join(ids).encode()).hexdigest()[:20]
    newest = max(memories, key=lambda one: one.minute)
    people = list(dict.fromkeys(name for one in memories for name in one.people))
    return Consolidated(
        summary=NewMemory(
            memory_id=f"summary/{newest.owner.name}/{name}",
            owner=newest.owner.name,
            kind="summary",
            text=text,
            speaker=speaker,
            people=people[:MOST_PEOPLE],
            scene=f"summary/{name}",
            where=newest.where,
            minute=newest.minute,
            importance=importance,
            feeling=max(memories, key=lambda one: one.feeling.arousal).feeling,
            certainty=max(one.certainty for one in memories),
            told_by=newest.told_by if all(one.told_by == newest.told_by for one in memories) else "",
            evidence=list(dict.fromkeys(one.turn_id for one in memories if one.turn_id is not None)),
        ),
        covers=ids,
    )


def faded_text(text: str, fidelity: float) -> str:
    """How a memory reads when it has faded: whole down to a half, then its beginning, then that there was something."""
    words = text.split()
    if fidelity >= HALF or len(words) <= LEAST_WORDS:
        return text
    kept = max(LEAST_WORDS, round(len(words) * fidelity * 2))
    return text if kept >= len(words) else f"{' '.join(words[:kept]).rstrip(',.;:!?')}… (the rest has faded)"
