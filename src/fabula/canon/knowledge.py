"""Who knows what: those whom a fact is about, those it names, and those of whom canon says that they know; pure.

That somebody knows is a fact like any other: their id, the predicate `knows`, and the id of the change that made the
known thing true.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from fabula.ports.canon_graph import Edge
from fabula.story.canon import Content, EntityContent, EventContent, FactContent, Moment, RelationshipContent

How = Literal["took_part", "told"]
KNOWS: Final = frozenset(["knows", "witnessed", "learned", "suspects"])


@dataclass(frozen=True, kw_only=True)
class Knower:
    """Somebody who knows something, how, and since when."""

    entity_id: str
    how: How
    since: Moment | None = None


def may_be_known(content: Content) -> bool:
    """Whether everybody may know it: it names nobody in particular."""
    return not getattr(content, "known_to", ())


def who_is_in(content: Content) -> tuple[str, ...]:
    """Whom a content is about, as far as it could be somebody."""
    match content:
        case FactContent() | RelationshipContent():
            return (content.subject, content.object)
        case EventContent():
            return tuple(content.who)
        case _:
            return ()


def knowers(content: Content, told: Sequence[Edge], known: Mapping[str, EntityContent]) -> list[Knower]:
    """Who knows a content, each once: first those it is about, then those who were told. Only characters know."""
    since = content.at if isinstance(content, EventContent) else getattr(content, "since", None)
    found = [Knower(entity_id=id, how="took_part", since=since) for id in who_is_in(content)]
    found += [Knower(entity_id=id, how="told", since=since) for id in getattr(content, "known_to", ())]
    found += [Knower(entity_id=edge.subject, how="told", since=edge.begins) for edge in told if edge.predicate in KNOWS]
    once = {one.entity_id: one for one in reversed(found)}
    return [one for one in found if once[one.entity_id] is one and _is_somebody(known.get(one.entity_id))]


def _is_somebody(entity: EntityContent | None) -> bool:
    return entity is not None and entity.entity_kind == "character"
