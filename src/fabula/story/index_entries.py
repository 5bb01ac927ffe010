"""What a resource is found by: its name, other words that lead to it, and a few words to show; pure.

Of a lorebook each entry is found by itself, too. No entry holds anything of a story that is not on its title page: what
happens in scenes is found by nobody.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from fabula.language.search_words import search_words
from fabula.language.titles import title_of
from fabula.story.values import Json, JsonObject

LONGEST_NAME: Final = 1_000
LONGEST_EXCERPT: Final = 240
MOST_NAME_WORDS: Final = 40
MOST_OTHER_WORDS: Final = 60
LONGEST_LABEL: Final = 100
MOST_LABELS: Final = 40
MOST_PARTS: Final = 2_000
"""How many entries of one lorebook are found by themselves; those behind them are not."""


@dataclass(frozen=True, kw_only=True)
class IndexEntry:
    """One thing to be found. `part` names what is inside a resource; the resource itself has none.

    `scope` is what is listed together with it. `words`, `scenes` and `endings` tell how long a story is.
    """

    scope: str
    name: str
    part: str = ""
    text: str = ""
    labels: tuple[str, ...] = ()
    words: int | None = None
    scenes: int | None = None
    endings: int | None = None

    @property
    def excerpt(self) -> str:
        """The beginning of its text on one line."""
        return shortened(self.text, LONGEST_EXCERPT)

    @property
    def digest(self) -> str:
        """Changes with everything that an index keeps of it."""
        told = (self.scope, self.name, self.excerpt, *self.labels, f"{self.words}/{self.scenes}/{self.endings}")
        return hashlib.sha256("\0".join(told).encode("utf-8", "replace")).hexdigest()[:16]

    def found_by(self) -> dict[str, int]:
        """The words that lead to it, each with its place: 0 stands in its name, 1 elsewhere."""
        # A lorebook may have thousands of parts: they are found by their titles and keywords alone.
        others = " ".join(self.labels if self.part else (*self.labels, self.excerpt))
        elsewhere = dict.fromkeys(search_words(others, most=MOST_OTHER_WORDS), 1)
        return {**elsewhere, **dict.fromkeys(search_words(self.name, most=MOST_NAME_WORDS), 0)}


def shortened(text: str, most: int) -> str:
    """A text on one line, cut between words where it is too long."""
    line = " ".join(text[: most * 4].split())
    if len(line) <= most:
        return line
    cut = line[: most - 1]
    head, _, _ = cut.rpartition(" ")
    # Where nothing is spaced, or a word is endless, it is cut where it is.
    return f"{(head if len(head) > most // 2 else cut).rstrip(' ,;:')}…"


def index_entries(kind: str, id: str, doc: JsonObject) -> list[IndexEntry]:
    """A resource as it is found. A document that lacks what its kind has is found by what is there."""
    made = _MAKERS.get(kind, _named)
    return list(made(kind, id, doc))


def _named(kind: str, id: str, doc: JsonObject) -> Iterator[IndexEntry]:
    yield IndexEntry(scope=kind, name=_name(doc, "display_name", id))


def _with_id(kind: str, id: str, doc: JsonObject) -> Iterator[IndexEntry]:
    """Whose id an author chose, and may remember."""
    yield IndexEntry(scope=kind, name=_name(doc, "display_name", id), labels=(id,))


def _schema(kind: str, id: str, doc: JsonObject) -> Iterator[IndexEntry]:
    fields = doc.get("fields")
    names = [str(name) for name in fields][:100] if isinstance(fields, dict) else []
    labels = (id, *_texts(doc.get("tags")))
    yield IndexEntry(scope=kind, name=_name(doc, "display_name", id), labels=labels, text=", ".join(names))


def _character(kind: str, id: str, doc: JsonObject) -> Iterator[IndexEntry]:
    content = _object(doc.get("content"))
    labels = (id, _text(content.get("folder")), *_texts(content.get("tags")))
    text = _text(content.get("personality"))
    yield IndexEntry(scope=kind, name=_name(content, "name", id), labels=labels, text=text)


def _lorebook(kind: str, id: str, doc: JsonObject) -> Iterator[IndexEntry]:
    yield from _with_id(kind, id, doc)
    entries = doc.get("entries")
    for entry in entries[:MOST_PARTS] if isinstance(entries, list) else ():
        held = _object(entry)
        part = _text(held.get("entry_id"))
        if part:
            yield IndexEntry(
                scope="lorebook_entry",
                part=part,
                name=_name(held, "title", part),
                labels=_texts(held.get("keywords")),
                text=_text(held.get("content")),
            )


def _resources(kind: str, id: str, doc: JsonObject) -> Iterator[IndexEntry]:
    concept = _text(doc.get("story_concept"))
    name = _text(doc.get("display_name")).strip() or title_of(concept[:LONGEST_NAME]) or concept
    yield IndexEntry(scope=kind, name=name[:LONGEST_NAME] or id, text=concept)


def _story(kind: str, id: str, doc: JsonObject) -> Iterator[IndexEntry]:
    length = _ink_length(doc) if doc.get("kind") == "ink" else _graph_length(doc)
    text = _text(doc.get("introduction"))
    yield IndexEntry(scope=kind, name=_name(doc, "display_name", id), text=text, **length)


def _draft(kind: str, id: str, doc: JsonObject) -> Iterator[IndexEntry]:
    yield IndexEntry(scope=kind, name=_name(doc, "display_name", id), text=_text(doc.get("introduction")))


_MAKERS: Final[Mapping[str, Callable[[str, str, JsonObject], Iterator[IndexEntry]]]] = {
    "preset": _with_id,
    "schema": _schema,
    "character": _character,
    "lorebook": _lorebook,
    "story_resources": _resources,
    "story": _story,
    "story_draft": _draft,
}


def _graph_length(doc: JsonObject) -> dict[str, Any]:
    nodes = _object(doc.get("graph")).get("nodes")
    scenes = [_object(node) for node in nodes] if isinstance(nodes, list) else []
    told = sum(len(_text(scene.get("scene")).split()) for scene in scenes)
    endings = sum(1 for scene in scenes if not scene.get("transitions"))
    return {"words": told, "scenes": len(scenes), "endings": endings}


# What stands in an Ink source beside what is told: logic, knots and stitches, declarations, diverts, notes of authors.
_NO_PROSE = re.compile(r"\A\s*(?:~|=|->|//|[{}]|(?:VAR|CONST|LIST|INCLUDE|EXTERNAL)\b|TODO:)")


def _ink_length(doc: JsonObject) -> dict[str, Any]:
    """About how many words its author wrote; only a compiler would know exactly."""
    sources = [_text(doc.get("source")), *map(_text, _object(doc.get("files")).values())]
    lines = (line for source in sources for line in source.splitlines() if not _NO_PROSE.match(line))
    return {"words": sum(1 for line in lines for word in line.split() if word[0].isalnum() or len(word) > 2)}


def _name(doc: JsonObject, field: str, id: str) -> str:
    return " ".join(_text(doc.get(field))[:LONGEST_NAME].split()) or id


def _text(value: Json) -> str:
    return value if isinstance(value, str) else ""


def _texts(value: Json) -> tuple[str, ...]:
    texts = [one for one in value if isinstance(one, str)] if isinstance(value, list) else []
    return tuple(one[:LONGEST_LABEL] for one in texts[:MOST_LABELS])


def _object(value: Json) -> JsonObject:
    return value if isinstance(value, dict) else {}
