"""The index: ordered and narrowed lists, and what is found by its words. Every question is answered along an index."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, Final

from sqlalchemy import ColumnElement, Select, and_, bindparam, exists, func, select, tuple_, union_all

from fabula.adapters.stores.index_tables import ENTRIES, WORDS
from fabula.adapters.stores.play_tables import PLAYS, REACHED
from fabula.adapters.stores.resources import REFERENCES, RESOURCES
from fabula.adapters.stores.sql import Steps
from fabula.adapters.stores.tables import Access, legible, spelled
from fabula.language.words import STOP
from fabula.ports.index import Indexed, ListOrder, ListPlace, ListQuestion, SearchQuestion

_ALL = 2**31 - 1
_CHUNK = 500
IN_NAMES: Final = [0]
ANYWHERE: Final = [0, 1]
LAST_LETTER: Final = "\U0010ffff"
"""Sorted behind every other letter: what begins with a word stands between it and this."""

_p, _r, _f, _e = PLAYS.c, RESOURCES.c, REFERENCES.c, ENTRIES.c
_reached = select(REACHED.c.session_id)


class SqlIndex:
    def __init__(self, access: Access) -> None:
        self._connection = access.connection

    async def page(self, question: ListQuestion) -> list[ListPlace]:
        query, values = list_question(question)
        return [ListPlace(key=row.key, id=row.id) for row in await self._connection.execute(query, values)]

    async def find(self, question: SearchQuestion) -> list[Indexed]:
        return await self._connection.run(search_steps(question))

    async def entries(self, kind: str, ids: Sequence[str]) -> dict[str, Indexed]:
        found: dict[str, Indexed] = {}
        for some in _chunks(ids):
            rows = await self._connection.execute(ENTRIES_OF, {"kind": kind, "ids": some})
            found |= {row.id: _indexed(row) for row in rows}
        return found

    async def count_plays(self, story_ids: Sequence[str], *, token_id: str | None = None) -> dict[str, int]:
        query, who = (COUNT_PLAYS, {}) if token_id is None else (COUNT_REACHED_PLAYS, {"token": spelled(token_id)})
        found: dict[str, int] = {}
        for some in _chunks(story_ids):
            rows = await self._connection.execute(query, {"stories": some, **who})
            found |= {row.id: row.plays for row in rows}
        return found


def list_question(question: ListQuestion) -> tuple[Select[Any], dict[str, Any]]:
    """The statement and its values."""
    of_sessions = question.kind == "session"
    narrowed = {"reached": question.reached_by, "story": question.story_id, "status": question.status}
    assert of_sessions or not any(value is not None for value in narrowed.values())
    make = _session_list if of_sessions else _resource_list
    given = frozenset(name for name, value in narrowed.items() if value is not None)
    query = make(question.order, len(question.words), question.after is not None, given)
    return query, {**_list_values(question), **_word_values(question.words)}


def _list_values(question: ListQuestion) -> dict[str, Any]:
    values: dict[str, Any] = {"limit": _ALL if question.limit is None else question.limit}
    if question.kind != "session":
        values["kind"] = question.kind
    if question.words:
        values["scopes"] = ["lorebook", "lorebook_entry"] if question.kind == "lorebook" else [question.kind]
    if question.after is not None:
        values |= {"after_id": spelled(question.after.id)}
        values |= {} if question.order == "id" else {"after_key": _key(question.after)}
    if question.reached_by is not None:
        values["token"] = spelled(question.reached_by)
    if question.story_id is not None:
        values["story"] = spelled(question.story_id)
    if question.status is not None:
        values["status"] = question.status
    return values


def _key(place: ListPlace) -> str | int:
    return spelled(place.key) if isinstance(place.key, str) else place.key


def _word_values(words: Sequence[str]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for number, word in enumerate(words):
        values |= {f"word{number}": spelled(word), f"end{number}": spelled(word) + LAST_LETTER}
        # A single letter begins so many words that only names are worth looking at.
        values[f"places{number}"] = IN_NAMES if len(word) == 1 else ANYWHERE
    return values


@lru_cache(maxsize=256)
def _resource_list(order: ListOrder, words: int, after: bool, given: frozenset[str]) -> Select[Any]:
    keys: dict[ListOrder, ColumnElement[Any]] = {
        "id": _r.id,
        "updated": _r.updated_at_ms,
        "created": _r.created_at_ms,
        "name": _e.sort_name,
    }
    query = select(_r.id, keys[order].label("key")).where(_r.kind == bindparam("kind"))
    if order == "name":
        # Told twice, so that the index of names can be walked in its order.
        query = query.join(ENTRIES, and_(_e.kind == _r.kind, _e.id == _r.id, _e.part == ""))
        query = query.where(_e.scope == bindparam("kind"))
    for number in range(words):
        query = query.where(_r.id.in_(_having(number)))
    return _ordered(query, order, keys[order], _e.id if order == "name" else _r.id, after)


@lru_cache(maxsize=256)
def _session_list(order: ListOrder, words: int, after: bool, given: frozenset[str]) -> Select[Any]:
    keys: dict[ListOrder, ColumnElement[Any]] = {
        "id": _p.session_id,
        "updated": _p.updated_at_ms,
        "created": _r.created_at_ms,
        "name": _e.sort_name,
    }
    id = {"created": _r.id, "name": _e.id}.get(order, _p.session_id)
    query = select(_p.session_id.label("id"), keys[order].label("key")).select_from(PLAYS)
    if order == "created":
        query = query.join(RESOURCES, and_(_r.kind == "session", _r.id == _p.session_id))
    if order == "name":
        query = query.join(ENTRIES, and_(_e.kind == "session", _e.id == _p.session_id, _e.part == ""))
        query = query.where(_e.scope == "session")
    if "story" in given:
        plays_story = and_(_f.user_kind == "session", _f.user_id == _p.session_id, _f.kind == "story")
        query = query.join(REFERENCES, plays_story).where(_f.id == bindparam("story"))
    if "status" in given:
        query = query.where(_p.status == bindparam("status"))
    if "reached" in given:
        query = query.where(_p.session_id.in_(_reached))
    for number in range(words):
        query = query.where(_p.session_id.in_(union_all(_having(number), _of_stories_named(number))))
    return _ordered(query, order, keys[order], id, after)


def _ordered(
    query: Select[Any], order: ListOrder, key: ColumnElement[Any], id: ColumnElement[Any], after: bool
) -> Select[Any]:
    newest_first = order in ("updated", "created")
    if after:
        place = (
            bindparam("after_id")
            if order == "id"
            else tuple_(bindparam("after_key", type_=key.type), bindparam("after_id"))
        )
        here: Any = id if order == "id" else tuple_(key, id)
        query = query.where(here < place if newest_first else here > place)
    columns = (id,) if order == "id" else (key, id)
    return query.order_by(*(one.desc() if newest_first else one for one in columns)).limit(bindparam("limit"))


def _having(number: int) -> Select[Any]:
    """The ids of what has a word that begins so."""
    words = WORDS.alias()
    return select(words.c.id).where(words.c.scope.in_(bindparam("scopes", expanding=True)), *_begins(words.c, number))


def _of_stories_named(number: int) -> Select[Any]:
    """The ids of the sessions whose story has such a word in its name."""
    words, plays = WORDS.alias(), REFERENCES.alias()
    begins = (words.c.word >= bindparam(f"word{number}"), words.c.word < bindparam(f"end{number}"))
    of_story = and_(plays.c.kind == "story", plays.c.id == words.c.id, plays.c.user_kind == "session")
    query = select(plays.c.user_id).join_from(words, plays, of_story)
    return query.where(words.c.scope == "story", words.c.place == 0, *begins)


def _begins(words: Any, number: int) -> tuple[ColumnElement[bool], ...]:
    return (
        words.place.in_(bindparam(f"places{number}", expanding=True)),
        words.word >= bindparam(f"word{number}"),
        words.word < bindparam(f"end{number}"),
    )


_ENTRY = select(
    _e.scope, _e.id, _e.part, _e.name, _e.sort_name, _e.excerpt, _e.words, _e.scenes, _e.endings, _r.updated_at_ms
).join(RESOURCES, and_(_r.kind == _e.kind, _r.id == _e.id))
ENTRIES_OF = _ENTRY.where(_e.kind == bindparam("kind"), _e.id.in_(bindparam("ids", expanding=True)), _e.part == "")

COUNT_PLAYS = (
    select(_f.id, func.count().label("plays"))
    .where(_f.kind == "story", _f.id.in_(bindparam("stories", expanding=True)), _f.user_kind == "session")
    .group_by(_f.id)
)
COUNT_REACHED_PLAYS = COUNT_PLAYS.where(_f.user_id.in_(_reached))


def search_steps(question: SearchQuestion) -> Steps[list[Indexed]]:
    """As steps: a dozen small questions with one wait where the engine can."""
    found: list[Indexed] = []
    for scope in question.scopes:
        found += yield from _find_in(scope, question)
    return found


def _find_in(scope: str, question: SearchQuestion) -> Steps[list[Indexed]]:
    reached = question.reached_by if scope == "session" else None
    where = {"scope": scope, "limit": question.limit} | ({} if reached is None else {"token": spelled(reached)})
    start = legible(question.beginning)
    rows = list((yield _names_beginning(reached is not None), {**where, "start": start, "end": start + LAST_LETTER}))
    words = _rarest_first(question.words)
    values = {**where, **_word_values(words)}
    for place in values.pop("places0"):
        found = {(row.id, row.part): _indexed(row) for row in rows}
        if len(found) < question.limit:
            # An entry comes once for each of its words that begin so; few have several.
            asked = {**values, "place": place, "limit": question.limit * 2}
            rows += yield _entries_having(len(words), reached is not None), asked
    return list({(row.id, row.part): _indexed(row) for row in rows}.values())[: question.limit]


def _rarest_first(words: Sequence[str]) -> list[str]:
    """Along the first word one walks, asking for the others: best along a long one, and none that stands everywhere."""
    return sorted(words, key=lambda word: (word in STOP, -len(word)))


@lru_cache(maxsize=4)
def _names_beginning(reached: bool) -> Select[Any]:
    begins = (_e.scope == bindparam("scope"), _e.sort_name >= bindparam("start"), _e.sort_name < bindparam("end"))
    query = _ENTRY.where(*begins).order_by(_e.sort_name, _e.id, _e.part).limit(bindparam("limit"))
    return query.where(_e.id.in_(_reached)) if reached else query


@lru_cache(maxsize=32)
def _entries_having(words: int, reached: bool) -> Select[Any]:
    """Walks the index of words backwards and stops when it has enough: ids that we made are younger the later they are
    sorted."""
    hit = WORDS.alias("hit")
    same = and_(hit.c.kind == _e.kind, hit.c.id == _e.id, hit.c.part == _e.part)
    begins = (hit.c.word >= bindparam("word0"), hit.c.word < bindparam("end0"))
    query = _ENTRY.join(hit, same).where(hit.c.scope == bindparam("scope"), hit.c.place == bindparam("place"), *begins)
    for number in range(1, words):
        other = WORDS.alias(f"other{number}")
        beside = (other.c.kind == hit.c.kind, other.c.id == hit.c.id, other.c.part == hit.c.part)
        query = query.where(exists().where(*beside, *_begins(other.c, number)))
    if reached:
        query = query.where(hit.c.id.in_(_reached))
    return query.order_by(hit.c.word.desc(), hit.c.id.desc(), hit.c.part.desc()).limit(bindparam("limit"))


def _indexed(row: Any) -> Indexed:
    fields = row._asdict()
    # The index is made of the resources: what is damaged here is not known, and comes back with the next change.
    counted = {name: fields[name] if isinstance(fields[name], int) else None for name in ("words", "scenes", "endings")}
    return Indexed(**{**fields, **counted})


def _chunks(ids: Iterable[str]) -> list[list[str]]:
    wanted = sorted({spelled(id) for id in ids})
    return [wanted[start : start + _CHUNK] for start in range(0, len(wanted), _CHUNK)]
