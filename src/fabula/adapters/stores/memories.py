"""Memories in SQL: lines, spaces, and the postings by which candidates are found; see `memory_tables`.

1. `line_stretches` says what is known at a turn: stretches of lines, each up to a place.
2. A past of few memories is read whole. In a larger one the postings of the rarest words are read under a budget, and
   the memories around the best places; see `memory_places`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import isfinite, log
from typing import Any, get_args

from sqlalchemy import Executable

from fabula.adapters.stores import memory_tables as t
from fabula.adapters.stores.memory_places import (
    PLACES,
    Stretch,
    best_spots,
    concatenated,
    read_places,
    stretches_around,
    weigh_spots,
)
from fabula.adapters.stores.sql import Steps
from fabula.adapters.stores.tables import LOCK_NAME, Access, few_lengths, legible, pack, portions, spelled, unpack
from fabula.adapters.stores.whole_rows import page_steps, whole_rows
from fabula.ports.errors import NotFound
from fabula.ports.memories import (
    Candidates,
    Feeling,
    Findable,
    Memory,
    MemoryChange,
    MemoryKind,
    MemoryOrder,
    NewMemory,
    Owner,
    OwnerAt,
    memory_doc,
    with_rendition,
)
from fabula.ports.stored import NOT_READ, damaged
from fabula.story.values import JsonObject

STEPS_UP = 256
"""How far above a turn one on a line is looked for; above that are turns from before there were memories."""
MOST_STRETCHES = 1_000
READ_WHOLE = 700
"""A past of up to so many memories is read whole."""
COUNTED = 1000
"""So many postings of a word are read at once; how common a more common one is, is reckoned from their density."""
POSTINGS_BUDGET = 16_000
"""So many postings of a question's rarest words are read, each word to its end."""
BEST_SPOTS = 192
FEWEST_SPOTS = 4
AROUND = 1
"""So many memories before and after one are read with it: so far words are lent."""
MOST_NAMES = 64
PINNED = 14
"""The column of a candidate row that says that it is pinned."""

KnownLine = tuple[int, int]
"""A line, and the last place on it that is known."""


@dataclass(frozen=True, kw_only=True)
class _Asked:
    """What candidates are asked for; see `Memories.candidates`."""

    stems: Sequence[str]
    whole: int

    @property
    def spots(self) -> int:
        # Who wants few memories whole wants few of a large past, too.
        return BEST_SPOTS * self.whole // READ_WHOLE


class SqlMemories:
    def __init__(self, access: Access) -> None:
        self._access = access
        self._connection = access.connection
        self._clock = access.clock

    async def add(self, scope: str, turn_id: str | None, memories: Sequence[NewMemory]) -> None:
        # Two writers of one scope must not count up to the same number. Those of two scopes wait for each other only
        # when they begin a line or a space, whose numbers are of all scopes.
        await self._access.lock(f"memories of {scope}")
        now = self._clock.now_ms()
        await self._connection.run(_add_memories(self._access.locks, spelled(scope), turn_id, memories, now))

    async def unplaced(self, turn_id: str, *, within: int) -> list[str]:
        return await self._connection.run(_read_unplaced(spelled(turn_id), within))

    async def names(self, owner: OwnerAt) -> list[str]:
        return await self._connection.run(_read_names(owner))

    async def owners(self, scope: str, turn_id: str | None) -> list[str]:
        return await self._connection.run(_read_owners(scope, turn_id))

    async def candidates(self, owner: OwnerAt, stems: Sequence[str], *, whole: int = READ_WHOLE) -> Candidates:
        asked = _Asked(stems=[spelled(stem) for stem in stems], whole=whole)
        return await self._connection.run(_find_candidates(owner, asked))

    async def at_places(self, owner: OwnerAt, places: Sequence[tuple[int, int]]) -> list[Memory]:
        return await self._connection.run(_read_places(owner.owner, places))

    async def get(self, memory_id: str) -> Memory | None:
        row = (await self._connection.execute(t.GET, {"memory": spelled(memory_id)})).first()
        return None if row is None else _memory(row, Owner(scope=row.scope, name=row.owner))

    async def page(
        self,
        owner: OwnerAt,
        *,
        kind: MemoryKind | None = None,
        order: MemoryOrder = "newest",
        after: tuple[int, int] | None = None,
        limit: int = 100,
    ) -> list[Memory]:
        return await self._connection.run(_read_page(owner, kind, order, after, limit))

    async def change(self, memory_id: str, change: MemoryChange) -> Memory:
        await self._access.lock("memories")
        await self._connection.run(_change(spelled(memory_id), change))
        found = await self.get(memory_id)
        assert found is not None
        return found

    async def count_recalls(self, memory_ids: Sequence[str]) -> None:
        for some in portions(sorted(set(memory_ids))):
            await self._connection.execute(t.COUNT_RECALLS, {"memories": some})

    async def forget(self, memory_id: str) -> bool:
        return await self._connection.run(_forget(spelled(memory_id)))

    async def cover(self, summary_id: str, memory_ids: Sequence[str]) -> None:
        await self._access.lock("memories")
        await self._connection.run(_cover(spelled(summary_id), [spelled(one) for one in memory_ids]))

    async def covered(self, owner: OwnerAt, places: Sequence[tuple[int, int]]) -> frozenset[tuple[int, int]]:
        return await self._connection.run(_read_covered(owner, places))

    async def resting_on(self, owner: Owner, turn_id: str) -> list[Memory]:
        values = {"scope": spelled(owner.scope), "owner": spelled(owner.name), "named": spelled(turn_id)}
        rows = await self._connection.execute(t.RESTING_ON, values)
        found = whole_rows(rows, lambda row: _memory(row, owner))
        return [one for one in found if turn_id in (mark.removeprefix("!") for mark in one.evidence)]

    async def without_vector(self, embedder: str, *, limit: int) -> list[Memory]:
        return await self._connection.run(_read_without_vector(embedder, limit))

    async def count_without_vector(self, embedder: str) -> int:
        return await self._connection.run(_count_without_vector(embedder))

    async def put_vectors(self, embedder: str, vectors: Mapping[str, bytes]) -> None:
        rows = [{"memory": id, "new_vector": data, "new_embedder": embedder} for id, data in vectors.items()]
        if rows:
            await self._connection.execute(t.PUT_VECTOR, rows)


def _add_memories(locks: bool, scope: str, turn_id: str | None, memories: Sequence[NewMemory], now: int) -> Steps[None]:
    line, depth = yield from _stand_on_line(locks, scope, turn_id)
    if not memories:
        return
    by_owner: dict[str, list[NewMemory]] = {spelled(one.owner): [] for one in memories}
    for one in (yield from _unknown(memories)):
        by_owner[spelled(one.owner)].append(one)
    spaces = yield from _spaces_on(locks, line, list(by_owner))
    first, end = (0, 1 << 62) if turn_id is None else (depth * PLACES, (depth + 1) * PLACES - 1)
    lasts = yield from _last_places([space for space, _ in spaces.values()], end)
    rows, words, renamed = [], [], []
    for owner, new in by_owner.items():
        space, names = spaces[owner]
        last, number = lasts.get(space, (-1, 0))
        placed = list(zip(range(max(first, last + 1), end + 1), new, strict=False))
        rows += [
            _row(space, place, turn_id, one, now) | {"number": number + count}
            for count, (place, one) in enumerate(placed, 1)
        ]
        words += [word for place, one in placed for word in _words(space, place, one.findable)]
        renamed += _names_noted(space, names, placed)
    for statement, values in ((t.ADD_MEMORIES, rows), (t.ADD_WORDS, words), (t.RENAME_SPACE, renamed)):
        if values:
            yield statement, values


def _last_places(spaces: Sequence[int], end: int) -> Steps[dict[int, tuple[int, int]]]:
    """The last place in each space up to some place, and the number of what is there."""
    found = yield t.LAST_PLACES, {"spaces": few_lengths(spaces), "last": end}
    return {row.space_no: (row.place, row.number) for row in found}


def _other_embedders(embedder: str) -> Steps[list[str]]:
    """The names of all embedders but one, each found by one step in the index."""
    found: list[str] = []
    name: str | None = (yield t.FIRST_EMBEDDER, None).scalar()
    while name is not None:
        found += [name] if name != embedder else []
        name = (yield t.NEXT_EMBEDDER, {"after": name}).scalar()
    return found


def _read_without_vector(embedder: str, limit: int) -> Steps[list[Memory]]:
    found: list[Memory] = []
    for other in (yield from _other_embedders(embedder)):
        rows = yield t.OF_EMBEDDER, {"embedder": other, "most": limit - len(found)}
        found += whole_rows(rows, lambda row: _memory(row, Owner(scope=row.scope, name=row.owner)))
        if len(found) >= limit:
            break
    return found


def _count_without_vector(embedder: str) -> Steps[int]:
    count = 0
    for other in (yield from _other_embedders(embedder)):
        count += (yield t.COUNT_EMBEDDER, {"embedder": other}).scalar()
    return count


def _unknown(memories: Sequence[NewMemory]) -> Steps[list[NewMemory]]:
    """Those that are not kept yet."""
    known: set[str] = set()
    for some in portions([one.memory_id for one in memories]):
        known.update((yield t.KNOWN, {"memories": some}).scalars())
    return [one for one in memories if spelled(one.memory_id) not in known]


def _stand_on_line(locks: bool, scope: str, turn_id: str | None) -> Steps[tuple[int, int]]:
    """The line and depth of a turn; it and the turns above it are put on lines where they are not yet."""
    if turn_id is None:
        known = (yield t.LINE_OF_SCOPE, {"scope": scope}).scalar()
        return (known if known is not None else (yield from _new_line(locks, scope, None, 0))), 0
    above: list[tuple[str, int]] = []
    at: str | None = turn_id
    found: tuple[int, int] | None = None
    while at is not None and len(above) < STEPS_UP:
        row = (yield t.LINE_OF_TURN, {"turn": at}).first()
        if row is not None:
            found = (row.line_no, row.depth)
            break
        turn = (yield t.PARENT_OF, {"turn": at}).first()
        if turn is None:
            raise NotFound(f"There is no turn '{turn_id}'.")
        above.append((at, turn.depth))
        at = turn.parent_id
    for id, depth in reversed(above):
        line = yield from _line_below(locks, scope, found, depth)
        yield t.ADD_LINE_TURN, {"turn_id": id, "line_no": line, "depth": depth}
        found = (line, depth)
    assert found is not None
    return found


def _read_unplaced(turn_id: str, within: int) -> Steps[list[str]]:
    found: list[str] = []
    at: str | None = turn_id
    while at is not None and len(found) < within:
        if (yield t.LINE_OF_TURN, {"turn": at}).first() is not None:
            break
        found.append(at)
        at = (yield t.PARENT_OF, {"turn": at}).scalar()
    return found[::-1]


def _line_below(locks: bool, scope: str, parent: tuple[int, int] | None, depth: int) -> Steps[int]:
    """The line of a turn below one that stands on a line: the same, unless another turn goes on along it already."""
    if parent is None:
        return (yield from _new_line(locks, scope, None, 0))
    if (yield t.IS_TAKEN, {"line": parent[0], "depth": depth}).first() is None:
        return parent[0]
    return (yield from _new_line(locks, scope, parent[0], parent[1]))


def _new_line(locks: bool, scope: str, parent: int | None, fork_depth: int) -> Steps[int]:
    yield from _numbering(locks)
    number: int = (yield t.NEXT_LINE, None).scalar()
    yield t.ADD_LINE, {"line_no": number, "scope": scope, "parent_no": parent, "fork_depth": fork_depth}
    return number


def _spaces_on(locks: bool, line: int, owners: Sequence[str]) -> Steps[dict[str, tuple[int, str]]]:
    """The spaces of owners on a line, and the names in each as they are kept."""
    rows = yield t.SPACES_ON, {"line": line, "owners": few_lengths(owners)}
    found = {row.owner: (row.space_no, row.names) for row in rows}
    missing = [owner for owner in owners if owner not in found]
    if missing:
        yield from _numbering(locks)
        first: int = (yield t.NEXT_SPACE, None).scalar()
        new = {owner: (number, "") for number, owner in enumerate(missing, first)}
        yield (
            t.ADD_SPACE,
            [{"space_no": number, "line_no": line, "owner": owner, "names": ""} for owner, (number, _) in new.items()],
        )
        found.update(new)
    return found


def _numbering(locks: bool) -> Steps[None]:
    """Lets nobody else give out numbers of lines and spaces until this unit ends."""
    if locks:
        yield LOCK_NAME, {"name": "memories"}


def _names_noted(space: int, kept: str, placed: Sequence[tuple[int, NewMemory]]) -> list[dict[str, Any]]:
    """Who is named in new memories, each with the first place: who goes back knows nobody met later."""
    known = _unpacked(kept)
    first = dict(known)
    for place, one in placed:
        for name in (one.speaker, *one.people):
            plain = " ".join(legible(name).split())
            if plain and (plain in first or len(first) < MOST_NAMES):
                first[plain] = min(place, first.get(plain, place))
    if first == known:
        return []
    return [{"space": space, "new_names": "\n".join(f"{place}\t{name}" for name, place in first.items())}]


def _unpacked(text: str) -> dict[str, int]:
    """Names with their first places. At first they were kept without."""
    pairs = (line.rpartition("\t") for line in text.splitlines())
    return {name: int(place or 0) for place, _, name in pairs}


def line_stretches(scope: str, turn_id: str | None) -> Steps[list[KnownLine]]:
    """What is known at a turn, the newest stretch first. A turn on no line yet knows what those above do."""
    if turn_id is None:
        line = (yield t.LINE_OF_SCOPE, {"scope": spelled(scope)}).scalar()
        return [] if line is None else [(line, 1 << 62)]
    at: str | None = turn_id
    row = None
    for _ in range(STEPS_UP):
        if at is None or (row := (yield t.LINE_OF_TURN, {"turn": spelled(at)}).first()) is not None:
            break
        at = (yield t.PARENT_OF, {"turn": spelled(at)}).scalar()
    if row is None:
        return []
    stretches = [(row.line_no, (row.depth + 1) * PLACES - 1)]
    for above in (yield t.LINES_UP, {"line": row.line_no, "most": MOST_STRETCHES}):
        if above.parent_no is not None:
            stretches.append((above.parent_no, (above.fork_depth + 1) * PLACES - 1))
    return stretches


def _spaces_at(owner: OwnerAt) -> Steps[list[tuple[int, int, str]]]:
    """The spaces of an owner at a turn, oldest first: number, last place, names."""
    stretches = yield from line_stretches(owner.owner.scope, owner.turn_id)
    if not stretches:
        return []
    lines = sorted({line for line, _ in stretches})
    rows = yield t.SPACES_OF, {"owner": spelled(owner.owner.name), "lines": few_lengths(lines)}
    found = {row.line_no: row for row in rows}
    return [(found[line].space_no, last, found[line].names) for line, last in reversed(stretches) if line in found]


def _read_names(owner: OwnerAt) -> Steps[list[str]]:
    spaces = yield from _spaces_at(owner)
    named = (name for _, last, names in spaces for name, place in _unpacked(names).items() if place <= last)
    return list(dict.fromkeys(named))


def _read_owners(scope: str, turn_id: str | None) -> Steps[list[str]]:
    stretches = yield from line_stretches(scope, turn_id)
    if not stretches:
        return []
    return (yield t.OWNERS_OF, {"lines": sorted({line for line, _ in stretches})}).scalars()


def _find_candidates(owner: OwnerAt, asked: _Asked) -> Steps[Candidates]:
    found = yield from _find_alive(owner, asked)
    # A pinned one comes to mind wherever it is.
    covered = yield from _read_covered(owner, [(row[0], row[1]) for row in found.rows if not row[PINNED]])
    if not covered:
        return found
    kept = [at for at, row in enumerate(found.rows) if (row[0], row[1]) not in covered]
    return replace(
        found, rows=[found.rows[at] for at in kept], vectors=[found.vectors[at] for at in kept], total=found.total
    )


def _read_covered(owner: OwnerAt, places: Sequence[tuple[int, int]]) -> Steps[frozenset[tuple[int, int]]]:
    """Which places are covered at a turn; in a play without summaries that is one small question."""
    spaces = sorted({space for space, _ in places})
    if not spaces or (yield t.HAS_COVERS, {"spaces": few_lengths(spaces)}).first() is None:
        return frozenset()
    known = dict((yield from line_stretches(owner.owner.scope, owner.turn_id)))
    found: set[tuple[int, int]] = set()
    for space in spaces:
        for some in _chunks([place for number, place in places if number == space]):
            for row in (yield t.COVERS_OF, {"space": space, "places": some}):
                if row.line_no in known and row.from_place <= known[row.line_no]:
                    found.add((space, row.place))
    return frozenset(found)


def _cover(summary_id: str, memory_ids: Sequence[str]) -> Steps[None]:
    summary = (yield t.PLACES_OF, {"memories": [summary_id]}).first()
    if summary is None:
        raise NotFound(f"There is no memory '{summary_id}'.")
    known = set((yield t.COVERED_BY, {"summary": summary_id}).scalars())
    rows = []
    for some in portions([one for one in memory_ids if one not in known]):
        rows += [
            {
                "space_no": row.space_no,
                "place": row.place,
                "line_no": summary.line_no,
                "from_place": summary.place,
                "summary_id": summary_id,
            }
            for row in (yield t.PLACES_OF, {"memories": some})
        ]
    if rows:
        yield t.ADD_COVERS, rows


def _forget(memory_id: str) -> Steps[bool]:
    is_known, waiting, first = False, [memory_id], True
    while waiting:
        one = waiting.pop()
        for summary_id in list((yield t.SUMMARIES_OF, {"memory": one}).scalars()):
            yield t.UNCOVER, {"summary": summary_id}
            yield t.FORGET, {"memory": summary_id}
        # What it covers may stand in other summaries, too, on other branches.
        waiting += (yield t.COVERED_BY, {"summary": one}).scalars()
        yield t.UNCOVER, {"summary": one}
        gone = (yield t.FORGET, {"memory": one}).rowcount > 0
        is_known, first = (gone if first else is_known), False
    return is_known


def _find_alive(owner: OwnerAt, asked: _Asked) -> Steps[Candidates]:
    """Candidates, also those that a summary covers.

    In a past of many, what is covered counts for how common words are: that is only a measure.
    """
    spaces = yield from _spaces_at(owner)
    if not spaces:
        return Candidates()
    total = 0
    for space, last, _ in spaces:
        total += (yield t.LAST_NUMBER, {"space": space, "last": last}).scalar() or 0
    if total > asked.whole:
        known = [(space, last) for space, last, _ in spaces]
        return (yield from _find_by_postings(known, asked, total, by_turns=owner.turn_id is not None))
    rows: list[Any] = []
    for space, last, _ in spaces:
        rows += (yield t.WHOLE_PAST, {"space": space, "last": last, "most": asked.whole}).plain
    return Candidates(rows=[row[:-1] for row in rows], vectors=[row[-1] for row in rows], total=len(rows))


def _find_by_postings(
    spaces: Sequence[tuple[int, int]], asked: _Asked, total: int, *, by_turns: bool
) -> Steps[Candidates]:
    postings, counts = yield from _read_postings(spaces, asked.stems)
    stems = sorted((stem for stem in counts if counts[stem]), key=lambda one: (counts[one], one))
    rarities = [log(1 + total / counts[stem]) for stem in stems]
    spots = [
        found
        for at, (space, _) in enumerate(spaces)
        if (found := weigh_spots(space, [postings[stem][at] for stem in stems], rarities, by_turns=by_turns))
    ]
    # A turn leaves several memories, so fewer turns are as many memories.
    per_spot = max(1, total * PLACES // (max(last for _, last in spaces) + 1)) if by_turns else 1
    best = best_spots(spots, max(FEWEST_SPOTS, asked.spots // per_spot))
    stretches = stretches_around(best, by_turns=by_turns, around=1 if by_turns else AROUND)
    rows, breaks = yield from _read_stretches(spaces, stretches)
    return Candidates(
        rows=[row[:-1] for row in rows],
        vectors=[row[-1] for row in rows],
        total=total,
        counts=counts,
        breaks=breaks,
    )


def _read_postings(
    spaces: Sequence[tuple[int, int]], stems: Sequence[str]
) -> Steps[tuple[dict[str, list[Any]], dict[str, int]]]:
    """The places of each stem, by space, and how many there are in all: of each the newest, then the rarest to their
    end while the budget lasts."""
    postings: dict[str, list[Any]] = {}
    counts: dict[str, int] = {}
    for stem in dict.fromkeys(stems):
        counts[stem], postings[stem] = 0, []
        for space, last in spaces:
            values = {"space": space, "word": stem, "last": last, "most": COUNTED}
            places = read_places((yield t.POSTINGS, values).scalar())
            counts[stem] += _reckoned_count(places)
            postings[stem].append(places)
    budget = POSTINGS_BUDGET
    for stem in sorted(counts, key=lambda one: (counts[one], one)):
        if counts[stem] > budget:
            break
        for at, (space, _) in enumerate(spaces):
            newest = postings[stem][at]
            if len(newest) == COUNTED:
                older = {"space": space, "word": stem, "last": int(newest.min()) - 1, "most": budget}
                more = read_places((yield t.POSTINGS, older).scalar())
                postings[stem][at] = concatenated(newest, more)
        budget -= sum(map(len, postings[stem]))
        counts[stem] = sum(map(len, postings[stem]))
    return postings, counts


def _reckoned_count(places: Any) -> int:
    """How many there are in all, when the newest were read: where reading stopped, by how densely they stand."""
    if len(places) < COUNTED:
        return len(places)
    newest, oldest = int(places.max()), int(places.min())
    return int(COUNTED * max(1, newest) / max(1, newest - oldest))


def _read_stretches(
    spaces: Sequence[tuple[int, int]], stretches: Sequence[Stretch]
) -> Steps[tuple[list[Any], frozenset[tuple[int, int]]]]:
    """The rows of stretches, in their order, and the places with which one begins."""
    rows: list[Any] = []
    breaks: set[tuple[int, int]] = set()
    for space, last in spaces:
        own = [one for one in stretches if one.space == space and one.first <= last]
        for start in range(0, len(own), t.MOST_STRETCHES):
            some = few_lengths(own[start : start + t.MOST_STRETCHES])
            values = {"space": space, "most": READ_WHOLE, "known": last}
            for at, one in enumerate(some):
                values |= {f"first_{at}": one.first, f"last_{at}": min(one.last, last)}
            found = sorted((yield t.stretches(len(some)), values).plain, key=lambda row: row[1])
            starts = iter(sorted({one.first for one in some}))
            begin = next(starts, None)
            for row in found:
                if begin is not None and row[1] >= begin:
                    breaks.add((space, row[1]))
                    while begin is not None and row[1] >= begin:
                        begin = next(starts, None)
            rows += found
    return rows, frozenset(breaks)


def _chunks(places: Sequence[int]) -> list[list[int]]:
    """Numbers in lists of few different lengths."""
    return [few_lengths(places)] if places else []


def _read_places(owner: Owner, places: Sequence[tuple[int, int]]) -> Steps[list[Memory]]:
    found: dict[tuple[int, int], Memory] = {}
    for space in dict.fromkeys(space for space, _ in places):
        for some in _chunks([place for number, place in places if number == space]):
            rows = yield t.THESE, {"space": space, "places": some}
            found |= dict(whole_rows(rows, lambda row: ((row.space_no, row.place), _memory(row, owner))))
    return [found[place] for place in places if place in found]


def _read_page(
    owner: OwnerAt, kind: MemoryKind | None, order: MemoryOrder, after: tuple[int, int] | None, limit: int
) -> Steps[list[Memory]]:
    spaces = [(space, last) for space, last, _ in (yield from _spaces_at(owner))]
    if order == "newest":
        spaces.reverse()
    if after is not None and after[0] in [space for space, _ in spaces]:
        spaces = spaces[[space for space, _ in spaces].index(after[0]) :]
    found: list[Memory] = []
    whole = partial(_memory, owner=owner.owner)
    for space, last in spaces:
        start = after[1] if after is not None and after[0] == space else None
        values: dict[str, Any] = {"space": space, "last": last}
        if kind is not None:
            values["kind"] = kind
        if order == "newest":
            page = t.PAGE_NEWEST if kind is None else t.KIND_NEWEST
            values["before"] = last + 1 if start is None else start
        else:
            page = t.PAGE_OLDEST if kind is None else t.KIND_OLDEST
            values["after"] = -1 if start is None else start
        found += yield from page_steps(partial(_rows_of, page, values), whole, limit - len(found))
        if len(found) >= limit:
            break
    return found[:limit]


def _rows_of(page: Executable, values: dict[str, Any], most: int) -> Steps[list[Any]]:
    return list((yield page, {**values, "most": most}))


def _change(memory_id: str, change: MemoryChange) -> Steps[None]:
    row = (yield t.GET, {"memory": memory_id}).first()
    if row is None:
        raise NotFound(f"There is no memory '{memory_id}'.")
    doc = unpack("memory", row.doc)
    if change.text is not None:
        renditions = doc["renditions"]
        assert isinstance(renditions, list)
        doc = {**doc, "renditions": [*with_rendition([str(one) for one in renditions], legible(change.text))]}
    if change.certainty is not None:
        doc = {**doc, "certainty": change.certainty}
    yield (
        t.CHANGE,
        {
            "memory": memory_id,
            "new_pinned": row.pinned if change.pinned is None else int(change.pinned),
            "new_importance": row.importance if change.importance is None else change.importance,
            "new_fidelity": row.fidelity if change.fidelity is None else change.fidelity,
            "new_doc": pack("memory", doc),
        },
    )
    if change.findable is not None:
        found = _findable_row(change.findable)
        yield (
            t.REFIND,
            {
                "memory": memory_id,
                **{
                    f"new_{name}": found[name]
                    for name in ("words", "stems", "language", "signs", "dates", "vector", "embedder")
                },
            },
        )
        yield t.FORGET_WORDS, {"space": row.space_no, "at": row.place}
        if words := _words(row.space_no, row.place, change.findable):
            yield t.ADD_WORDS, words


def _row(space: int, place: int, turn_id: str | None, one: NewMemory, now: int) -> dict[str, Any]:
    return {
        "space_no": space,
        "place": place,
        "memory_id": spelled(one.memory_id),
        "turn_id": turn_id,
        "kind": one.kind,
        "text": legible(one.text),
        "speaker": legible(one.speaker),
        "people": "\n".join(legible(name).replace("\n", " ") for name in one.people),
        "scene": spelled(one.scene),
        "at_where": legible(one.where),
        "minute": one.minute,
        "importance": one.importance,
        "valence": one.feeling.valence,
        **_findable_row(one.findable),
        "day": one.findable.day,
        "pinned": 0,
        "recalls": 0,
        "fidelity": 1.0,
        "doc": pack("memory", memory_doc(one)),
        "created_at_ms": now,
    }


def _findable_row(found: Findable) -> dict[str, Any]:
    return {
        "words": legible(" ".join(found.words)),
        "stems": legible(" ".join(found.stems)),
        "language": found.language,
        "signs": found.signs,
        "dates": found.dates,
        "vector": found.vector,
        "embedder": found.embedder,
    }


def _words(space: int, place: int, found: Findable) -> list[dict[str, Any]]:
    return [{"space_no": space, "word": legible(word), "place": place} for word in dict.fromkeys(found.stems)]


def _memory(row: Any, owner: Owner) -> Memory:
    """A row as the port has it; raises StoreError that names it for one that is damaged."""
    try:
        return _whole_memory(row, owner)
    except NOT_READ as error:
        raise damaged(f"The memory '{row.memory_id}'", error) from None


def _figure(found: Any) -> Any:
    """A number; SQLite keeps any text in a column of numbers, and numbers without end."""
    if not isfinite(found):
        raise ValueError
    return found


_KINDS = frozenset(get_args(MemoryKind))


def _whole_memory(row: Any, owner: Owner) -> Memory:
    doc: JsonObject = unpack("memory", row.doc)
    evidence, renditions = doc["evidence"], doc["renditions"]
    assert isinstance(evidence, list) and isinstance(renditions, list) and row.kind in _KINDS
    return Memory(
        memory_id=row.memory_id,
        owner=owner,
        turn_id=row.turn_id,
        space=row.space_no,
        place=row.place,
        text=row.text,
        kind=row.kind,
        speaker=row.speaker,
        people=tuple(name for name in row.people.split("\n") if name),
        scene=row.scene,
        where=row.at_where,
        minute=row.minute,
        importance=_figure(row.importance),
        feeling=Feeling(emotion=doc["emotion"], valence=_figure(row.valence), arousal=doc["arousal"]),  # type: ignore[arg-type]
        certainty=doc["certainty"],  # type: ignore[arg-type]
        told_by=str(doc["told_by"]),
        canon=str(doc["canon"]),
        evidence=tuple(map(str, evidence)),
        pinned=bool(row.pinned),
        recalls=_figure(row.recalls),
        fidelity=_figure(row.fidelity),
        renditions=tuple(map(str, renditions)),
        created_at_ms=row.created_at_ms,
    )
