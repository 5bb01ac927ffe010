"""The canon of plays on both engines: changes by the turn they hang on, rulings by the turn that made them.

A row has the tree and the depth of its turn, so that the last ones of a line are found by an index; which of them are
on the line, the jumps of the turns tell.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from sqlalchemy import (
    BindParameter,
    Column,
    Index,
    PrimaryKeyConstraint,
    Select,
    Table,
    Text,
    bindparam,
    delete,
    insert,
    or_,
    select,
    tuple_,
)

from fabula.adapters.stores.canon import MOST_LETTERS, STATUS, content_ends
from fabula.adapters.stores.play_tables import GET_TURN
from fabula.adapters.stores.sql import Steps
from fabula.adapters.stores.tables import (
    METADATA,
    NAME,
    NUMBER,
    Access,
    Terms,
    add_or_change,
    pack,
    portions,
    spelled,
    unpack,
)
from fabula.adapters.stores.transcript_steps import read_on_line
from fabula.adapters.stores.whole_rows import read_whole_rows
from fabula.ports.canon import ChangeRow
from fabula.ports.canon_layers import CanonCommit, Ruling
from fabula.ports.errors import NotFound
from fabula.ports.stored import NOT_READ, damaged
from fabula.story.canon import Change, ChangeKind, Decision, Verdict

CANON_STAGED = Table(
    "canon_staged",
    METADATA,
    Column("change_id", NAME, nullable=False),
    Column("tree_id", NAME, nullable=False),
    Column("turn_id", NAME, nullable=False),
    Column("depth", NUMBER, nullable=False),
    Column("number", NUMBER, nullable=False),
    Column("subject", NAME, nullable=False),
    Column("object", NAME, nullable=False),
    Column("doc", Text, nullable=False),
    Column("created_at_ms", NUMBER, nullable=False),
    PrimaryKeyConstraint("change_id", name="canon_staged_pk"),
    Index("canon_staged_by_depth", "tree_id", "depth", "number"),
    Index("canon_staged_by_subject", "tree_id", "subject", "depth"),
    Index("canon_staged_by_object", "tree_id", "object", "depth"),
)

CANON_RULINGS = Table(
    "canon_rulings",
    METADATA,
    Column("tree_id", NAME, nullable=False),
    Column("change_id", NAME, nullable=False),
    Column("turn_id", NAME, nullable=False),
    Column("depth", NUMBER, nullable=False),
    Column("status", NAME, nullable=False),
    Column("verdict", Text),
    Column("decision", Text, nullable=False),
    Column("ruled_at_ms", NUMBER, nullable=False),
    PrimaryKeyConstraint("change_id", "turn_id", name="canon_rulings_pk"),
    Index("canon_rulings_by_tree", "tree_id"),
)

CANON_COMMITS = Table(
    "canon_commits",
    METADATA,
    Column("turn_id", NAME, nullable=False),
    Column("tree_id", NAME, nullable=False),
    Column("world_id", NAME, nullable=False),
    Column("why", NAME, nullable=False),
    Column("accepted", NUMBER, nullable=False),
    Column("rejected", NUMBER, nullable=False),
    Column("pending", NUMBER, nullable=False),
    Column("committed_at_ms", NUMBER, nullable=False),
    PrimaryKeyConstraint("turn_id", name="canon_commits_pk"),
    Index("canon_commits_by_tree", "tree_id"),
)

LATER = 1000
"""What is staged after a turn was committed comes after what it staged itself."""

_s, _r, _k = CANON_STAGED.c, CANON_RULINGS.c, CANON_COMMITS.c

STAGE = add_or_change(CANON_STAGED, None)
GET = select(CANON_STAGED).where(_s.change_id == bindparam("this"))
PAGE = 500
"""So many changes of a tree are read with one statement; of one that has more, page by page."""


@cache
def staged_on_tree(about: bool, of_kind: bool) -> Select[Any]:
    """Changes of a tree before a place in it, the last first."""
    # Two branches have turns of the same depth: the id tells apart what they staged.
    order = (_s.depth, _s.number, _s.change_id)
    before = tuple_(*order) < tuple_(bindparam("depth"), bindparam("number"), bindparam("change_id"))
    query = select(CANON_STAGED).where(_s.tree_id == bindparam("tree"), before)
    if about:
        subjects: BindParameter[str] = bindparam("subjects", expanding=True)
        query = query.where(or_(_s.subject.in_(subjects), _s.object.in_(subjects)))
    if of_kind:
        # The text tells the kind: no word that somebody wrote can look like this, its quotes would be escaped.
        query = query.where(_s.doc.like(bindparam("kind")))
    return query.order_by(*(column.desc() for column in order)).limit(PAGE)


RULINGS = (
    select(CANON_RULINGS)
    .where(_r.change_id.in_(bindparam("changes", expanding=True)), _r.depth <= bindparam("deepest"))
    .order_by(_r.depth)
)
# Few verdicts replace anything: the text tells which, so that only those are read.
REPLACING = select(_r.change_id).where(
    _r.tree_id == bindparam("tree"),
    _r.depth <= bindparam("deepest"),
    _r.status == "committed",
    _r.verdict.not_like('%"retcons":[]%'),
)
RULE = insert(CANON_RULINGS)
COMMIT_OF = select(CANON_COMMITS).where(_k.turn_id == bindparam("turn"))
ADD_COMMIT = insert(CANON_COMMITS)
REMOVE_LAYER = (
    delete(CANON_STAGED).where(_s.tree_id == bindparam("tree")),
    delete(CANON_RULINGS).where(_r.tree_id == bindparam("tree")),
    delete(CANON_COMMITS).where(_k.tree_id == bindparam("tree")),
)


def stage_changes(terms: Terms, changes: Sequence[Change], *, tree_id: str, depth: int, first: int = 0) -> Steps[None]:
    """Keeps changes that hang on one turn of this tree, numbered from the first on."""
    if changes:
        now = terms.clock.now_ms()
        rows = [_staged_row(change, tree_id, depth, number, now) for number, change in enumerate(changes, first)]
        yield STAGE, rows


class SqlCanonLayers:
    def __init__(self, access: Access) -> None:
        self._connection = access.connection
        self._clock = access.clock
        self._access = access

    async def stage(self, changes: Sequence[Change]) -> None:
        for turn_id in dict.fromkeys(change.turn_id or "" for change in changes):
            turn = await self._turn(turn_id)
            some = [change for change in changes if change.turn_id == turn_id]
            steps = stage_changes(self._access, some, tree_id=turn.tree_id, depth=turn.depth, first=LATER)
            await self._connection.run(steps)

    async def get(self, change_id: str) -> Change | None:
        row = (await self._connection.execute(GET, {"this": spelled(change_id)})).first()
        return None if row is None else _read_change(row)

    async def at(
        self,
        turn_id: str,
        *,
        about: Sequence[str] = (),
        kind: ChangeKind | None = None,
        only_open: bool = False,
        limit: int | None = None,
    ) -> list[ChangeRow]:
        turn = await self._turn(turn_id)
        asked: dict[str, Any] = {"kind": f'%"content":{{"kind":"{kind}"%'} if kind is not None else {}
        found: dict[str, tuple[Any, Any]] = {}
        for some in portions(list(about)) if about else (None,):
            named = {} if some is None else {"subjects": some}
            found |= await self._staged(turn, {**asked, **named}, only_open=only_open, limit=limit)
        pairs = sorted(found.values(), key=lambda pair: _place(pair[0]))
        pairs = pairs if limit is None else pairs[max(0, len(pairs) - limit) :]
        replaced = await self._replaced(turn) if pairs else {}
        return await _change_rows(pairs, replaced)

    async def find(self, turn_id: str, change_id: str) -> ChangeRow | None:
        turn = await self._turn(turn_id)
        row = (await self._connection.execute(GET, {"this": spelled(change_id)})).first()
        if row is None or not await self._on_line(turn_id, [row.turn_id]):
            return None
        ruled = (await self._rulings(turn, [change_id])).get(change_id)
        return _change_row(row, ruled, await self._replaced(turn))

    async def replaced(self, turn_id: str) -> Mapping[str, str]:
        return await self._replaced(await self._turn(turn_id))

    async def _replaced(self, turn: Any) -> Mapping[str, str]:
        asked = {"tree": turn.tree_id, "deepest": turn.depth}
        replacing = (await self._connection.execute(REPLACING, asked)).scalars()
        ruled = (await self._rulings(turn, list(dict.fromkeys(replacing)))).values()
        verdicts = [(row.change_id, _verdict(row)) for row in ruled if row.status == "committed"]
        return {old: by for by, verdict in verdicts if verdict is not None for old in verdict.retcons}

    async def commit(self, record: CanonCommit, rulings: Sequence[Ruling]) -> bool:
        turn = await self._turn(record.turn_id)
        await self._access.lock(f"canon of play {turn.tree_id}")
        if await self.commit_of(record.turn_id) is not None:
            return False
        now = self._clock.now_ms()
        if rulings:
            await self._connection.execute(RULE, [_ruling_row(one, turn, now) for one in rulings])
        row = {**vars(record), "tree_id": turn.tree_id, "committed_at_ms": now}
        await self._connection.execute(ADD_COMMIT, row)
        return True

    async def commit_of(self, turn_id: str) -> CanonCommit | None:
        row = (await self._connection.execute(COMMIT_OF, {"turn": spelled(turn_id)})).first()
        if row is None:
            return None
        return CanonCommit(**{name: value for name, value in row._asdict().items() if name != "tree_id"})

    async def _turn(self, turn_id: str) -> Any:
        row = (await self._connection.execute(GET_TURN, {"turn": spelled(turn_id)})).first()
        if row is None:
            raise NotFound(f"There is no turn named '{turn_id}'.", kind="turn", id=turn_id)
        return row

    async def _staged(
        self, turn: Any, asked: Mapping[str, Any], *, only_open: bool, limit: int | None
    ) -> dict[str, tuple[Any, Any]]:
        """Rows of the line with the last ruling on each, the last first: so many, or all."""
        query = staged_on_tree("subjects" in asked, "kind" in asked)
        place = {"tree": turn.tree_id, "depth": turn.depth + 1, "number": 0, "change_id": ""}
        found: dict[str, tuple[Any, Any]] = {}
        left = MOST_LETTERS
        while True:
            rows = list(await self._connection.execute(query, {**place, **asked}))
            line = await self._on_line(turn.turn_id, [row.turn_id for row in rows])
            mine = [row for row in rows if row.turn_id in line]
            ruled = await self._rulings(turn, [row.change_id for row in mine])
            pairs = [(row, ruled.get(row.change_id)) for row in mine]
            found |= {row.change_id: (row, one) for row, one in pairs if not only_open or _is_open(one)}
            left -= sum(len(row.doc) for row in mine)
            if len(rows) < PAGE or (limit is not None and (len(found) >= limit or left < 0)):
                return found
            last = rows[-1]
            place |= {"depth": last.depth, "number": last.number, "change_id": last.change_id}

    async def _rulings(self, turn: Any, changes: Sequence[str]) -> dict[str, Any]:
        """The last ruling on the line of each change that has one."""
        rows: list[Any] = []
        for some in portions(changes):
            rows += list(await self._connection.execute(RULINGS, {"changes": some, "deepest": turn.depth}))
        line = await self._on_line(turn.turn_id, [row.turn_id for row in rows])
        return {row.change_id: row for row in sorted(rows, key=lambda row: row.depth) if row.turn_id in line}

    async def _on_line(self, turn_id: str, turns: Sequence[str]) -> frozenset[str]:
        return await self._connection.run(read_on_line(turn_id, list(dict.fromkeys(turns))))


def _staged_row(change: Change, tree_id: str, depth: int, number: int, now: int) -> dict[str, Any]:
    subject, object = content_ends(change.content)
    return {
        "change_id": spelled(change.change_id),
        "tree_id": tree_id,
        "turn_id": change.turn_id,
        "depth": depth,
        "number": number,
        "subject": spelled(subject),
        "object": spelled(object),
        "doc": pack("canon_change", change.as_json()),
        "created_at_ms": now,
    }


def _ruling_row(ruling: Ruling, turn: Any, now: int) -> dict[str, Any]:
    return {
        "tree_id": turn.tree_id,
        "change_id": spelled(ruling.change_id),
        "turn_id": turn.turn_id,
        "depth": turn.depth,
        "status": ruling.status,
        "verdict": None if ruling.verdict is None else pack("canon_verdict", ruling.verdict.as_json()),
        "decision": pack("canon_decision", ruling.decision.as_json()),
        "ruled_at_ms": now,
    }


async def _change_rows(pairs: Sequence[tuple[Any, Any]], replaced: Mapping[str, str]) -> list[ChangeRow]:
    return await read_whole_rows(pairs, lambda pair: _change_row(pair[0], pair[1], replaced))


def _place(row: Any) -> tuple[int, int, str]:
    return row.depth, row.number, row.change_id


def _is_open(ruled: Any) -> bool:
    return ruled is None or ruled.status == "pending"


def _read_change(row: Any) -> Change:
    """A staged change; raises StoreError that names it for one that is damaged."""
    try:
        return Change.model_validate(unpack("canon_change", row.doc))
    except NOT_READ as error:
        raise damaged(f"The canon change '{row.change_id}'", error) from None


def _change_row(row: Any, ruled: Any, replaced: Mapping[str, str]) -> ChangeRow:
    """A row as the port has it; raises StoreError that names it for one that is damaged."""
    try:
        return _ruled_change(row, ruled, replaced)
    except NOT_READ as error:
        raise damaged(f"The canon change '{row.change_id}'", error) from None


def _ruled_change(row: Any, ruled: Any, replaced: Mapping[str, str]) -> ChangeRow:
    change = Change.model_validate(unpack("canon_change", row.doc))
    by = replaced.get(change.change_id)
    if ruled is None:
        return ChangeRow(
            change=change,
            status="pending",
            replaced_by=by,
            created_at_ms=row.created_at_ms,
            updated_at_ms=row.created_at_ms,
        )
    return ChangeRow(
        change=change,
        status=STATUS.validate_python(ruled.status),
        verdict=_verdict(ruled),
        decision=Decision.model_validate(unpack("canon_decision", ruled.decision)),
        replaced_by=by,
        created_at_ms=row.created_at_ms,
        updated_at_ms=ruled.ruled_at_ms,
    )


def _verdict(ruled: Any) -> Verdict | None:
    return None if ruled.verdict is None else Verdict.model_validate(unpack("canon_verdict", ruled.verdict))
