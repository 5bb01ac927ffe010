"""Memories in SQL: lines, spaces, and the postings by which candidates are found; see `memory_tables`.

1. `line_stretches` says what is known at a turn: stretches of lines, each up to a place.
2. A past of few memories is read whole. In a larger one the postings of the rarest words are read under a budget, and
   the scenes of the best places are read whole.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import log
from typing import Any

from fabula.adapters.stores import memory_tables as t
from fabula.adapters.stores.sql import Steps
from fabula.adapters.stores.tables import Access, legible, pack, portions, spelled, unpack
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
from fabula.story.values import JsonObject

PLACES = 1024
"""So many memories of one owner a turn may leave."""
STEPS_UP = 256
"""How far above a turn one on a line is looked for; above that are turns from before there were memories."""
MOST_STRETCHES = 1_000
READ_WHOLE = 700
"""A past of up to so many memories is read whole."""
COUNTED = 300
"""So many postings of a word are read at most; how common a more common one is, is reckoned from their density."""
POSTINGS_BUDGET = 1000
BEST_PLACES = 64
BEST_SCENES = 16
MOST_NAMES = 64
PINNED = 14
"""The column of a candidate row that says that it is pinned."""

Stretch = tuple[int, int]
"""A line, and the last place on it that is known."""


class SqlMemories:
    def __init__(self, access: Access) -> None:
        self._access = access
        self._connection = access.connection
        self._clock = access.clock

    async def add(self, scope: str, turn_id: str | None, memories: Sequence[NewMemory]) -> None:
        # Two writers of one scope must not count up to the same number; numbers of lines and spaces are of all scopes.
        await self._access.lock("memories")
        now = self._clock.now_ms()
        await self._connection.run(_add_memories(spelled(scope), turn_id, memories, now))

    async def unplaced(self, turn_id: str, *, within: int) -> list[str]:
        return await self._connection.run(_read_unplaced(spelled(turn_id), within))

    async def names(self, owner: OwnerAt) -> list[str]:
        return await self._connection.run(_read_names(owner))

    async def owners(self, scope: str, turn_id: str | None) -> list[str]:
        return await self._connection.run(_read_owners(scope, turn_id))

    async def candidates(self, owner: OwnerAt, stems: Sequence[str], *, whole: int = READ_WHOLE) -> Candidates:
        return await self._connection.run(_find_candidates(owner, [spelled(stem) for stem in stems], whole))

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
        found = [_memory(row, owner) for row in rows]
        return [one for one in found if turn_id in (mark.removeprefix("!") for mark in one.evidence)]

    async def without_vector(self, embedder: str, *, limit: int) -> list[Memory]:
        return await self._connection.run(_read_without_vector(embedder, limit))

    async def count_without_vector(self, embedder: str) -> int:
        return await self._connection.run(_count_without_vector(embedder))

    async def put_vectors(self, embedder: str, vectors: Mapping[str, bytes]) -> None:
        rows = [{"memory": id, "new_vector": data, "new_embedder": embedder} for id, data in vectors.items()]
        if rows:
            await self._connection.execute(t.PUT_VECTOR, rows)


def _add_memories(scope: str, turn_id: str | None, memories: Sequence[NewMemory], now: int) -> Steps[None]:
    line, depth = yield from _stand_on_line(scope, turn_id)
    by_owner: dict[str, list[NewMemory]] = {}
    for one in memories:
        by_owner.setdefault(spelled(one.owner), []).append(one)
    for owner, own in by_owner.items():
        space, names = yield from _space(line, owner)
        new = yield from _unknown(own)
        if turn_id is None:
            first, end = 0, 1 << 62
        else:
            first, end = depth * PLACES, (depth + 1) * PLACES - 1
        last = (yield t.LAST_PLACE, {"space": space, "first": 0, "last": end}).first()
        start = first if last is None or last.place < first else last.place + 1
        placed = list(zip(range(start, end + 1), new, strict=False))
        number = 0 if last is None else last.number
        if placed:
            yield (
                t.ADD_MEMORIES,
                [
                    _row(space, place, turn_id, one, now) | {"number": number + count}
                    for count, (place, one) in enumerate(placed, 1)
                ],
            )
        words = [word for place, one in placed for word in _words(space, place, one.findable)]
        if words:
            yield t.ADD_WORDS, words
        yield from _note_names(space, names, placed)


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
        found += [_memory(row, Owner(scope=row.scope, name=row.owner)) for row in rows]
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


def _stand_on_line(scope: str, turn_id: str | None) -> Steps[tuple[int, int]]:
    """The line and depth of a turn; it and the turns above it are put on lines where they are not yet."""
    if turn_id is None:
        known = (yield t.LINE_OF_SCOPE, {"scope": scope}).scalar()
        return (known if known is not None else (yield from _new_line(scope, None, 0))), 0
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
        line = yield from _line_below(scope, found, depth)
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


def _line_below(scope: str, parent: tuple[int, int] | None, depth: int) -> Steps[int]:
    """The line of a turn below one that stands on a line: the same, unless another turn goes on along it already."""
    if parent is None:
        return (yield from _new_line(scope, None, 0))
    if (yield t.IS_TAKEN, {"line": parent[0], "depth": depth}).first() is None:
        return parent[0]
    return (yield from _new_line(scope, parent[0], parent[1]))


def _new_line(scope: str, parent: int | None, fork_depth: int) -> Steps[int]:
    number: int = (yield t.NEXT_LINE, None).scalar()
    yield t.ADD_LINE, {"line_no": number, "scope": scope, "parent_no": parent, "fork_depth": fork_depth}
    return number


def _space(line: int, owner: str) -> Steps[tuple[int, str]]:
    """The space of an owner on a line, and the names in it as they are kept."""
    row = (yield t.SPACE_OF, {"line": line, "owner": owner}).first()
    if row is not None:
        return row.space_no, row.names
    number: int = (yield t.NEXT_SPACE, None).scalar()
    yield t.ADD_SPACE, {"space_no": number, "line_no": line, "owner": owner, "names": ""}
    return number, ""


def _note_names(space: int, kept: str, placed: Sequence[tuple[int, NewMemory]]) -> Steps[None]:
    """Keeps who is named in new memories, each with the first place: who goes back knows nobody met later."""
    known = _unpacked(kept)
    first = dict(known)
    for place, one in placed:
        for name in (one.speaker, *one.people):
            plain = " ".join(legible(name).split())
            if plain and (plain in first or len(first) < MOST_NAMES):
                first[plain] = min(place, first.get(plain, place))
    if first != known:
        packed = "\n".join(f"{place}\t{name}" for name, place in first.items())
        yield t.RENAME_SPACE, {"space": space, "new_names": packed}


def _unpacked(text: str) -> dict[str, int]:
    """Names with their first places. At first they were kept without."""
    pairs = (line.rpartition("\t") for line in text.splitlines())
    return {name: int(place or 0) for place, _, name in pairs}


def line_stretches(scope: str, turn_id: str | None) -> Steps[list[Stretch]]:
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
    # Lists of few different lengths: each length is a statement of its own.
    asked = lines + lines[-1:] * ((1 << (len(lines) - 1).bit_length()) - len(lines))
    rows = yield t.SPACES_OF, {"owner": spelled(owner.owner.name), "lines": asked}
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


def _find_candidates(owner: OwnerAt, stems: Sequence[str], whole: int) -> Steps[Candidates]:
    found = yield from _find_alive(owner, stems, whole)
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
    if not spaces or (yield t.HAS_COVERS, {"spaces": _padded(spaces)}).first() is None:
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


def _find_alive(owner: OwnerAt, stems: Sequence[str], whole: int) -> Steps[Candidates]:
    """Candidates, also those that a summary covers.

    In a past of many, what is covered counts for how common words are: that is only a measure.
    """
    spaces = yield from _spaces_at(owner)
    if not spaces:
        return Candidates()
    total = 0
    for space, last, _ in spaces:
        total += (yield t.LAST_NUMBER, {"space": space, "last": last}).scalar() or 0
    if total > whole:
        # Who wants few memories whole wants few scenes, too.
        scenes = max(4, BEST_SCENES * whole // READ_WHOLE)
        return (yield from _find_by_postings([(space, last) for space, last, _ in spaces], stems, total, scenes))
    rows: list[Any] = []
    for space, last, _ in spaces:
        rows += yield t.WHOLE_PAST, {"space": space, "last": last, "most": whole}
    return Candidates(rows=[row[:-1] for row in rows], vectors=[row[-1] for row in rows], total=len(rows))


def _find_by_postings(
    spaces: Sequence[tuple[int, int]], stems: Sequence[str], total: int, scenes: int
) -> Steps[Candidates]:
    postings: dict[str, list[tuple[int, int]]] = {}
    counts: dict[str, int] = {}
    for stem in stems:
        counts[stem] = 0
        for space, last in spaces:
            values = {"space": space, "word": stem, "last": last, "most": COUNTED}
            places = (yield t.POSTINGS, values).scalars()
            counts[stem] += _reckoned_count(places, last)
            postings.setdefault(stem, []).extend((space, place) for place in places)
    scores: dict[tuple[int, int], float] = {}
    budget = POSTINGS_BUDGET
    for stem in sorted(stems, key=lambda one: (counts[one], one)):
        if budget <= 0 or not counts[stem]:
            continue
        rarity = log(1 + total / counts[stem])
        for place in postings[stem][:budget]:
            scores[place] = scores.get(place, 0.0) + rarity
        budget -= len(postings[stem])
    best = sorted(scores, key=lambda place: (-scores[place], -place[1]))[:BEST_PLACES]
    rows = yield from _read_best_scenes(spaces, best, scores, scenes)
    return Candidates(rows=[row[:-1] for row in rows], vectors=[row[-1] for row in rows], total=total, counts=counts)


def _reckoned_count(places: Sequence[int], last: int) -> int:
    """How many there are in all, when the newest were read: where reading stopped, by how densely they stand."""
    if len(places) < COUNTED:
        return len(places)
    newest = places[0]
    return int(COUNTED * max(1, newest) / max(1, newest - places[-1]))


def _read_best_scenes(
    spaces: Sequence[tuple[int, int]],
    best: Sequence[tuple[int, int]],
    scores: Mapping[tuple[int, int], float],
    most: int,
) -> Steps[list[Any]]:
    worth: dict[tuple[int, str], float] = {}
    for space, _ in spaces:
        own = [place for number, place in best if number == space]
        for some in _chunks(own):
            for row in (yield t.SCENES_AT, {"space": space, "places": some}):
                key = (space, row.scene)
                worth[key] = worth.get(key, 0.0) + scores[space, row.place]
    chosen = sorted(worth, key=lambda key: -worth[key])[:most]
    rows: list[Any] = []
    for space, last in spaces:
        scenes = [scene for number, scene in chosen if number == space]
        for named in portions(scenes):
            found = yield t.WHOLE_SCENES, {"space": space, "last": last, "scenes": named, "most": READ_WHOLE}
            rows += sorted(found, key=lambda row: row.place)
    return rows


def _chunks(places: Sequence[int]) -> list[list[int]]:
    """Numbers in lists of few different lengths."""
    if not places:
        return []
    return [_padded(places)]


def _padded(numbers: Sequence[int]) -> list[int]:
    some = list(numbers)
    return some + some[-1:] * ((1 << (len(some) - 1).bit_length()) - len(some))


def _read_places(owner: Owner, places: Sequence[tuple[int, int]]) -> Steps[list[Memory]]:
    found: dict[tuple[int, int], Memory] = {}
    for space in dict.fromkeys(space for space, _ in places):
        for some in _chunks([place for number, place in places if number == space]):
            for row in (yield t.THESE, {"space": space, "places": some}):
                found[row.space_no, row.place] = _memory(row, owner)
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
    for space, last in spaces:
        start = after[1] if after is not None and after[0] == space else None
        values: dict[str, Any] = {"space": space, "last": last, "most": limit - len(found)}
        if kind is not None:
            values["kind"] = kind
        if order == "newest":
            page = t.PAGE_NEWEST if kind is None else t.KIND_NEWEST
            rows = yield page, {**values, "before": last + 1 if start is None else start}
        else:
            page = t.PAGE_OLDEST if kind is None else t.KIND_OLDEST
            rows = yield page, {**values, "after": -1 if start is None else start}
        found += [_memory(row, owner.owner) for row in rows]
        if len(found) >= limit:
            break
    return found[:limit]


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
                    f"new_{name}": found[name] for name in ("words", "language", "signs", "dates", "vector", "embedder")
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
        "language": found.language,
        "signs": found.signs,
        "dates": found.dates,
        "vector": found.vector,
        "embedder": found.embedder,
    }


def _words(space: int, place: int, found: Findable) -> list[dict[str, Any]]:
    return [{"space_no": space, "word": legible(word), "place": place} for word in dict.fromkeys(found.stems)]


def _memory(row: Any, owner: Owner) -> Memory:
    doc: JsonObject = unpack("memory", row.doc)
    evidence, renditions = doc["evidence"], doc["renditions"]
    assert isinstance(evidence, list) and isinstance(renditions, list)
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
        importance=row.importance,
        feeling=Feeling(emotion=doc["emotion"], valence=row.valence, arousal=doc["arousal"]),  # type: ignore[arg-type]
        certainty=doc["certainty"],  # type: ignore[arg-type]
        told_by=str(doc["told_by"]),
        canon=str(doc["canon"]),
        evidence=tuple(map(str, evidence)),
        pinned=bool(row.pinned),
        recalls=row.recalls,
        fidelity=row.fidelity,
        renditions=tuple(map(str, renditions)),
        created_at_ms=row.created_at_ms,
    )
