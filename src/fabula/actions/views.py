"""Commands and views: what actions take and what they answer, in the exact shapes of the protocol."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, TypeVar

from pydantic import Field

from fabula.ports.errors import InvalidRequest
from fabula.story.values import Sparse, Value

T = TypeVar("T")

MOST_PROBLEMS, LONGEST_PROBLEM = 50, 300
"""So many of the problems of a thing are named, and so many letters of each: strangers chose how many there are."""
UNKNOWN_CURSOR = "`cursor` names nothing in this list. Take the `next_cursor` of its last part, or read it anew."


class Command(Value):
    """What a caller asks for. Unknown fields are refused."""


class Paging(Command):
    """A list may be read in parts: `limit` items, then on from `cursor`, the `next_cursor` of the part before."""

    limit: int | None = Field(default=None, ge=1, le=1000)
    cursor: str | None = None


class Nothing(Command):
    """No parameters."""


class View(Sparse):
    """What a caller gets. A view that `names_session` puts its `session_id` into the envelope, too."""

    names_session: ClassVar[bool] = False
    may_be_large: ClassVar[bool] = False
    """Whether it is written in a thread, because it may have as much in it as its author or player likes."""


class ListView(View):
    """A list; `next_cursor` is there when a limit was given and more follows."""

    may_be_large = True
    optional = frozenset({"next_cursor"})
    next_cursor: str | None = None


def cursor_after(kind: str, id: str) -> str:
    """Where a list that is ordered by id goes on. It names its list, so that no other text is taken for one."""
    return f"{kind}:{id}"


def place_of(kind: str, cursor: str | None) -> str | None:
    """The id after which a list goes on; what was there may have been deleted since."""
    if cursor is None:
        return None
    named, _, id = cursor.partition(":")
    if named != kind or not id:
        raise InvalidRequest(UNKNOWN_CURSOR)
    return id


def part_of(items: Sequence[T], paging: Paging, name: Callable[[T], str]) -> tuple[list[T], str | None]:
    """The part of a list in its own order that is asked for, and the cursor of the next part if a limit cut it."""
    names = [name(item) for item in items]
    if paging.cursor is not None and paging.cursor not in names:
        raise InvalidRequest(UNKNOWN_CURSOR)
    start = 0 if paging.cursor is None else names.index(paging.cursor) + 1
    end = len(items) if paging.limit is None else min(len(items), start + paging.limit)
    return list(items[start:end]), names[end - 1] if end < len(items) else None


def refuse(problems: Sequence[str], what: str) -> None:
    """Raises InvalidRequest naming the problems, the first of very many; does nothing when there is none."""
    if problems:
        named = [one if len(one) <= LONGEST_PROBLEM else one[: LONGEST_PROBLEM - 1] + "…" for one in problems]
        del named[MOST_PROBLEMS:]
        if more := len(problems) - len(named):
            named.append(f"and {more} more")
        raise InvalidRequest(f"The {what} cannot be used: {'; '.join(named)}.", problems=list(named))


def changed(value: Value, command: Command, *names: str) -> dict[str, Any]:
    """The fields of a value, with those that the command gives (not None) in their place."""
    fields = {name: getattr(value, name) for name in type(value).model_fields}
    given = {name: getattr(command, name) for name in names if getattr(command, name) is not None}
    return {**fields, **given}
