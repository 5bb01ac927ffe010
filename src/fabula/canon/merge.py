"""Two entities that turned out to be one: whose names and facts they get, and how what names the one that is gone is
read; pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Final, assert_never

from fabula.story.canon import (
    AxiomContent,
    Change,
    Content,
    EntityContent,
    EventContent,
    FactContent,
    RelationshipContent,
    StateContent,
    Step,
    Verdict,
    entities_in,
)

MOST_NAMES = 20
MERGED: Final = "merged"
"""The rule of the step that says as whom a change was read."""


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


def renamed(content: Content, names: Mapping[str, str]) -> Content:
    """A content in which some entities stand for others."""
    match content:
        case FactContent() | RelationshipContent():
            ends = {"subject": _other(content.subject, names), "object": _other(content.object, names)}
            return content.model_copy(update={**ends, "known_to": _others(content.known_to, names)})
        case EventContent():
            where = None if content.where is None else _other(content.where, names)
            who, known_to = _others(content.who, names), _others(content.known_to, names)
            return content.model_copy(update={"who": who, "where": where, "known_to": known_to})
        case StateContent():
            return content.model_copy(update={"subject": _other(content.subject, names)})
        case EntityContent() | AxiomContent():
            return content
        case _:
            assert_never(content)


def _other(name: str, names: Mapping[str, str]) -> str:
    return names.get(name, name)


def _others(listed: Iterable[str], names: Mapping[str, str]) -> list[str]:
    return list(dict.fromkeys(_other(one, names) for one in listed))


def followed(mergers: Mapping[str, str]) -> dict[str, str]:
    """Who is left in the place of each that is gone, where those who were left were merged again."""
    left_of: dict[str, str] = {}
    for gone in mergers:
        way, at = dict[str, None](), gone
        while at in mergers and at not in left_of and at not in way:
            way[at] = None
            at = mergers[at]
        left_of.update(dict.fromkeys(way, left_of.get(at, at)))
    return left_of


def all_names(ids: Collection[str], left_of: Mapping[str, str]) -> list[str]:
    """Entities by every id under which something may be written about them, those that are gone included."""
    wanted = {_other(id, left_of) for id in ids}
    return sorted({*ids, *wanted, *(gone for gone, left in left_of.items() if left in wanted)})


def read_as(change: Change, left_of: Mapping[str, str], entities: Mapping[str, EntityContent]) -> Change:
    """A change as one about those who are left. `entities` are they, where it says who somebody is."""
    content = change.content
    read: Content
    if isinstance(content, EntityContent):
        read = _as_left(content, entities.get(_other(content.entity_id, left_of)), left_of)
    else:
        read = renamed(content, left_of)
    return change if read == content else change.model_copy(update={"content": read})


def _as_left(content: EntityContent, left: EntityContent | None, left_of: Mapping[str, str]) -> EntityContent:
    if content.entity_id not in left_of:
        return content
    if left is None:
        return content.model_copy(update={"entity_id": left_of[content.entity_id]})
    # By any of its names it is the one that is left; another name or kind is for the policy to judge.
    name = left.name if content.name in (left.name, *left.aliases) else content.name
    return merged_entity(left, content).model_copy(update={"name": name, "entity_kind": content.entity_kind})


def explained(verdict: Verdict, proposed: Change, read: Change, left_of: Mapping[str, str]) -> Verdict:
    """A verdict that says first as whom a change was read."""
    if proposed.content == read.content:
        return verdict
    content = proposed.content
    named = (*entities_in(content), *getattr(content, "known_to", ()), getattr(content, "subject", ""))
    gone = {id: left_of[id] for id in named if id in left_of}
    words = ", ".join(f"'{id}' is '{left}'" for id, left in gone.items())
    step = Step(rule=MERGED, found={**gone}, sentence=f"Since a merger {words}: it is read as being about that one.")
    return verdict.model_copy(update={"steps": [step, *verdict.steps]})


def is_read_otherwise(verdict: Verdict) -> bool:
    """Whether a change was judged as one about others than it names."""
    return any(step.rule == MERGED for step in verdict.steps)
