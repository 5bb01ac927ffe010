"""How much of a world is told: what there is of each aspect, what is missing, and who is named and nothing more."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from fabula.story.canon import AxiomContent, Content, EntityContent, EventContent, FactContent, RelationshipContent
from fabula.story.worldbuilding import ASPECTS, Aspect, Coverage

ENOUGH: Final[dict[Aspect, int]] = {
    "places": 3,
    "people": 4,
    "factions": 2,
    "ties": 4,
    "laws": 1,
    "past": 2,
    "things": 1,
}
"""So much of an aspect is enough to begin a play with."""
MOST_BARE: Final = 5
_OF_KIND: Final[dict[str, Aspect]] = {
    "place": "places",
    "character": "people",
    "faction": "factions",
    "object": "things",
    "concept": "things",
}


def coverage_of(contents: Sequence[Content]) -> Coverage:
    """How much the true contents of a world tell."""
    counts: Counter[Aspect] = Counter()
    told: set[str] = set()
    entities: dict[str, EntityContent] = {}
    for content in contents:
        match content:
            case EntityContent():
                counts[_OF_KIND[content.entity_kind]] += 1
                entities[content.entity_id] = content
            case RelationshipContent():
                counts["ties"] += 1
                told |= {content.subject, content.object}
            case EventContent():
                counts["past"] += 1
                told |= set(content.who)
            case AxiomContent():
                counts["laws"] += 1
            case FactContent():
                told.add(content.subject)
            case _:
                pass
    gaps = [aspect for aspect in ASPECTS if counts[aspect] < ENOUGH[aspect]]
    gaps.sort(key=lambda aspect: counts[aspect] / ENOUGH[aspect])
    bare = [one.name for id, one in entities.items() if id not in told and len(one.description) < 60]
    return Coverage(counts={aspect: counts[aspect] for aspect in ASPECTS}, gaps=gaps, bare=bare[:MOST_BARE])
