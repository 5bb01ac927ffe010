"""A world as GraphML, which networkx, Gephi and yEd read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final
from xml.sax.saxutils import escape, quoteattr

from fabula.formats.world_texts.document import PLAIN_WORDS, WorldDocument, WrittenEdge, plain_ends

# What no XML 1.0 document may have, not even escaped.
_NO_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NODE_KEYS: Final = ("kind", "name", "aliases", "description", "tags")
_EDGE_KEYS: Final = {"kind": "string", "predicate": "string", "strength": "double", "since": "long", "until": "long"}


def write_graphml(world: WorldDocument) -> str:
    """The world as one XML document."""
    return "\n".join(_lines(world)) + "\n"


def _lines(world: WorldDocument) -> Iterator[str]:
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
    for name in _NODE_KEYS:
        yield f'  <key id="n_{name}" for="node" attr.name="{name}" attr.type="string"/>'
    for name, type in _EDGE_KEYS.items():
        yield f'  <key id="e_{name}" for="edge" attr.name="{name}" attr.type="{type}"/>'
    yield f'  <graph id={_attribute(world.world_id)} edgedefault="directed">'
    for entity in world.entities:
        texts = (entity.kind, entity.name, "; ".join(entity.aliases), entity.description, "; ".join(entity.tags))
        yield from _node(entity.id, dict(zip(_NODE_KEYS, texts, strict=True)))
    for words in plain_ends(world):
        yield from _node(PLAIN_WORDS + words, {"kind": "value", "name": words})
    known = {entity.id for entity in world.entities}
    for edge in world.edges:
        yield from _edge(edge, known)
    yield "  </graph>"
    yield "</graphml>"


def _node(id: str, texts: dict[str, str]) -> Iterator[str]:
    yield f"    <node id={_attribute(id)}>"
    for name, text in texts.items():
        if text:
            yield f'      <data key="n_{name}">{_text(text)}</data>'
    yield "    </node>"


def _edge(edge: WrittenEdge, known: set[str]) -> Iterator[str]:
    # An edge has two ends; what has one leads to itself, so that no program refuses the file.
    source, target = edge.subject or edge.object, edge.object or edge.subject
    if not source:
        return
    ends = [_attribute(end if end in known else PLAIN_WORDS + end) for end in (source, target)]
    yield f"    <edge id={_attribute(edge.id)} source={ends[0]} target={ends[1]}>"
    for name in _EDGE_KEYS:
        value = getattr(edge, name)
        if value not in (None, ""):
            yield f'      <data key="e_{name}">{_text(str(value))}</data>'
    yield "    </edge>"


def _text(text: str) -> str:
    return escape(_NO_XML.sub("\ufffd", text))


def _attribute(text: str) -> str:
    # Newlines in an attribute would be read as spaces: two ids could become one.
    return quoteattr(_NO_XML.sub("\ufffd", text), {"\n": "&#10;", "\r": "&#13;", "\t": "&#9;"})
