"""Write memories down: their imprint is taken, their meaning embedded, and they are kept with their turn."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from datetime import date

from fabula.actions.house import House
from fabula.language.stemming import stem_in
from fabula.ports.errors import BackendError
from fabula.ports.memories import Findable, NewMemory
from fabula.ports.threads import run_in_thread
from fabula.recall.imprints import SIGNS, imprint_of, name_words
from fabula.recall.meaning import packed
from fabula.recall.spoken_dates import day_keys

log = logging.getLogger("fabula.memories")

LONGEST_TEXT = 4_000


async def findable(
    house: House, memories: Sequence[NewMemory], *, days: Sequence[date | None] | None = None
) -> list[NewMemory]:
    """Memories with all that they are found by; `days` are those of the story, see `imprinted`."""
    if not memories:
        return []
    dated = zip(memories, days or [None] * len(memories), strict=True)
    return await embedded(house, await run_in_thread(lambda: [imprinted(one, day) for one, day in dated]))


async def embedded(house: House, memories: Sequence[NewMemory]) -> list[NewMemory]:
    """Memories whose imprint is taken, with their meaning."""
    if house.embedder is None or not memories:
        return [*memories]
    texts = [embedded_words(one) for one in memories]
    try:
        vectors = await house.embedder.embed([" ".join(words) for words in texts])
    except BackendError as error:
        # They are kept all the same, and get their vectors when the embedder can be asked again.
        log.debug("Memories are written down without their meaning: %s", error.message)
        return [*memories]
    name = house.embedder.name
    return [
        replace(one, findable=replace(one.findable, vector=packed(vector, len(words) ** 0.5), embedder=name))
        for one, vector, words in zip(memories, vectors, texts, strict=True)
    ]


def embedded_words(memory: NewMemory) -> list[str]:
    """The words whose meaning counts. Names do not: by them, texts would be alike for who is named."""
    names = name_words([memory.speaker, *memory.people])
    return [word for word in memory.findable.words if word not in names]


def imprinted(memory: NewMemory, day: date | None) -> NewMemory:
    """A memory with its imprint; `day` is that of the story, where its calendar has dates like ours."""
    text = memory.text[:LONGEST_TEXT]
    found = imprint_of(text, names=[memory.speaker, *memory.people], day=day)
    return replace(
        memory,
        text=text,
        findable=Findable(
            words=found.words,
            stems=[stem_in(word, found.language) for word in found.words],
            language=found.language,
            signs=" ".join(sign for sign in SIGNS if sign in found.signs),
            dates=" ".join(found.dates),
            day="" if day is None else " ".join(day_keys(day)),
        ),
    )
