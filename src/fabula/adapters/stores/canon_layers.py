"""The canon of plays on both engines: changes by the turn they hang on, rulings by the turn that made them.

A row has the tree and the depth of its turn, so that the last ones of a line are found by an index; which of them are
on the line, the jumps of the turns tell.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Column, Index, PrimaryKeyConstraint, Table, Text, bindparam, delete, insert, or_, select

from fabula.adapters.stores.canon import content_ends
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
from fabula.ports.canon import ChangeRow
from fabula.ports.canon_layers import MOST_STAGED, CanonCommit, Ruling
from fabula.ports.errors import NotFound
from fabula.story.canon import Change, Decision, Verdict

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
_on_tree = (_s.tree_id == bindparam("tree")) & (_s.depth <= bindparam("deepest"))
STAGED = select(CANON_STAGED).where(_on_tree).order_by(_s.depth.desc(), _s.number.desc()).limit(bindparam("most"))
STAGED_ABOUT = (
    select(CANON_STAGED)
    .where(_on_tree)
    .where(
        or_(_s.subject.in_(bindparam("subjects", expanding=True)), _s.object.in_(bindparam("subjects", expanding=True)))
    )
    .order_by(_s.depth.desc(), _s.number.desc())
    .limit(bindparam("most"))
)
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
        return None if row is None else Change.model_validate(unpack("canon_change", row.doc))

    async def at(self, turn_id: str, *, about: Sequence[str] = (), limit: int = MOST_STAGED) -> list[ChangeRow]:
        turn = await self._turn(turn_id)
        found = await self._staged(turn, about, limit)
        ruled = await self._rulings(turn, [row.change_id for row in found])
        rows = [_change_row(row, ruled.get(row.change_id)) for row in found]
        return _with_replacements(rows)

    async def replaced(self, turn_id: str) -> frozenset[str]:
        turn = await self._turn(turn_id)
        asked = {"tree": turn.tree_id, "deepest": turn.depth}
        replacing = (await self._connection.execute(REPLACING, asked)).scalars()
        ruled = (await self._rulings(turn, list(dict.fromkeys(replacing)))).values()
        verdicts = [_verdict(row) for row in ruled if row.status == "committed"]
        return frozenset(old for verdict in verdicts if verdict is not None for old in verdict.retcons)

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

    async def _staged(self, turn: Any, about: Sequence[str], limit: int) -> list[Any]:
        """The rows of the line, oldest first."""
        asked = {"tree": turn.tree_id, "deepest": turn.depth, "most": limit}
        if about:
            rows = []
            for some in portions(list(about)):
                rows += list(await self._connection.execute(STAGED_ABOUT, {**asked, "subjects": some}))
            rows = list({row.change_id: row for row in rows}.values())
        else:
            rows = list(await self._connection.execute(STAGED, asked))
        line = await self._on_line(turn.turn_id, [row.turn_id for row in rows])
        return sorted((row for row in rows if row.turn_id in line), key=lambda row: (row.depth, row.number))

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


def _change_row(row: Any, ruled: Any) -> ChangeRow:
    change = Change.model_validate(unpack("canon_change", row.doc))
    if ruled is None:
        return ChangeRow(
            change=change, status="pending", created_at_ms=row.created_at_ms, updated_at_ms=row.created_at_ms
        )
    return ChangeRow(
        change=change,
        status=ruled.status,
        verdict=_verdict(ruled),
        decision=Decision.model_validate(unpack("canon_decision", ruled.decision)),
        created_at_ms=row.created_at_ms,
        updated_at_ms=ruled.ruled_at_ms,
    )


def _verdict(ruled: Any) -> Verdict | None:
    return None if ruled.verdict is None else Verdict.model_validate(unpack("canon_verdict", ruled.verdict))


def _with_replacements(rows: list[ChangeRow]) -> list[ChangeRow]:
    """The rows, where those that a committed one replaces say so: on this line, and on no other."""
    by = {
        old: row.change.change_id for row in rows if row.status == "committed" and row.verdict
        for old in row.verdict.retcons
    }  # fmt: skip
    return [
        ChangeRow(**{**vars(row), "replaced_by": by[row.change.change_id]}) if row.change.change_id in by else row
        for row in rows
    ]
