"""Warn of what is imported: which of it would cross a line in which world, before anybody plays it.

What is imported may be played in any world of this server, so it is held against the boundaries of all of them, and of
those that come with it. It is taken in all the same: whoever imports it decides, and what is told of it later passes
the guardrails of its table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from fabula.actions.house import House
from fabula.actions.repositories import WORLDS
from fabula.actions.views import Paging
from fabula.language.vocabulary import sentences_of
from fabula.ports.threads import run_in_thread
from fabula.story.boundaries import Limits, limits_of
from fabula.story.values import Json, Value, texts_in
from fabula.story.worlds import World

MOST_WORLDS: Final = 50
MOST_WARNINGS: Final = 50
MOST_LETTERS: Final = 1_000_000
"""So much of an import is looked through, and no more: it takes about half a second of a thread."""
MOST_LETTERS_IN_ALL: Final = 10_000_000
"""The same counted once for each world that draws a line: with fifty of them it took four seconds."""
LONGEST_QUOTE: Final = 160
_OWN_LINES: Final = frozenset({"session_zero", "boundaries_before", "caps", "directives"})
"""Where a world says itself what it does not want."""


class BoundaryWarning(Value):
    """A sentence of an import that crosses a line of a world. `where` is the kind and the id of what it stands in."""

    where: str
    world_id: str
    line: str
    words: str


async def boundary_warnings(
    house: House, documents: Mapping[str, Json], *, also: Sequence[World] = ()
) -> list[BoundaryWarning]:
    """What of these documents, by their kinds and ids, crosses a line of a world; the first of each line in each.

    `also` are worlds that come with them. They are looked through while nothing is held that others wait for.
    """
    async with house.store.reading() as unit:
        worlds, _ = await WORLDS.page(unit, Paging(limit=MOST_WORLDS))
    drawn = [one for one in [*worlds, *also] if one.session_zero is not None][:MOST_WORLDS]
    if not drawn:
        return []
    # One import at a time, whoever asks: many at once would leave no thread for anybody else.
    async with house.long_texts.place_of(None):
        return await run_in_thread(_looked_through, documents, drawn)


def _looked_through(documents: Mapping[str, Json], worlds: Sequence[World]) -> list[BoundaryWarning]:
    limits = [(one.world_id, made) for one in worlds if (made := limits_of(one.session_zero)) is not None]
    return list(_warnings(documents, limits)) if limits else []


def _warnings(documents: Mapping[str, Json], limits: Sequence[tuple[str, Limits]]) -> Iterator[BoundaryWarning]:
    left, warned = min(MOST_LETTERS, MOST_LETTERS_IN_ALL // len(limits)), 0
    for where, document in documents.items():
        seen: set[tuple[str, str]] = set()
        for sentence in _sentences(document):
            left -= len(sentence)
            if left < 0 or warned >= MOST_WARNINGS:
                return
            for world_id, limit in limits:
                line = limit.lines.find_in(sentence) if limit.lines else None
                if line is not None and (world_id, line) not in seen:
                    seen.add((world_id, line))
                    warned += 1
                    words = " ".join(sentence.split())[:LONGEST_QUOTE]
                    yield BoundaryWarning(where=where, world_id=world_id, line=line, words=words)


def _sentences(document: Json) -> Iterator[str]:
    if isinstance(document, dict):
        document = {name: held for name, held in document.items() if name not in _OWN_LINES}
    for text in texts_in(document):
        yield from sentences_of(text)
