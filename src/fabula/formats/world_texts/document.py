"""What a written world is made of: plain texts and numbers, whoever told them. Everything in it is untrusted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

PLAIN_WORDS: Final = "="
"""Stands before the id of a node that is no entity but plain words. The id of an entity never has it."""


@dataclass(frozen=True, kw_only=True)
class WrittenEntity:
    """Somebody or something."""

    id: str
    kind: str
    name: str
    aliases: Sequence[str] = ()
    description: str = ""
    tags: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class WrittenEdge:
    """A fact, a relationship or an event. `object` is the id of an entity or plain words, and may be empty."""

    id: str
    kind: str
    subject: str
    predicate: str
    object: str
    strength: float | None = None
    since: int | None = None
    until: int | None = None


@dataclass(frozen=True, kw_only=True)
class WorldDocument:
    """A world; its entities stand before the edges that name them."""

    world_id: str
    name: str
    description: str
    version: int
    entities: Sequence[WrittenEntity]
    edges: Sequence[WrittenEdge]
    axioms: Sequence[str] = ()


def plain_ends(world: WorldDocument) -> list[str]:
    """The ends of edges that are no entities, each once."""
    known = {entity.id for entity in world.entities}
    ends = (end for edge in world.edges for end in (edge.subject, edge.object) if end)
    return [end for end in dict.fromkeys(ends) if end not in known]
