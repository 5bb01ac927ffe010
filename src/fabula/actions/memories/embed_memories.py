"""Make the vectors of memories that have none, or those of another embedder: after a change of the embedder, after an
upgrade, or of what was written down while there was none.

Each memory says which embedder its vector is of, so that whoever goes on after a crash makes no vector twice. Until it
has one, a memory is found by all but its meaning.
"""

from __future__ import annotations

from collections.abc import Sequence

from fabula.actions.house import House
from fabula.actions.memories.remember import LONGEST_TEXT
from fabula.actions.work.work_kind import HeldWork
from fabula.ports.memories import Memory
from fabula.ports.progress import TellProgress, quiet
from fabula.ports.store import Unit
from fabula.recall.imprints import imprint_of, name_words
from fabula.recall.meaning import packed
from fabula.story.events import Progress
from fabula.story.values import JsonObject

AT_ONCE = 256
LONGEST_RUN_S = 300.0
"""A run ends by itself long before its deadline; the next one goes on where it stood."""


async def embed_memories(house: House, held: HeldWork) -> JsonObject | None:
    """The periodic job."""
    return {"count": await embed_all(house, held.tell_progress, seconds=LONGEST_RUN_S)}


async def embed_all(house: House, progress: TellProgress = quiet, *, seconds: float | None = None) -> int:
    """Makes all vectors that are missing, or as many as some seconds allow; answers how many."""
    if house.embedder is None:
        return 0
    name, done, until = house.embedder.name, 0, None if seconds is None else house.clock.monotonic() + seconds
    left = await house.store.read(lambda unit: unit.memories.count_without_vector(name))
    while until is None or house.clock.monotonic() < until:
        some = await house.store.read(lambda unit: unit.memories.without_vector(name, limit=AT_ONCE))
        if not some:
            break
        await _embed(house, some)
        done += len(some)
        progress(Progress(done=done, total=max(left, done), label="memories"))
    return done


async def _embed(house: House, memories: Sequence[Memory]) -> None:
    assert house.embedder is not None
    name = house.embedder.name
    texts = [_embedded_words(one) for one in memories]
    vectors = await house.embedder.embed([" ".join(words) for words in texts])
    made = {
        one.memory_id: packed(vector, len(words) ** 0.5)
        for one, vector, words in zip(memories, vectors, texts, strict=True)
    }

    async def keep(unit: Unit) -> None:
        await unit.memories.put_vectors(name, made)

    await house.store.write(keep, durable=False)


def _embedded_words(memory: Memory) -> list[str]:
    """The words whose meaning counts, of how the memory reads now."""
    names = name_words([memory.speaker, *memory.people])
    return [word for word in imprint_of(memory.shown[:LONGEST_TEXT]).words if word not in names]
