"""The extractor's prompt and its answer: lines of a play become proposed changes of canon, each with its exact words.

A model proposes; what it cannot quote from the lines is thrown away, and the canon keeper's policy judges the rest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Final

from pydantic import TypeAdapter, ValidationError

from fabula.agents.phrases import titled
from fabula.agents.replies.json_answers import json_in
from fabula.ports.models import Message
from fabula.story.canon import Content, EntityContent, EventContent, FactContent, RelationshipContent

MOST_ITEMS: Final = 20
MOST_LETTERS: Final = 24_000
MOST_KNOWN: Final = 120
SHORTEST_QUOTE: Final = 8

# Read once while the module is imported: a running server must not touch files on its event loop.
_ROLE = files("fabula.agents").joinpath("texts", "canon_extractor.txt").read_text("utf-8").strip()
_content: TypeAdapter[Content] = TypeAdapter(Content)


def write_extraction_prompt(lines: Sequence[str], known: Mapping[str, str]) -> tuple[Message, ...]:
    """What the extractor is told: who is known, by id and name, and the lines, the newest as far as they fit."""
    kept: list[str] = []
    left = MOST_LETTERS
    for line in reversed(lines):
        left -= len(line)
        if left < 0:
            break
        kept.append(line)
    people = "\n".join(f"{id}: {name}" for id, name in list(known.items())[:MOST_KNOWN])
    parts = [titled("Those who are known", people), titled("Lines", "\n".join(reversed(kept)))]
    return (
        Message(role="system", content=_ROLE.replace("{most}", str(MOST_ITEMS))),
        Message(role="user", content="\n\n".join(part for part in parts if part)),
    )


def read_extraction(
    reply: str, lines: Sequence[str], known: Mapping[str, str], *, minute: int
) -> list[tuple[Content, str]]:
    """The changes in a reply, each with its quote: only what has the right shape, names those who are known, and is
    quoted word for word. Nothing that a model writes makes this fail."""
    items, _ = json_in(reply[reply.find("[") : reply.rfind("]") + 1])
    heard = [" ".join(line.split()).casefold() for line in lines]
    made: list[tuple[Content, str]] = []
    new: set[str] = set()
    for item in items[:MOST_ITEMS] if isinstance(items, list) else []:
        read = _read(item, minute)
        if read is None or not _is_quoted(read[1], heard):
            continue
        if isinstance(read[0], EntityContent):
            new.add(read[0].entity_id)
        made.append(read)
    return [(content, quote) for content, quote in made if _is_about_known(content, new | set(known))]


def _read(item: object, minute: int) -> tuple[Content, str] | None:
    if not isinstance(item, dict) or item.get("kind") not in ("fact", "relationship", "event", "entity"):
        return None
    fields = {str(name): value for name, value in item.items() if name != "quote"}
    if fields["kind"] == "event":
        fields.setdefault("at", minute)
    elif fields["kind"] in ("fact", "relationship"):
        fields.setdefault("since", minute)
    # What a model may not decide: that something is there because its author wants it, and who knows it.
    for name in ("anchor", "known_to"):
        fields.pop(name, None)
    try:
        return _content.validate_python(fields), str(item.get("quote", ""))[:1000]
    except ValidationError:
        return None


def _is_quoted(quote: str, heard: Sequence[str]) -> bool:
    words = " ".join(quote.split()).casefold()
    return len(words) >= SHORTEST_QUOTE and any(words in line for line in heard)


def _is_about_known(content: Content, known: set[str]) -> bool:
    match content:
        case FactContent():
            return content.subject in known
        case RelationshipContent():
            return content.subject in known and content.object in known
        case EventContent():
            return set(content.who) <= known
        case _:
            return True
