"""The tables of memories, and every statement on them; see `fabula.ports.memories`.

Turns stand on lines: the first child of a turn goes on along its line, every other one begins a line of its own. What
is known at a turn are then a few stretches, each of one line up to a depth, whatever was played beside them.

A space is what one owner has on one line. A place counts up within it: the depth of the turn, and the number there.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from sqlalchemy import (
    Column,
    Float,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    PrimaryKeyConstraint,
    Select,
    Table,
    Text,
    and_,
    bindparam,
    cast,
    delete,
    exists,
    func,
    insert,
    literal,
    literal_column,
    or_,
    select,
    update,
)

from fabula.adapters.stores.play_tables import TURNS
from fabula.adapters.stores.tables import METADATA, NAME, NUMBER

LINES = Table(
    "memory_lines",
    METADATA,
    Column("line_no", NUMBER, nullable=False, autoincrement=False),
    Column("scope", NAME, nullable=False),
    Column("parent_no", NUMBER),
    Column("fork_depth", NUMBER, nullable=False),
    PrimaryKeyConstraint("line_no", name="memory_lines_pk"),
    Index("memory_lines_by_scope", "scope", "line_no"),
)

LINE_TURNS = Table(
    "memory_turns",
    METADATA,
    Column("turn_id", NAME, nullable=False),
    Column("line_no", NUMBER, nullable=False),
    Column("depth", NUMBER, nullable=False),
    PrimaryKeyConstraint("turn_id", name="memory_turns_pk"),
    ForeignKeyConstraint(["line_no"], ["memory_lines.line_no"], name="memory_turns_line_fk", ondelete="CASCADE"),
    Index("memory_turns_by_line", "line_no", "depth", unique=True),
)

SPACES = Table(
    "memory_spaces",
    METADATA,
    Column("space_no", NUMBER, nullable=False, autoincrement=False),
    Column("line_no", NUMBER, nullable=False),
    Column("owner", NAME, nullable=False),
    Column("names", Text, nullable=False),
    PrimaryKeyConstraint("space_no", name="memory_spaces_pk"),
    ForeignKeyConstraint(["line_no"], ["memory_lines.line_no"], name="memory_spaces_line_fk", ondelete="CASCADE"),
    Index("memory_spaces_by_owner", "line_no", "owner", unique=True),
)

MEMORIES = Table(
    "memories",
    METADATA,
    Column("space_no", NUMBER, nullable=False),
    Column("place", NUMBER, nullable=False),
    Column("memory_id", NAME, nullable=False),
    Column("number", NUMBER, nullable=False, server_default="0"),
    Column("turn_id", NAME),
    Column("kind", NAME, nullable=False),
    Column("text", Text, nullable=False),
    Column("speaker", Text, nullable=False),
    Column("people", Text, nullable=False),
    Column("scene", NAME, nullable=False),
    Column("at_where", Text, nullable=False),
    Column("minute", NUMBER, nullable=False),
    Column("importance", Integer, nullable=False),
    Column("valence", Float, nullable=False),
    Column("words", Text, nullable=False),
    Column("stems", Text, nullable=False, server_default=""),
    Column("language", NAME, nullable=False),
    Column("signs", Text, nullable=False),
    Column("dates", Text, nullable=False),
    Column("day", Text, nullable=False),
    Column("pinned", Integer, nullable=False),
    Column("recalls", NUMBER, nullable=False),
    Column("fidelity", Float, nullable=False),
    Column("doc", Text, nullable=False),
    Column("vector", LargeBinary, nullable=False),
    Column("embedder", NAME, nullable=False),
    Column("created_at_ms", NUMBER, nullable=False),
    PrimaryKeyConstraint("space_no", "place", name="memories_pk"),
    ForeignKeyConstraint(["space_no"], ["memory_spaces.space_no"], name="memories_space_fk", ondelete="CASCADE"),
    Index("memories_by_id", "memory_id", unique=True),
    Index("memories_by_scene", "space_no", "scene", "place"),
    Index("memories_by_embedder", "embedder", "memory_id"),
    Index("memories_by_kind", "space_no", "kind", "place"),
)

MEMORY_WORDS = Table(
    "memory_words",
    METADATA,
    Column("space_no", NUMBER, nullable=False),
    Column("word", NAME, nullable=False),
    Column("place", NUMBER, nullable=False),
    PrimaryKeyConstraint("space_no", "word", "place", name="memory_words_pk"),
    ForeignKeyConstraint(
        ["space_no", "place"], ["memories.space_no", "memories.place"], name="memory_words_memory_fk",
        ondelete="CASCADE",
    ),
    Index("memory_words_by_memory", "space_no", "place"),
    sqlite_with_rowid=False,
)  # fmt: skip

COVERS = Table(
    "memory_covers",
    METADATA,
    Column("space_no", NUMBER, nullable=False),
    Column("place", NUMBER, nullable=False),
    Column("line_no", NUMBER, nullable=False),
    Column("from_place", NUMBER, nullable=False),
    Column("summary_id", NAME, nullable=False),
    PrimaryKeyConstraint("space_no", "place", "summary_id", name="memory_covers_pk"),
    ForeignKeyConstraint(
        ["space_no", "place"], ["memories.space_no", "memories.place"], name="memory_covers_memory_fk",
        ondelete="CASCADE",
    ),
    Index("memory_covers_by_summary", "summary_id"),
)  # fmt: skip
"""What a summary covers, and from which place on which line on."""

_l, _t, _s, _m, _w = LINES.c, LINE_TURNS.c, SPACES.c, MEMORIES.c, MEMORY_WORDS.c
_c = COVERS.c
_in_space = (_m.space_no == bindparam("space"), _m.place <= bindparam("last"))
_alive = (_m.fidelity > 0) | (_m.pinned > 0)

LINE_OF_TURN = select(_t.line_no, _t.depth).where(_t.turn_id == bindparam("turn"))
PARENT_OF = select(TURNS.c.parent_id, TURNS.c.depth).where(TURNS.c.turn_id == bindparam("turn"))
_up = (
    select(_l.line_no, _l.parent_no, _l.fork_depth, literal(0).label("steps"))
    .where(_l.line_no == bindparam("line"))
    .cte("up", recursive=True)
)
_above = LINES.alias("above")
_up = _up.union_all(
    select(_above.c.line_no, _above.c.parent_no, _above.c.fork_depth, _up.c.steps + 1).where(
        _above.c.line_no == _up.c.parent_no, _up.c.steps < bindparam("most")
    )
)
LINES_UP = select(_up.c.line_no, _up.c.parent_no, _up.c.fork_depth).order_by(_up.c.steps)
"""A line and those that it goes back to, the nearest first."""
LINE_OF_SCOPE = select(_l.line_no).where(_l.scope == bindparam("scope")).order_by(_l.line_no).limit(1)
IS_TAKEN = select(literal(1)).where(_t.line_no == bindparam("line"), _t.depth == bindparam("depth"))
NEXT_LINE = select(func.coalesce(func.max(_l.line_no), 0) + 1)
NEXT_SPACE = select(func.coalesce(func.max(_s.space_no), 0) + 1)
ADD_LINE, ADD_LINE_TURN, ADD_SPACE = insert(LINES), insert(LINE_TURNS), insert(SPACES)
ADD_MEMORIES, ADD_WORDS = insert(MEMORIES), insert(MEMORY_WORDS)
SPACES_ON = select(_s.owner, _s.space_no, _s.names).where(
    _s.line_no == bindparam("line"), _s.owner.in_(bindparam("owners", expanding=True))
)
SPACES_OF = select(_s.space_no, _s.line_no, _s.names).where(
    _s.owner == bindparam("owner"), _s.line_no.in_(bindparam("lines", expanding=True))
)
OWNERS_OF = (
    select(_s.owner).where(_s.line_no.in_(bindparam("lines", expanding=True))).distinct().order_by(_s.owner).limit(500)
)
RENAME_SPACE = update(SPACES).where(_s.space_no == bindparam("space")).values(names=bindparam("new_names"))
_later = MEMORIES.alias("later")
_last = (
    select(func.max(_later.c.place))
    .where(_later.c.space_no == _s.space_no, _later.c.place <= bindparam("last"))
    .scalar_subquery()
    .correlate(SPACES)
)
LAST_PLACES = (
    select(_m.space_no, _m.place, _m.number)
    .where(_m.space_no == _s.space_no, _m.place == _last)
    .where(_s.space_no.in_(bindparam("spaces", expanding=True)))
)
KNOWN = select(_m.memory_id).where(_m.memory_id.in_(bindparam("memories", expanding=True)))
LAST_NUMBER = select(_m.number).where(*_in_space).order_by(_m.place.desc()).limit(1)
"""How many there are up to a place; counting them would read them all."""

CANDIDATE_COLUMNS = (
    _m.space_no, _m.place, _m.scene, _m.speaker, _m.words, _m.language, _m.signs, _m.dates, _m.day, _m.minute,
    _m.importance, _m.valence, _m.at_where, _m.people, _m.pinned, _m.stems, _m.vector,
)  # fmt: skip
WHOLE_PAST = (
    select(*CANDIDATE_COLUMNS).where(*_in_space, _alive).order_by(_m.space_no, _m.place).limit(bindparam("most"))
)
MOST_STRETCHES = 128
_later = MEMORIES.alias("later")
# A belief that was changed is kept as another memory of its own scene.
_still_believed = or_(
    _m.kind != literal_column("'belief'"),
    ~exists().where(
        _later.c.space_no == _m.space_no, _later.c.scene == _m.scene, _later.c.place > _m.place,
        _later.c.place <= bindparam("known"),
    ),
)  # fmt: skip


# Each statement is made once: one that is made anew for every question is compiled anew, and crowds out others.
@cache
def stretches(count: int) -> Select[Any]:
    """The memories in so many stretches of places. Not ordered: the planner would rather walk all places in their order
    than sort a few."""
    # The space in each of them: else SQLite walks through the whole space.
    own = _m.space_no == bindparam("space")
    within = [and_(own, _m.place.between(bindparam(f"first_{at}"), bindparam(f"last_{at}"))) for at in range(count)]
    return select(*CANDIDATE_COLUMNS).where(or_(*within), _alive, _still_believed).limit(bindparam("most"))


_newest = (
    select(_w.place)
    .where(_w.space_no == bindparam("space"), _w.word == bindparam("word"), _w.place <= bindparam("last"))
    .order_by(_w.place.desc())
    .limit(bindparam("most"))
    .subquery()
)
POSTINGS = select(func.aggregate_strings(cast(_newest.c.place, Text), ","))
"""The newest places of a word, as one text."""
THESE = select(MEMORIES).where(_m.space_no == bindparam("space"), _m.place.in_(bindparam("places", expanding=True)))
GET = (
    select(MEMORIES, _s.owner, _l.scope)
    .join(SPACES, _s.space_no == _m.space_no)
    .join(LINES, _l.line_no == _s.line_no)
    .where(_m.memory_id == bindparam("memory"))
)
_listed = select(MEMORIES).where(*_in_space)
PAGE_NEWEST = _listed.where(_m.place < bindparam("before")).order_by(_m.place.desc()).limit(bindparam("most"))
PAGE_OLDEST = _listed.where(_m.place > bindparam("after")).order_by(_m.place).limit(bindparam("most"))
_of_kind = _listed.where(_m.kind == bindparam("kind"))
KIND_NEWEST = _of_kind.where(_m.place < bindparam("before")).order_by(_m.place.desc()).limit(bindparam("most"))
KIND_OLDEST = _of_kind.where(_m.place > bindparam("after")).order_by(_m.place).limit(bindparam("most"))
CHANGE = (
    update(MEMORIES)
    .where(_m.memory_id == bindparam("memory"))
    .values(
        pinned=bindparam("new_pinned"),
        importance=bindparam("new_importance"),
        fidelity=bindparam("new_fidelity"),
        doc=bindparam("new_doc"),
    )
)
REFIND = (
    update(MEMORIES)
    .where(_m.memory_id == bindparam("memory"))
    .values(
        words=bindparam("new_words"),
        stems=bindparam("new_stems"),
        language=bindparam("new_language"),
        signs=bindparam("new_signs"),
        dates=bindparam("new_dates"),
        vector=bindparam("new_vector"),
        embedder=bindparam("new_embedder"),
    )
)
FORGET_WORDS = delete(MEMORY_WORDS).where(_w.space_no == bindparam("space"), _w.place == bindparam("at"))
COUNT_RECALLS = (
    update(MEMORIES).where(_m.memory_id.in_(bindparam("memories", expanding=True))).values(recalls=_m.recalls + 1)
)
FORGET = delete(MEMORIES).where(_m.memory_id == bindparam("memory"))
PLACES_OF = (
    select(_m.memory_id, _m.space_no, _m.place, _s.line_no)
    .join(SPACES, _s.space_no == _m.space_no)
    .where(_m.memory_id.in_(bindparam("memories", expanding=True)))
)
ADD_COVERS = insert(COVERS)
HAS_COVERS = select(literal(1)).where(_c.space_no.in_(bindparam("spaces", expanding=True))).limit(1)
COVERS_OF = select(_c.place, _c.line_no, _c.from_place).where(
    _c.space_no == bindparam("space"), _c.place.in_(bindparam("places", expanding=True))
)
COVERED_BY = (
    select(_m.memory_id)
    .join(COVERS, (_c.space_no == _m.space_no) & (_c.place == _m.place))
    .where(_c.summary_id == bindparam("summary"))
)
SUMMARIES_OF = (
    select(_c.summary_id)
    .join(MEMORIES, (_c.space_no == _m.space_no) & (_c.place == _m.place))
    .where(_m.memory_id == bindparam("memory"))
)
UNCOVER = delete(COVERS).where(_c.summary_id == bindparam("summary"))
RESTING_ON = (
    select(MEMORIES)
    .join(SPACES, _s.space_no == _m.space_no)
    .join(LINES, _l.line_no == _s.line_no)
    .where(
        _l.scope == bindparam("scope"),
        _s.owner == bindparam("owner"),
        _m.kind.in_(["belief", "reflection"]),
        _m.doc.contains(bindparam("named"), autoescape=False),
    )
)
FIRST_EMBEDDER = select(_m.embedder).order_by(_m.embedder).limit(1)
NEXT_EMBEDDER = select(_m.embedder).where(_m.embedder > bindparam("after")).order_by(_m.embedder).limit(1)
COUNT_EMBEDDER = select(func.count()).select_from(MEMORIES).where(_m.embedder == bindparam("embedder"))
OF_EMBEDDER = (
    select(MEMORIES, _s.owner, _l.scope)
    .join(SPACES, _s.space_no == _m.space_no)
    .join(LINES, _l.line_no == _s.line_no)
    .where(_m.embedder == bindparam("embedder"))
    .order_by(_m.memory_id)
    .limit(bindparam("most"))
)
PUT_VECTOR = (
    update(MEMORIES)
    .where(_m.memory_id == bindparam("memory"))
    .values(vector=bindparam("new_vector"), embedder=bindparam("new_embedder"))
)
REMOVE_SCOPE = delete(LINES).where(_l.scope == bindparam("scope"))
