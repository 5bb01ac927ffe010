"""The tables of the index, and how a resource comes into them; see `fabula.ports.index`.

1. `index_changes` compares what a resource is found by with what stands there: only what changed is written.
2. `index_missing` indexes all resources that came in before there was an index.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import (
    Column,
    Connection,
    ForeignKeyConstraint,
    Index,
    Integer,
    PrimaryKeyConstraint,
    Table,
    Text,
    bindparam,
    delete,
    insert,
    select,
    text,
)

from fabula.adapters.stores.tables import METADATA, NAME, NUMBER, legible, unpack
from fabula.language.search_words import sort_name
from fabula.ports.errors import StoreError
from fabula.story.index_entries import IndexEntry, index_entries
from fabula.story.values import JsonObject

Row = dict[str, Any]

ENTRIES = Table(
    "search_entries",
    METADATA,
    Column("kind", NAME, nullable=False),
    Column("id", NAME, nullable=False),
    Column("part", NAME, nullable=False),
    Column("scope", NAME, nullable=False),
    Column("name", Text, nullable=False),
    Column("sort_name", NAME, nullable=False),
    Column("excerpt", Text, nullable=False),
    Column("digest", NAME, nullable=False),
    Column("words", NUMBER),
    Column("scenes", NUMBER),
    Column("endings", NUMBER),
    PrimaryKeyConstraint("kind", "id", "part", name="search_entries_pk"),
    ForeignKeyConstraint(
        ["kind", "id"], ["resources.kind", "resources.id"], name="search_entries_resource_fk", ondelete="CASCADE"
    ),
    Index("search_entries_by_name", "scope", "sort_name", "id", "part"),
)

WORDS = Table(
    "search_words",
    METADATA,
    Column("kind", NAME, nullable=False),
    Column("id", NAME, nullable=False),
    Column("part", NAME, nullable=False),
    Column("word", NAME, nullable=False),
    Column("scope", NAME, nullable=False),
    Column("place", Integer, nullable=False),
    PrimaryKeyConstraint("kind", "id", "part", "word", name="search_words_pk"),
    ForeignKeyConstraint(
        ["kind", "id", "part"],
        ["search_entries.kind", "search_entries.id", "search_entries.part"],
        name="search_words_entry_fk",
        ondelete="CASCADE",
    ),
    Index("search_words_by_word", "scope", "place", "word", "id", "part"),
)

_e = ENTRIES.c
_this = (_e.kind == bindparam("kind"), _e.id == bindparam("id"))
DIGESTS = select(_e.part, _e.digest).where(*_this)
DIGEST_OF_PART = select(_e.digest).where(*_this, _e.part == bindparam("part"))
# Named otherwise than the columns, because a delete of many rows is run for a list of values.
REMOVE_ENTRY = delete(ENTRIES).where(
    _e.kind == bindparam("kind_is"), _e.id == bindparam("id_is"), _e.part == bindparam("part_is")
)
"""Its words go with it."""
ADD_ENTRIES = insert(ENTRIES)
ADD_WORDS = insert(WORDS)

MISSING = text("""
SELECT kind, id, doc FROM resources
WHERE NOT EXISTS (SELECT 1 FROM search_entries AS entry WHERE entry.kind = resources.kind AND entry.id = resources.id)
ORDER BY kind, id LIMIT 100
""")


@dataclass(frozen=True, kw_only=True)
class IndexChanges:
    """What has to be done so that a resource is found by what it is now."""

    remove: list[Row]
    entries: list[Row]
    words: list[Row]


def index_changes(kind: str, id: str, doc: JsonObject, before: Mapping[str, str]) -> IndexChanges:
    """Compares with the digests that stand there; large documents are worth a thread."""
    wanted = _entries_of(kind, id, doc)
    changed = [entry for part, entry in wanted.items() if before.get(part) != entry.digest]
    gone = [part for part in before if part not in wanted]
    old = [*gone, *(entry.part for entry in changed if entry.part in before)]
    return IndexChanges(
        remove=[{"kind_is": kind, "id_is": id, "part_is": part} for part in old],
        entries=[_entry_row(kind, id, entry) for entry in changed],
        words=[row for entry in changed for row in _word_rows(kind, id, entry)],
    )


def part_changes(kind: str, id: str, doc: JsonObject, part: str, before: str) -> IndexChanges:
    """The same for one part of a document, of which no more than that part need be given."""
    wanted = _entries_of(kind, id, doc).get(legible(part))
    if wanted is None or wanted.digest == before:
        return IndexChanges(remove=[], entries=[], words=[])
    return IndexChanges(
        remove=[{"kind_is": kind, "id_is": id, "part_is": wanted.part}],
        entries=[_entry_row(kind, id, wanted)],
        words=_word_rows(kind, id, wanted),
    )


def index_missing(connection: Connection) -> None:
    """Indexes all resources that are not; for a database that was just brought to a newer revision."""
    while rows := connection.execute(MISSING).all():
        made = [index_changes(row.kind, row.id, _readable(row), {}) for row in rows]
        connection.execute(ADD_ENTRIES, [row for one in made for row in one.entries])
        if words := [row for one in made for row in one.words]:
            connection.execute(ADD_WORDS, words)


def _readable(row: Any) -> JsonObject:
    try:
        return unpack(row.kind, row.doc)
    except StoreError:
        # It is damaged. Whoever opens it is told; here it is found by its id.
        return {}


def _entries_of(kind: str, id: str, doc: JsonObject) -> dict[str, IndexEntry]:
    """The entries by names that both engines can spell; of two with the same name the first is found."""
    found: dict[str, IndexEntry] = {}
    for entry in index_entries(kind, id, doc):
        found.setdefault(legible(entry.part), replace(entry, part=legible(entry.part)))
    return found


def _entry_row(kind: str, id: str, entry: IndexEntry) -> Row:
    return {
        "kind": kind,
        "id": id,
        "part": entry.part,
        "scope": entry.scope,
        "name": legible(entry.name),
        "sort_name": legible(sort_name(entry.name)),
        "excerpt": legible(entry.excerpt),
        "digest": entry.digest,
        "words": entry.words,
        "scenes": entry.scenes,
        "endings": entry.endings,
    }


def _word_rows(kind: str, id: str, entry: IndexEntry) -> list[Row]:
    name = {"kind": kind, "id": id, "part": entry.part, "scope": entry.scope}
    return [{**name, "word": word, "place": place} for word, place in entry.found_by().items()]
