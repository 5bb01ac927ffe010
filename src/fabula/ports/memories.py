"""Memories: what each owner lived through, on the line of turns on which it happened.

An owner is somebody in a play (scope: its tree of turns) or an NPC of a game (scope: the game). A memory is tied to the
turn that it is about, so that going back, or taking another branch, restores exactly what was known there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from fabula.story.minds import Emotion as Emotion
from fabula.story.values import JsonObject

MemoryKind = Literal["observation", "reflection", "summary", "belief"]
MemoryOrder = Literal["newest", "oldest"]


@dataclass(frozen=True, kw_only=True)
class Owner:
    """Whose memories: `name` is the id of a character, `player` or `narrator`; of a game it is the NPC's id."""

    scope: str
    name: str


@dataclass(frozen=True, kw_only=True)
class OwnerAt:
    """An owner at a turn: it knows what happened on the line that ends there. A game has one line and no turns."""

    owner: Owner
    turn_id: str | None = None


@dataclass(frozen=True, kw_only=True)
class Feeling:
    """What was felt: how pleasant it was (`valence`, -1 to 1) and how stirring (`arousal`, 0 to 1)."""

    emotion: Emotion | None = None
    valence: float = 0.0
    arousal: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Findable:
    """What a memory is found by; `fabula.recall.imprints` takes it from the text. `vector` is empty without an
    embedder, and else of the one that `embedder` names."""

    words: Sequence[str]
    stems: Sequence[str]
    language: str = "english"
    signs: str = ""
    dates: str = ""
    day: str = ""
    vector: bytes = b""
    embedder: str = ""


@dataclass(frozen=True, kw_only=True)
class NewMemory:
    """A memory to be kept. `speaker` is who says or does what it is about, `people` who was there, `told_by` who told
    of it, where the owner did not see it; `minute` is story time."""

    memory_id: str
    owner: str
    text: str
    kind: MemoryKind = "observation"
    speaker: str = ""
    people: Sequence[str] = ()
    scene: str = ""
    where: str = ""
    minute: int = 0
    importance: int = 1
    feeling: Feeling = Feeling()
    certainty: float = 1.0
    told_by: str = ""
    canon: str = ""
    evidence: Sequence[str] = ()
    findable: Findable = field(default_factory=lambda: Findable(words=(), stems=()))


@dataclass(frozen=True, kw_only=True)
class Memory:
    """A memory as it is kept. `space` and `place` are where the store has it.

    `text` is the original for ever; `renditions` are how it was told or faded later, the newest last.

    `recalls` counts how often it came to mind, `fidelity` falls from 1 as it fades.
    """

    memory_id: str
    owner: Owner
    turn_id: str | None
    space: int
    place: int
    text: str
    kind: MemoryKind
    speaker: str
    people: tuple[str, ...]
    scene: str
    where: str
    minute: int
    importance: int
    feeling: Feeling
    certainty: float
    told_by: str
    canon: str
    evidence: tuple[str, ...]
    pinned: bool
    recalls: int
    fidelity: float
    renditions: tuple[str, ...]
    created_at_ms: int

    @property
    def shown(self) -> str:
        """How it reads now: its newest rendition, or the original."""
        return self.renditions[-1] if self.renditions else self.text


MOST_RENDITIONS = 20
LONGEST_RENDITIONS = 8_000
"""So many letters all renditions of a memory have together, unless the newest alone has more."""


def with_rendition(renditions: Sequence[str], text: str) -> list[str]:
    """How a memory read before, and how it reads now. The oldest make way where there are many: a memory that is
    corrected again and again does not grow."""
    kept, letters = [text], len(text)
    for older in reversed(renditions):
        letters += len(older)
        if len(kept) == MOST_RENDITIONS or letters > LONGEST_RENDITIONS:
            break
        kept.append(older)
    return kept[::-1]


@dataclass(frozen=True, kw_only=True)
class MemoryChange:
    """What somebody changes about a memory by hand; None leaves a thing as it is. A text becomes a new rendition."""

    text: str | None = None
    pinned: bool | None = None
    importance: int | None = None
    certainty: float | None = None
    fidelity: float | None = None
    findable: Findable | None = None


CandidateRow = tuple[int, int, str, str, str, str, str, str, str, int, int, float, str, str, int, str]
"""The columns of `fabula.recall.ranking.Candidate`, in their order."""


@dataclass(frozen=True, kw_only=True)
class Candidates:
    """Memories, oldest first, among which a question may be answered; how many the owner has in all, and how many of
    them have each of the stems asked for. `vectors` stand beside the rows. `breaks` are the (space, place) before which
    something was left out."""

    rows: Sequence[CandidateRow] = ()
    vectors: Sequence[bytes] = ()
    total: int = 0
    counts: Mapping[str, int] = field(default_factory=dict)
    breaks: frozenset[tuple[int, int]] = frozenset()


class Memories(Protocol):
    """Law:

    - `add` keeps memories of one turn, in their order, for owners of one scope. One whose id is kept already is left as
      it is, so that a repeat changes nothing.
    - An owner at a turn has the memories of all turns on the line that ends there, and no others: neither what came
      later, nor what happened on another branch, nor what somebody else remembers.
    - `unplaced` lists the turns at and above a turn for which `add` was never called, oldest first, up to the first for
      which it was.
    - `names` are the people that occur in an owner's memories up to that turn, and not those met later.
    - `candidates` answers all memories of an owner that has at most `whole`. Of more it answers those around which the
      rarest of the stems are said, with their neighbours, and how common each stem is; the work is bounded however many
      there are. An old one that has several of the stems is a candidate, and so is one whose neighbours have them.
      A belief that was changed later is none.
    - Memories that were forgotten never come up again. Those that faded (fidelity 0) are no candidates, but are listed,
      found by their id, and candidates again when they are pinned.
    - `change` writes a new text as a rendition: the original stays.
    - `page` lists an owner's memories in the order in which they happened, or the newest first.
    - A summary covers memories from the turn on at which it was kept: there, and below, they are no candidates. They
      are listed, found by their id, and candidates at turns above as before. Pinned ones are candidates everywhere.
    - Whoever forgets a summary forgets what it covers. Whoever forgets something that a summary covers forgets the
      summary, and what else it covered is a candidate again.
    - `without_vector` finds memories whose vector is not of an embedder, in time that grows with these alone; once
      `put_vectors` was told of one, it is not among them.
    - They go with the last play of their tree.
    """

    async def add(self, scope: str, turn_id: str | None, memories: Sequence[NewMemory]) -> None: ...

    async def unplaced(self, turn_id: str, *, within: int) -> list[str]: ...

    async def names(self, owner: OwnerAt) -> list[str]: ...

    async def owners(self, scope: str, turn_id: str | None) -> list[str]: ...

    async def candidates(self, owner: OwnerAt, stems: Sequence[str], *, whole: int = 700) -> Candidates: ...

    async def at_places(self, owner: OwnerAt, places: Sequence[tuple[int, int]]) -> list[Memory]:
        """Those of the memories at these (space, place) that can be read, in this order."""
        ...

    async def get(self, memory_id: str) -> Memory | None: ...

    async def page(
        self,
        owner: OwnerAt,
        *,
        kind: MemoryKind | None = None,
        order: MemoryOrder = "newest",
        after: tuple[int, int] | None = None,
        limit: int = 100,
    ) -> list[Memory]: ...

    async def change(self, memory_id: str, change: MemoryChange) -> Memory:
        """Raises NotFound for an unknown one."""
        ...

    async def count_recalls(self, memory_ids: Sequence[str]) -> None: ...

    async def forget(self, memory_id: str) -> bool: ...

    async def cover(self, summary_id: str, memory_ids: Sequence[str]) -> None:
        """Has a summary that is kept cover these memories of its owner; those that are not there are passed over."""
        ...

    async def covered(self, owner: OwnerAt, places: Sequence[tuple[int, int]]) -> frozenset[tuple[int, int]]:
        """Which of these (space, place) are covered by a summary that the owner has at the turn."""
        ...

    async def resting_on(self, owner: Owner, turn_id: str) -> list[Memory]:
        """The beliefs and reflections of an owner, on any line, that have a turn among their evidence."""
        ...

    async def without_vector(self, embedder: str, *, limit: int) -> list[Memory]:
        """Some whose vector is missing, or of another embedder."""
        ...

    async def count_without_vector(self, embedder: str) -> int: ...

    async def put_vectors(self, embedder: str, vectors: Mapping[str, bytes]) -> None: ...


def memory_doc(memory: NewMemory) -> JsonObject:
    """What of a memory is kept as a document: what nobody searches by."""
    return {
        "emotion": memory.feeling.emotion,
        "arousal": memory.feeling.arousal,
        "certainty": memory.certainty,
        "told_by": memory.told_by,
        "canon": memory.canon,
        "evidence": list(memory.evidence),
        "renditions": [],
    }
