"""A world as Cypher statements, one a line, to be run in Neo4j or Memgraph.

Nothing of the world becomes a word of the language: labels and types come from closed alphabets, all else is a string
that cannot end before its quote.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from fabula.formats.world_texts.document import PLAIN_WORDS, WorldDocument, WrittenEdge, WrittenEntity, plain_ends

_LABELS: Final = {
    "character": "Character",
    "faction": "Faction",
    "place": "Place",
    "object": "Object",
    "concept": "Concept",
}
_TYPE: Final = re.compile(r"[a-z][a-z0-9_]{0,59}\Z")
_ESCAPES: Final = {"'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\"}


def write_cypher(world: WorldDocument) -> str:
    """The world as statements; run them in a database without these entities."""
    return "".join(f"{statement}\n" for statement in _statements(world))


def _statements(world: WorldDocument) -> Iterator[str]:
    for entity in world.entities:
        yield f"CREATE (:Entity:{_LABELS.get(entity.kind, 'Concept')} {_properties(_of_entity(world, entity))});"
    for words in plain_ends(world):
        node = {"id": PLAIN_WORDS + words, "world": world.world_id, "name": words}
        yield f"CREATE (:Entity:Value {_properties(node)});"
    known = {entity.id for entity in world.entities}
    for edge in world.edges:
        yield from _of_edge(world, edge, known)


def _of_entity(world: WorldDocument, entity: WrittenEntity) -> dict[str, str | float | list[str] | None]:
    return {
        "id": entity.id,
        "world": world.world_id,
        "name": entity.name,
        "aliases": list(entity.aliases),
        "description": entity.description,
        "tags": list(entity.tags),
    }


def _of_edge(world: WorldDocument, edge: WrittenEdge, known: set[str]) -> Iterator[str]:
    source, target = edge.subject or edge.object, edge.object or edge.subject
    if not source:
        return
    a, b = (_string(end if end in known else PLAIN_WORDS + end) for end in (source, target))
    matched = edge.kind != "event" and _TYPE.match(edge.predicate) is not None
    values = _properties(
        {
            "id": edge.id,
            "kind": edge.kind,
            "predicate": edge.predicate,
            "strength": edge.strength,
            "since": edge.since,
            "until": edge.until,
        }
    )
    world_id, type = _string(world.world_id), edge.predicate.upper() if matched else "EVENT"
    yield (
        f"MATCH (a:Entity {{id: {a}, world: {world_id}}}), (b:Entity {{id: {b}, world: {world_id}}}) "
        f"CREATE (a)-[:{type} {values}]->(b);"
    )


def _properties(values: Mapping[str, str | float | list[str] | None]) -> str:
    shown = [f"{name}: {_value(value)}" for name, value in values.items() if value not in (None, "", [])]
    return "{" + ", ".join(shown) + "}"


def _value(value: str | float | list[str] | None) -> str:
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, list):
        return "[" + ", ".join(map(_string, value)) + "]"
    return str(value)


def _string(text: str) -> str:
    """A text between quotes, on one line.

    Some readers turn `\\u0027` into a quote before they look for the end of a string, whatever stands before it; so a
    backslash and a `u` never stand together.
    """
    inside = "".join(_ESCAPES.get(letter, letter if letter.isprintable() else " ") for letter in text)
    return "'" + inside.replace("\\\\u", "\\\\' + 'u").replace("\\\\U", "\\\\' + 'U") + "'"
