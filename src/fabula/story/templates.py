"""Template variables in a character's texts: `{{char}}`, `{{user}}` and `{{field}}` for its own variables.

A short text can name a long variable very often, so what is written into texts has a bound: what would make a text, or
those of a cast together, longer stays as its author wrote it, with its braces.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Final

from fabula.story.contexts import CastMember, KnownFact
from fabula.story.field_bounds import LONGEST_TEXT
from fabula.story.knowledge import Fact, is_open, known_to, was_revealed
from fabula.story.resources import CharacterContent
from fabula.story.schemas import Schema
from fabula.story.values import Json, JsonObject

# Blanks around a name are cut off afterwards: a pattern that also looked for them would be cubic in their number.
_VARIABLE = re.compile(r"\{\{([^{}]+)\}\}")
NAMELESS_PLAYER = "User"
LONGEST_FILLED: Final = LONGEST_TEXT
"""So long a text may become by its variables."""
MOST_FILLED: Final = 4 * LONGEST_FILLED
"""So many letters variables may add to the texts of a cast together."""


class Filling:
    """Fills the texts of a cast in one state of a play: each once, as roles see the same people again and again."""

    def __init__(self, *, user: str | None) -> None:
        self._user = user or NAMELESS_PLAYER
        self._left = MOST_FILLED
        self._filled: dict[tuple[str, str], str] = {}
        # By identity: those who have a schema in common have its defaults in common. The value is kept with its text,
        # so that no other value gets its identity meanwhile.
        self._texts: dict[int, tuple[Json, str]] = {}

    def fill(self, text: str, *, id: str, char: str, fields: Mapping[str, Json]) -> str:
        """A character's text with its variables filled in once; unknown ones stay as they are, values that are no
        texts are JSON."""
        if "{{" not in text:
            return text
        if (id, text) not in self._filled:
            filled = self._fill(text, {**fields, "char": char, "user": self._user})
            self._left -= max(0, len(filled) - len(text))
            self._filled[id, text] = filled
        return self._filled[id, text]

    def _fill(self, text: str, known: Mapping[str, Json]) -> str:
        room = min(self._left, LONGEST_FILLED - len(text))

        def value(found: re.Match[str]) -> str:
            nonlocal room
            name = found.group(1).strip()
            if name not in known:
                return found.group()
            held = self._text_of(known[name])
            more = len(held) - len(found.group())
            if more > max(0, room):
                return found.group()
            room -= more
            return held

        return _VARIABLE.sub(value, text)

    def _text_of(self, value: Json) -> str:
        if isinstance(value, str):
            return value
        if id(value) not in self._texts:
            self._texts[id(value)] = (value, json.dumps(value, ensure_ascii=False))
        return self._texts[id(value)][1]


def cast_member(
    content: CharacterContent,
    *,
    state: JsonObject,
    schema: Schema | None,
    filling: Filling,
    facts: Iterable[Fact] | None = None,
) -> CastMember:
    """A character as the roles see it: its texts filled from its live variables, else from the schema's defaults.

    `facts` are those that the role may know; without them it knows all.
    """
    defaults = {key: field.default for key, field in schema.fields.items()} if schema else {}
    fields: dict[str, Json] = {**defaults, **state}

    def filled(text: str) -> str:
        return filling.fill(text, id=content.id, char=content.name, fields=fields)

    return CastMember(
        id=content.id,
        name=content.name,
        personality=filled(content.personality),
        style=filled(content.style),
        system_prompt=filled(content.system_prompt),
        state=state,
        facts=[
            KnownFact(
                text=filled(fact.text),
                always=is_open(fact),
                known_to=known_to(fact) or [],
                secret=fact.secret,
                revealed=was_revealed(fact),
            )
            for fact in (content.facts if facts is None else facts)
        ],
    )
