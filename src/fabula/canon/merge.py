"""Two entities that turned out to be one: whose names and facts they get; pure."""

from __future__ import annotations

from typing import assert_never

from fabula.story.canon import (
    AxiomContent,
    Content,
    EntityContent,
    EventContent,
    FactContent,
    RelationshipContent,
    StateContent,
)

MOST_NAMES = 20


def merged_entity(left: EntityContent, gone: EntityContent) -> EntityContent:
    """The first entity with the names, tags and words of the other."""
    names = [*left.aliases, gone.name, *gone.aliases]
    aliases = [name for name in dict.fromkeys(names) if name != left.name][:MOST_NAMES]
    words = " ".join(dict.fromkeys(text for text in (left.description, gone.description) if text))
    return left.model_copy(
        update={
            "aliases": aliases,
            "tags": list(dict.fromkeys([*left.tags, *gone.tags]))[:MOST_NAMES],
            "description": words[:4000],
            "anchor": left.anchor or gone.anchor,
        }
    )


def renamed(content: Content, old: str, new: str) -> Content:
    """A content in which one entity stands for another."""
    match content:
        case FactContent() | RelationshipContent():
            ends = {"subject": _other(content.subject, old, new), "object": _other(content.object, old, new)}
            return content.model_copy(update=ends)
        case EventContent():
            who = list(dict.fromkeys(_other(one, old, new) for one in content.who))
            where = None if content.where is None else _other(content.where, old, new)
            return content.model_copy(update={"who": who, "where": where})
        case EntityContent() | StateContent() | AxiomContent():
            return content
        case _:
            assert_never(content)


def _other(name: str, old: str, new: str) -> str:
    return new if name == old else name
