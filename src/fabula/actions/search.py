"""Find anything by a few letters: stories, plays, named turns, and for authors all that they keep.

1. The index finds, for each kind that the caller may know, a few candidates (`fabula.ports.index`).
2. They are ranked: names that are the query, begin as it does, have its words, and then the rest.
3. Only those that are shown get their excerpts.

What a player is answered holds nothing that the story has not told: of stories what stands on their title pages, of
plays their own. Lore, characters and what else authors keep is found by authors.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

from pydantic import Field

from fabula.actions.authority import allowed
from fabula.actions.house import House
from fabula.actions.listing import LONGEST_QUERY
from fabula.actions.plays.last_lines import line_of
from fabula.actions.repositories import SESSIONS
from fabula.actions.views import Command, View
from fabula.language.search_words import MOST_QUERY_WORDS, query_words, search_words, sort_name
from fabula.ports.actors import Actor
from fabula.ports.index import Indexed, IndexScope, SearchQuestion
from fabula.ports.store import Unit

SearchKind = Literal[
    "story",
    "session",
    "turn",
    "character",
    "lorebook_entry",
    "lorebook",
    "story_resources",
    "story_draft",
    "schema",
    "preset",
]
"""In this order where nothing else tells which is meant."""

KINDS: tuple[SearchKind, ...] = get_args(SearchKind)
FOR_PLAYERS: frozenset[SearchKind] = frozenset({"story", "session", "turn"})
MOST_HITS = 50
MOST_NAMED_TURNS = 1000
"""Of the turns that were named only the newest are looked through: they have no index of words."""


class Find(Command):
    """`kinds` are those to look for; those that the caller may not see are not looked for. All if it is not given."""

    query: str = Field(max_length=LONGEST_QUERY)
    kinds: list[SearchKind] | None = Field(default=None, max_length=20)
    limit: int = Field(default=20, ge=1, le=MOST_HITS)


class SearchHit(View):
    """Something that was found, with a few words to tell it from others.

    A `turn` has its `session_id`, a `lorebook_entry` its `lorebook_id`, a `session` its `story_id`.
    """

    optional = frozenset({"session_id", "lorebook_id", "story_id"})
    type: Literal["search_hit"] = "search_hit"
    kind: SearchKind
    id: str
    title: str
    excerpt: str
    session_id: str | None = None
    lorebook_id: str | None = None
    story_id: str | None = None


class SearchFound(View):
    type: Literal["search_found"] = "search_found"
    hits: list[SearchHit]


@dataclass(frozen=True, kw_only=True)
class _Candidate:
    """Something that has the words of the query, before it is known whether it is shown."""

    hit: SearchHit
    head_turn_id: str | None = None
    changed_at_ms: int = 0


@allowed("player")
async def find_anything(house: House, actor: Actor, command: Find) -> SearchFound:
    """Finds what has, for each word of the query, a word that begins with it; the best first.

    Players find stories, their plays and the turns they named; authors also characters, lore, materials, drafts,
    schemas and presets. Case and accents do not count.
    """
    words, beginning = query_words(command.query), sort_name(command.query)
    kinds = [kind for kind in KINDS if _is_wanted(kind, actor, command)]
    if not words or not kinds:
        return SearchFound(hits=[])
    async with house.store.reading() as unit:
        candidates = await _candidates(unit, actor, kinds, words, beginning, command.limit)
        best = _ranked(candidates, words, beginning)[: command.limit]
        return SearchFound(hits=await _shown(unit, best))


def _is_wanted(kind: SearchKind, actor: Actor, command: Find) -> bool:
    may = kind in FOR_PLAYERS or actor.may_act_as("author")
    return may and (command.kinds is None or kind in command.kinds)


async def _candidates(
    unit: Unit, actor: Actor, kinds: Sequence[SearchKind], words: Sequence[str], beginning: str, limit: int
) -> list[_Candidate]:
    scopes: list[IndexScope] = [kind for kind in kinds if kind != "turn"]
    asked = SearchQuestion(scopes=scopes, words=words, beginning=beginning, limit=limit, reached_by=actor.sees_only)
    found = await unit.index.find(asked)
    plays = [_Candidate(hit=_hit(one), changed_at_ms=one.updated_at_ms) for one in found if one.scope == "session"]
    others = [_Candidate(hit=_hit(one), changed_at_ms=one.updated_at_ms) for one in found if one.scope != "session"]
    turns = await _named_turns(unit, actor, words) if "turn" in kinds else []
    return [*others, *await _with_heads(unit, plays), *turns]


def _hit(entry: Indexed) -> SearchHit:
    kind = next(kind for kind in KINDS if kind == entry.scope)
    if kind == "lorebook_entry":
        return SearchHit(kind=kind, id=entry.part, title=entry.name, excerpt=entry.excerpt, lorebook_id=entry.id)
    return SearchHit(kind=kind, id=entry.id, title=entry.name, excerpt=entry.excerpt)


async def _with_heads(unit: Unit, candidates: Sequence[_Candidate]) -> list[_Candidate]:
    """Plays with where they stand and when they were played last."""
    ids = [one.hit.id for one in candidates]
    plays = await unit.plays.get_many(ids)
    sessions = await SESSIONS.find_all(unit, ids)
    return [
        replace(
            one,
            hit=one.hit.model_copy(update={"story_id": sessions[one.hit.id].story_id}),
            head_turn_id=plays[one.hit.id].head_turn_id,
            changed_at_ms=plays[one.hit.id].updated_at_ms,
        )
        for one in candidates
        if one.hit.id in plays and one.hit.id in sessions
    ]


async def _named_turns(unit: Unit, actor: Actor, words: Sequence[str]) -> list[_Candidate]:
    named = await unit.plays.named_turns(limit=MOST_NAMED_TURNS, token_id=actor.sees_only)
    return [
        _Candidate(
            hit=SearchHit(kind="turn", id=one.turn_id, title=one.name, excerpt="", session_id=one.session_id),
            head_turn_id=one.turn_id,
            changed_at_ms=one.created_at_ms,
        )
        for one in named
        if _has_words(one.name, words)
    ]


def _has_words(name: str, words: Sequence[str]) -> bool:
    own = search_words(name, most=MOST_QUERY_WORDS * 10)
    return all(any(word.startswith(asked) for word in own) for asked in words)


def _ranked(candidates: Iterable[_Candidate], words: Sequence[str], beginning: str) -> list[_Candidate]:
    """The best first; of equal ones by kind, then what changed last."""

    def rank(candidate: _Candidate) -> tuple[int, int, int]:
        name = sort_name(candidate.hit.title)
        fit = 0 if name == beginning else 1 if name.startswith(beginning) else 2
        fit = fit if fit < 2 or _has_words(candidate.hit.title, words) else 3
        return fit, KINDS.index(candidate.hit.kind), -candidate.changed_at_ms

    return sorted(candidates, key=rank)


async def _shown(unit: Unit, best: Sequence[_Candidate]) -> list[SearchHit]:
    """The hits, plays and turns with the line at which they stand."""
    lines = await unit.plays.last_lines([one.head_turn_id for one in best if one.head_turn_id is not None])
    return [
        one.hit
        if one.head_turn_id is None
        else one.hit.model_copy(update={"excerpt": line_of(lines.get(one.head_turn_id))})
        for one in best
    ]
