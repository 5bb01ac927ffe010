"""Lists that people can use: narrowed down by words, in an order of their own, read in parts.

A cursor holds the key by which its item was sorted when it was shown. So a list goes on where it was, whatever was
changed, moved or deleted meanwhile: what was not shown yet and moved to the front is found at the next look.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from fabula.actions.views import UNKNOWN_CURSOR, Paging, cursor_after, place_of
from fabula.language.search_words import query_words
from fabula.ports.errors import InvalidRequest
from fabula.ports.index import ListPlace, ListQuestion
from fabula.ports.plays import PlayStatus
from fabula.ports.store import Unit

LONGEST_QUERY = 200
LONGEST_KEY = 16


class Listing(Paging):
    """A list may be narrowed down to what has words that begin as those of `query` do, whatever their case and accents.

    `order` is that of the last change or the creation, newest first, or of the names; without it lists go by id.
    """

    query: str | None = Field(default=None, max_length=LONGEST_QUERY)
    order: Literal["updated", "created", "name"] | None = None

    @property
    def is_plain(self) -> bool:
        """Whether the whole list is asked for, by id."""
        return self.order is None and not (self.query or "").strip()


async def listed_ids(
    unit: Unit,
    kind: str,
    command: Listing,
    *,
    reached_by: str | None = None,
    story_id: str | None = None,
    status: PlayStatus | None = None,
) -> tuple[list[str], str | None]:
    """The ids of one part of a list, and the cursor of the next part if a limit cut it."""
    after = _place_of(kind, command)
    words = query_words(command.query or "")
    if not words and (command.query or "").strip():
        # Signs alone stand in no word.
        return [], None
    question = ListQuestion(
        kind=kind,
        order=command.order or "id",
        words=words,
        after=after,
        limit=None if command.limit is None else command.limit + 1,
        reached_by=reached_by,
        story_id=story_id,
        status=status,
    )
    places = await unit.index.page(question)
    cursor = None
    if command.limit is not None and len(places) > command.limit:
        places = places[: command.limit]
        cursor = _cursor_of(kind, command, places[-1])
    return [place.id for place in places], cursor


def _cursor_of(kind: str, command: Listing, place: ListPlace) -> str:
    if command.order is None:
        return cursor_after(kind, place.id)
    return cursor_after(f"{kind}.{command.order}", f"{place.key}/{place.id}")


def _place_of(kind: str, command: Listing) -> ListPlace | None:
    """The place that a cursor names; one of another list, or of another order, is refused."""
    named = place_of(kind if command.order is None else f"{kind}.{command.order}", command.cursor)
    if named is None:
        return None
    if command.order is None:
        return ListPlace(key=named, id=named)
    # Names may have a slash in them, ids have none.
    key, slash, id = named.rpartition("/")
    if not slash or not id:
        raise InvalidRequest(UNKNOWN_CURSOR)
    if command.order == "name":
        return ListPlace(key=key, id=id)
    if not (key.isascii() and key.isdigit() and len(key) <= LONGEST_KEY):
        raise InvalidRequest(UNKNOWN_CURSOR)
    return ListPlace(key=int(key), id=id)
