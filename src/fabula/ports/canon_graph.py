"""The knowledge graph: questions about what is true in a world now, each answered by an index and bounded.

The graph is no second truth. It reads the changes of canon that are true (`ports/canon.py`), in the world's own layer:
an entity is a node, a fact, a relationship or an event is an edge from one end to the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol

from fabula.ports.canon import ChangeRow
from fabula.story.canon import EntityContent, EntityKind, Moment

EdgeKind = Literal["fact", "relationship", "event"]
TrueKind = Literal["entity", "fact", "relationship", "event", "axiom"]
EDGE_KINDS: tuple[EdgeKind, ...] = ("fact", "relationship", "event")


class Edge(NamedTuple):
    """What connects two ends. `predicate` is what happened, of an event; `begins` and `ends` are moments of story time.

    An end is the id of an entity, plain words (of a fact), or empty (of an event that names only one). A plain row,
    because a thousand of them are read for one picture.
    """

    change_id: str
    kind: EdgeKind
    subject: str
    predicate: str
    object: str
    strength: float | None = None
    begins: Moment | None = None
    ends: Moment | None = None

    @property
    def between(self) -> tuple[str, ...]:
        """Its ends, as far as it has any."""
        # Asked some thousand times for one picture, and nearly all edges have two ends.
        if self.subject and self.object and self.subject != self.object:
            return (self.subject, self.object)
        return tuple(dict.fromkeys(end for end in (self.subject, self.object) if end))


@dataclass(frozen=True, kw_only=True)
class NodeName:
    """What a picture of the graph shows of an entity."""

    kind: EntityKind
    name: str


@dataclass(frozen=True, kw_only=True)
class TimeSpan:
    """From a moment, to one that no longer counts; either may be open."""

    begins: Moment | None = None
    ends: Moment | None = None


class Graph(Protocol):
    """Law:

    - `edges` answers edges that have one of these ends, each once, at most so many; where there are more, which of
      them is not promised. With a moment only those that hold then.
    - `entities` answers the entity of each id that has one; `names` only what it is called, which is quicker.
    - `about` answers true changes of a kind that have this end, in the order in which they were proposed, after the
      one that is named. Without an end it answers all of that kind.
    - `timeline` answers facts, relationships and events that begin within a span, by the moment and then the id; an
      event that has no moment, and a fact that always was, is in no timeline.
    - What was replaced or undone, what is pending, and what belongs to a play is in no answer.
    - Worlds do not see each other.
    """

    async def edges(
        self, world_id: str, ends: Sequence[str], *, at: Moment | None = None, limit: int
    ) -> list[Edge]: ...

    async def entities(self, world_id: str, ids: Sequence[str]) -> dict[str, EntityContent]: ...

    async def names(self, world_id: str, ids: Sequence[str]) -> dict[str, NodeName]: ...

    async def about(
        self,
        world_id: str,
        kind: TrueKind,
        *,
        end: str | None = None,
        at: Moment | None = None,
        after: str | None = None,
        limit: int = 100,
    ) -> list[ChangeRow]: ...

    async def timeline(
        self, world_id: str, span: TimeSpan, *, after: tuple[Moment, str] | None = None, limit: int = 100
    ) -> list[ChangeRow]: ...
