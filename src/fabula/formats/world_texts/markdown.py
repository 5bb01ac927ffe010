"""A world as Markdown, to be read by people: who and what there is, and what is true of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from fabula.formats.world_texts.document import WorldDocument, WrittenEdge

# Anything that could begin or end a mark, wherever it stands: that names read a little worse is no harm.
_MARKS: Final = re.compile(r"([\\`*_{}\[\]<>()#+!|~&=$^:@-])")
_NUMBERED: Final = re.compile(r"^(\d{1,9})([.)])")
_WWW: Final = re.compile(r"(?i)\b(www)\.")
_KINDS: Final = {
    "character": "Characters",
    "faction": "Factions",
    "place": "Places",
    "object": "Objects",
    "concept": "Concepts",
}


def write_markdown(world: WorldDocument) -> str:
    """The world as one page. No name or text in it is read as anything but words."""
    return "\n".join(_lines(world)) + "\n"


def _lines(world: WorldDocument) -> Iterator[str]:
    yield f"# {_line(world.name)}"
    if world.description:
        yield from ("", _line(world.description))
    if world.axioms:
        yield from ("", "## What can never be", "", *(f"- {_line(text)}" for text in world.axioms))
    names = {entity.id: entity.name for entity in world.entities}
    about: dict[str, list[WrittenEdge]] = {}
    for edge in world.edges:
        about.setdefault(edge.subject or edge.object, []).append(edge)
    for kind, title in _KINDS.items():
        entities = [entity for entity in world.entities if entity.kind == kind]
        if entities:
            yield from ("", f"## {title}")
        for entity in entities:
            also = f" (also {', '.join(map(_line, entity.aliases))})" if entity.aliases else ""
            yield from ("", f"### {_line(entity.name)}{also}", "")
            if entity.description:
                yield from (_line(entity.description), "")
            yield from (f"- {_sentence(edge, names)}" for edge in about.pop(entity.id, ()))
    rest = [edge for edges in about.values() for edge in edges]
    if rest:
        yield from ("", "## Else", "", *(f"- {_sentence(edge, names)}" for edge in rest))


def _sentence(edge: WrittenEdge, names: dict[str, str]) -> str:
    subject, object = (names.get(end, end) for end in (edge.subject, edge.object))
    told = (subject, edge.predicate.replace("_", " "), object)
    words = (edge.predicate, subject, object) if edge.kind == "event" else told
    when = [f"{word} {moment}" for word, moment in (("from", edge.since), ("to", edge.until)) if moment is not None]
    time = f" ({' '.join(when)})" if when else ""
    return (", " if edge.kind == "event" else " ").join(_line(word) for word in words if word) + time


def _line(text: str) -> str:
    """A text on one line, of which no reader of Markdown makes more than words."""
    plain = " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
    return _WWW.sub(r"\1\\.", _NUMBERED.sub(r"\1\\\2", _MARKS.sub(r"\\\1", plain)))
