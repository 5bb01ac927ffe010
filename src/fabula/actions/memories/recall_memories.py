"""Recall: what comes to an owner's mind at a turn, with the reasons. No model is asked.

1. The question is read, and the store finds candidates: whole scenes of the owner's own past.
2. The embedder, where there is one, says how near they are in meaning.
3. `fabula.recall.ranking` decides; the memories that won are read.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace

from fabula.actions.house import House
from fabula.language.stemming import stem_in
from fabula.language.words import words_of
from fabula.ports.embedder import Vector
from fabula.ports.errors import BackendError
from fabula.ports.memories import Candidates, Memory, OwnerAt
from fabula.ports.store import Unit
from fabula.ports.threads import run_in_thread
from fabula.recall.beliefs import without_superseded
from fabula.recall.imprints import name_words
from fabula.recall.meaning import near_words, window_likeness
from fabula.recall.questions import RecallQuestion, read_question
from fabula.recall.ranking import Basis, Candidate, Moment, Ranked, Reason, answer_flags, rank, shortened, stems_of

log = logging.getLogger("fabula.memories")

MOST_RECALLED = 10
LONGEST_QUESTION = 2_000
READ_WHOLE = 700
PATIENCE_S = 1.0
"""A turn waits no longer for the meaning of a question, if another machine has to tell it."""
LEAST_MEANING = 1.6
"""What likeness of meaning counts at least, where no word is shared: two fifths of a whole."""
SHORT_PAST = 20_000
"""So many letters of words are stemmed at once; the stems of more are found in a thread."""
MOST_WORDS = 5_000
"""So many different words of a past are compared by their meaning, more than seven hundred lines of dialogue have."""


@dataclass(frozen=True, kw_only=True)
class Recollection:
    """A memory that came to mind."""

    memory: Memory
    score: float
    reasons: tuple[Reason, ...]


async def recall_memories(
    house: House, owner: OwnerAt, text: str, *, moment: Moment | None = None, most: int = MOST_RECALLED
) -> list[Recollection]:
    """What this text brings back to an owner, the strongest first; nothing where nothing is remembered."""
    return await house.store.read(lambda unit: recall_in(house, unit, owner, text, moment=moment, most=most))


async def recall_in(
    house: House, unit: Unit, owner: OwnerAt, text: str, *, moment: Moment | None = None, most: int = MOST_RECALLED
) -> list[Recollection]:
    """The same inside a unit of work."""
    ranked = await rank_memories(house, unit, owner, text, moment=moment, most=most)
    memories = await unit.memories.at_places(owner, [(row.space, row.place) for row, _ in ranked])
    return [
        Recollection(memory=memory, score=one.score, reasons=one.reasons)
        for memory, (_, one) in zip(memories, ranked, strict=True)
    ]


async def rank_memories(
    house: House,
    unit: Unit,
    owner: OwnerAt,
    text: str,
    *,
    moment: Moment | None = None,
    most: int = MOST_RECALLED,
    whole: int = READ_WHOLE,
) -> list[tuple[Candidate, Ranked]]:
    """What comes to mind, before it is read in full. A past of at most `whole` memories is ranked as a whole."""
    names = await unit.memories.names(owner)
    question = read_question(text[:LONGEST_QUESTION], names)
    # Who asks for nothing but people means what is said of them.
    asked = question.terms or [stem_in(word) for name in sorted(question.named) for word in words_of(name)]
    found = without_superseded(await unit.memories.candidates(owner, asked, whole=whole))
    if not found.rows:
        return []
    candidates = shortened([Candidate._make(row) for row in found.rows])
    stems = await run_in_thread(stems_of, candidates)
    vectors = await _question_vectors(house, question, found)
    embeds_words = house.embedder is not None and house.embedder.embeds_words
    known, rows = await _known_words(house, candidates, stems, names) if vectors and embeds_words else ([], None)

    def decide() -> list[Ranked]:
        basis = replace(_basis(question, found, candidates, vectors, known, rows), stems=stems)
        return rank(question, basis, moment=moment, most=most)

    return [(candidates[one.number], one) for one in await run_in_thread(decide)]


def is_telling(reasons: Sequence[Reason]) -> bool:
    """Whether something has to do with what was said, and is not only new, near or somebody's."""
    parts = {reason.part: reason.score for reason in reasons}
    said = any(parts.get(part, 0.0) > 0 for part in ("words", "pairs", "dates"))
    return said or parts.get("meaning", 0.0) >= LEAST_MEANING


async def _question_vectors(house: House, question: RecallQuestion, found: Candidates) -> list[Vector]:
    """The vector of the question, then those of its words, in one call; none where there is nothing to compare."""
    if house.embedder is None or not question.words or not any(found.vectors):
        return []
    asked = [" ".join(question.words), *(question.words if house.embedder.embeds_words else ())]
    try:
        async with asyncio.timeout(None if house.embedder.embeds_words else PATIENCE_S):
            return await house.embedder.embed(asked)
    except (BackendError, TimeoutError) as error:
        log.warning("A question is answered without its meaning: %s", error)
        return []


async def _known_words(
    house: House, candidates: Sequence[Candidate], stems: Sequence[Sequence[str]], names: Sequence[str]
) -> tuple[list[str], object]:
    """The stems of all words of the candidates, each with the vector of the first word that has it."""
    assert house.embedder is not None
    is_long = sum(len(one.words) for one in candidates) > SHORT_PAST
    asked = candidates, stems, names
    said = await run_in_thread(_stems_said, *asked) if is_long else _stems_said(*asked)
    known = list(said)[:MOST_WORDS]
    return known, await house.word_vectors.rows(house.embedder, [said[stem] for stem in known])


def _stems_said(
    candidates: Sequence[Candidate], stems: Sequence[Sequence[str]], names: Sequence[str]
) -> dict[str, str]:
    """The stems of all words but names, each with the first word that has it."""
    said: dict[str, str] = {}
    for one, own in zip(candidates, stems, strict=True):
        for stem, word in zip(own, one.words.split(), strict=True):
            if stem not in said:
                said[stem] = word
    for name in name_words(names):
        said.pop(stem_in(name), None)
    return said


def _basis(
    question: RecallQuestion,
    found: Candidates,
    candidates: Sequence[Candidate],
    vectors: Sequence[Vector],
    known: Sequence[str],
    rows: object,
) -> Basis:
    likeness: list[float] = []
    near: dict[str, dict[str, float]] = {}
    if vectors:
        likeness = window_likeness(candidates, found.vectors, answer_flags(candidates), vectors[0])
        asked = {stem_in(word): vector for word, vector in zip(question.words, vectors[1:], strict=False)}
        near = near_words(asked, known, rows)
    return Basis(candidates=candidates, total=found.total, counts=found.counts or None, likeness=likeness, near=near)
