"""The index: how lists are ordered and narrowed down, and how things are found by their words.

It is derived from resources and plays, in the unit of work that changes them. A word of a query finds every word that
begins with it, whatever its case and accents (`fabula.language.search_words`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from fabula.ports.plays import PlayStatus

ListOrder = Literal["id", "updated", "created", "name"]

IndexScope = Literal[
    "story",
    "session",
    "character",
    "lorebook",
    "lorebook_entry",
    "schema",
    "preset",
    "story_resources",
    "story_draft",
]
"""What is found together: the kinds of resources, and the entries of lorebooks."""


@dataclass(frozen=True, kw_only=True)
class ListPlace:
    """A place in an ordered list: what was there, and the key that it was sorted by then."""

    key: str | int
    id: str


@dataclass(frozen=True, kw_only=True)
class ListQuestion:
    """Which part of which list. `words` are folded; `after` is a place in the same order.

    The last three narrow down sessions alone: those that a token reaches, of one story, in one state.
    """

    kind: str
    order: ListOrder = "id"
    words: Sequence[str] = ()
    after: ListPlace | None = None
    limit: int | None = None
    reached_by: str | None = None
    story_id: str | None = None
    status: PlayStatus | None = None


@dataclass(frozen=True, kw_only=True)
class SearchQuestion:
    """What is looked for, where. `beginning` is the folded query as a whole: names that begin so come first."""

    scopes: Sequence[IndexScope]
    words: Sequence[str]
    beginning: str
    limit: int
    reached_by: str | None = None


@dataclass(frozen=True, kw_only=True)
class Indexed:
    """Something as the index knows it. `part` names what is inside the resource; the resource itself has none."""

    scope: str
    id: str
    part: str
    name: str
    sort_name: str
    excerpt: str
    words: int | None
    scenes: int | None
    endings: int | None
    updated_at_ms: int


class Index(Protocol):
    """Law:

    - What `resources.add` and `put` kept is in the index in the same unit of work, and goes with `remove`.
    - `page` orders by `id` (byte order), by `name` (folded), or with the newest first by `updated` and `created`; what
      has the same key is ordered by its id, in the same direction.
    - A session is `updated` when its play is.
    - `page` goes on behind a place, whether or not something still stands there; nothing comes twice.
    - With `words` it lists what has, for each of them, a word that begins with it; a lorebook also has the words of its
      entries, and a session those of its story's name.
    - Of `reached_by` it lists only the sessions that this token reaches.
    - `find` answers for each scope at most `limit`, those whose name begins as the query does first, then those that
      have its words in their names, then those that have them elsewhere. A single letter is looked for in names only.
    - `entries` answers the resources of these ids as the index knows them; those that are missing are left out.
    - `count_plays` counts the sessions of each of these stories, of a token only those that it reaches; stories
      without any are left out.
    """

    async def page(self, question: ListQuestion) -> list[ListPlace]: ...

    async def find(self, question: SearchQuestion) -> list[Indexed]: ...

    async def entries(self, kind: str, ids: Sequence[str]) -> dict[str, Indexed]: ...

    async def count_plays(self, story_ids: Sequence[str], *, token_id: str | None = None) -> dict[str, int]: ...
