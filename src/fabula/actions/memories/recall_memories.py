"""Recall: what comes to an owner's mind at a turn, with the reasons. No model is asked.

1. The question is read, and the store finds candidates: the owner's own past, or stretches of a large one.
2. The embedder, where there is one, says how near they are in meaning.
3. `fabula.recall.ranking` decides; the memories that won are read.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

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
from fabula.recall.ranking import (
    MOST_LETTERS,
    Basis,
    Candidate,
    Moment,
    Ranked,
    Reason,
    answer_flags,
    rank,
    scene_numbers,
    shortened,
    stems_of,
)

log = logging.getLogger("fabula.memories")

MOST_RECALLED = 10
LONGEST_QUESTION = 2_000
READ_WHOLE = 700
SHORT_PAST = 10_000
"""So many letters of words, as an NPC's scenes have, are read in about the time that waking a thread takes."""
PATIENCE_S = 1.0
"""A turn waits no longer for the meaning of a question, if another machine has to tell it."""
LEAST_MEANING = 1.6
"""What likeness of meaning counts at least, where no word is shared: two fifths of a whole."""
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
    past = await house.store.read(lambda unit: gather_past(unit, owner, text))
    return await recall_past(house, past, moment=moment, most=most)


async def recall_past(
    house: House, past: GatheredPast | None, *, moment: Moment | None = None, most: int = MOST_RECALLED
) -> list[Recollection]:
    """The same of a past that was gathered."""
    ranked = await rank_past(house, past, moment=moment, most=most)
    if past is None or not ranked:
        return []
    return await house.store.read(lambda unit: read_ranked(unit, past.owner, ranked))


async def gather_past(unit: Unit, owner: OwnerAt, text: str, *, whole: int = READ_WHOLE) -> GatheredPast | None:
    """All that a question is ranked over; None where there is nothing to remember. A past of at most `whole` memories
    is gathered as a whole."""
    names = await unit.memories.names(owner)
    question = read_question(text[:LONGEST_QUESTION], names)
    # Who asks for nothing but people means what is said of them.
    asked = question.terms or [stem_in(word) for name in sorted(question.named) for word in words_of(name)]
    found = without_superseded(await unit.memories.candidates(owner, asked, whole=whole))
    if not found.rows:
        return None
    # Who ranks a larger past as a whole reads more of it.
    letters = MOST_LETTERS * max(1, whole // READ_WHOLE)
    return GatheredPast(owner=owner, question=question, found=found, names=names, letters=letters)


async def rank_past(
    house: House, past: GatheredPast | None, *, moment: Moment | None = None, most: int = MOST_RECALLED
) -> list[tuple[Candidate, Ranked]]:
    """What comes to mind, before it is read in full.

    No unit of work may be open: an embedder on another machine may take a second, and others want the connection.
    """
    if past is None:
        return []
    found = await read_with_meaning(house, past)

    def decide() -> list[Ranked]:
        return rank(past.question, found.basis(), moment=moment, most=most)

    return [(found.candidates[one.number], one) for one in await run_in_thread(decide)]


async def read_ranked(unit: Unit, owner: OwnerAt, ranked: Sequence[tuple[Candidate, Ranked]]) -> list[Recollection]:
    """The memories that won; one that was forgotten meanwhile is left out."""
    memories = await unit.memories.at_places(owner, [(row.space, row.place) for row, _ in ranked])
    at = {(memory.space, memory.place): memory for memory in memories}
    return [
        Recollection(memory=memory, score=one.score, reasons=one.reasons)
        for row, one in ranked
        if (memory := at.get((row.space, row.place))) is not None
    ]


@dataclass(frozen=True, kw_only=True)
class _Past:
    """Candidates, read: their stems, and the different ones among them (`known`), each with the first of its words.
    Those that are part of a name are not known: by them texts would be alike for who is named."""

    candidates: Sequence[Candidate]
    vectors: Sequence[bytes]
    stems: Sequence[Sequence[str]]
    known: Sequence[str]
    words: Sequence[str]


class _Meaning(NamedTuple):
    """The vector of a question, those of its words, and those of the words of a past; empty where nobody knows them."""

    question: Vector
    words: Sequence[Vector] = ()
    known: Any = ()


@dataclass(frozen=True, kw_only=True)
class GatheredPast:
    """A question with the part of a past that may answer it, as the store has it. `letters` is how much is read."""

    owner: OwnerAt
    question: RecallQuestion
    found: Candidates
    names: Sequence[str]
    letters: int


@dataclass(frozen=True, kw_only=True)
class PastWithMeaning:
    """A past that was read, with what the embedder says of it."""

    gathered: GatheredPast
    past: _Past
    meaning: _Meaning | None

    @property
    def candidates(self) -> Sequence[Candidate]:
        return self.past.candidates

    def basis(self) -> Basis:
        """What the ranking works on: heavy work, for a thread."""
        question, past, meaning = self.gathered.question, self.past, self.meaning
        scenes = scene_numbers(past.candidates, self.gathered.found.breaks)
        likeness: list[float] = []
        near: dict[str, dict[str, float]] = {}
        if meaning is not None:
            answers = answer_flags(past.candidates, scenes)
            likeness = window_likeness(scenes, past.vectors, answers, meaning.question)
            asked = {stem_in(word): vector for word, vector in zip(question.words, meaning.words, strict=False)}
            near = near_words(asked, past.known, meaning.known)
        return Basis(
            candidates=past.candidates,
            total=self.gathered.found.total,
            counts=self.gathered.found.counts or None,
            likeness=likeness,
            near=near,
            stems=past.stems,
            scenes=scenes,
        )


async def read_with_meaning(house: House, gathered: GatheredPast) -> PastWithMeaning:
    """Reads a past, and asks the embedder how near it is to the question."""
    found = gathered.found
    # The fifth column of a candidate has its words, which are as long as somebody made them.
    is_long = sum(len(row[4]) for row in found.rows) > SHORT_PAST
    asked = found, gathered.names, gathered.letters
    past = await run_in_thread(_read_past, *asked) if is_long else _read_past(*asked)
    return PastWithMeaning(gathered=gathered, past=past, meaning=await _find_meaning(house, gathered.question, past))


def _read_past(found: Candidates, names: Sequence[str], letters: int) -> _Past:
    """Reads candidates; where they have vectors, the words are gathered that will be compared."""
    candidates = shortened([Candidate._make(row) for row in found.rows], letters)
    stems = stems_of(candidates)
    said: dict[str, str] = {}
    if any(found.vectors):
        every = [*chain.from_iterable(stems)]
        words = " ".join([one.words for one in candidates]).split()
        # Backwards, so that the first word of a stem is the one that stays.
        said = dict(zip(reversed(every), reversed(words), strict=True))
        for name in name_words(names):
            said.pop(stem_in(name), None)
    known, words = [*said][-MOST_WORDS:], [*said.values()][-MOST_WORDS:]
    return _Past(candidates=candidates, vectors=found.vectors, stems=stems, known=known, words=words)


def is_telling(reasons: Sequence[Reason]) -> bool:
    """Whether something has to do with what was said, and is not only new, near or somebody's."""
    parts = {reason.part: reason.score for reason in reasons}
    said = any(parts.get(part, 0.0) > 0 for part in ("words", "pairs", "dates"))
    return said or parts.get("meaning", 0.0) >= LEAST_MEANING


async def _find_meaning(house: House, question: RecallQuestion, past: _Past) -> _Meaning | None:
    """The vectors that a question is compared by, in one call; None where there is nothing to compare."""
    embedder = house.embedder
    if embedder is None or not question.words or not any(past.vectors):
        return None
    text = " ".join(question.words)
    try:
        if embedder.embeds_words:
            own = len(question.words)
            vector, rows = await house.word_vectors.look_up(embedder, text, [*question.words, *past.words])
            return _Meaning(vector, rows[:own], rows[own:])
        async with asyncio.timeout(PATIENCE_S):
            return _Meaning((await embedder.embed([text]))[0])
    except (BackendError, TimeoutError) as error:
        log.debug("A question is answered without its meaning: %s", error)
        return None
