"""What a moment brings back to an NPC: older entries of its own history that share telling words, newer ones first.

Two steps, so that another way of remembering can take their place: `cues` says which words an entry is found by, and
`recalled` ranks what was found.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fabula.language.words import STOP, singular, words_of
from fabula.ports.npcs import Remembered
from fabula.story.npc import GameEvent, PlayedTag

MOST_CUES = 24
CUES_ASKED = 8
MOST_RECALLED = 6


def cues(event: GameEvent, played: Iterable[PlayedTag] = ()) -> list[str]:
    """The words by which an entry comes to mind: the telling ones of the event first, then of what was played."""
    texts = [event.source.name, event.text, *(tag.text for tag in played if tag.status != "skipped")]
    return telling_words(" ".join(texts))[:MOST_CUES]


def telling_words(text: str) -> list[str]:
    """The words that say what a text is about, each once, in their order, plurals like singulars."""
    words = (singular(word) for word in words_of(text) if len(word) > 2 and word not in STOP)
    return list(dict.fromkeys(words))


def recalled(
    wanted: Sequence[str], found: Sequence[Remembered], *, before: int, most: int = MOST_RECALLED
) -> list[Remembered]:
    """The best of what was found that is older than `before`, oldest first: more shared words count, then newness."""
    older = [(_cues_of(one), one) for one in found if one.number < before]
    weights = {word: 1 / (1 + sum(word in known for known, _ in older)) for word in wanted}
    scored = [(-sum(weights[word] for word in wanted if word in known), -one.number, one) for known, one in older]
    ranked = sorted(scored, key=lambda entry: entry[:2])
    return sorted((one for _, _, one in ranked[:most]), key=lambda one: one.number)


def _cues_of(one: Remembered) -> frozenset[str]:
    return frozenset(cues(one.lived.event, one.lived.played))
