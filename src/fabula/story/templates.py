"""Template variables in a character's texts: `{{char}}`, `{{user}}` and `{{field}}` for its own variables."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping

from fabula.story.contexts import CastMember, KnownFact
from fabula.story.knowledge import Fact, is_open, known_to, was_revealed
from fabula.story.resources import CharacterContent
from fabula.story.schemas import Schema
from fabula.story.values import Json, JsonObject

# Blanks around a name are cut off afterwards: a pattern that also looked for them would be cubic in their number.
_VARIABLE = re.compile(r"\{\{([^{}]+)\}\}")
NAMELESS_PLAYER = "User"


def fill(text: str, *, char: str, user: str, fields: Mapping[str, Json]) -> str:
    """The text with its variables filled in once; unknown ones stay as they are, values that are no texts are JSON."""
    if "{{" not in text:
        return text
    known: dict[str, Json] = {**fields, "char": char, "user": user}

    def value(found: re.Match[str]) -> str:
        name = found.group(1).strip()
        if name not in known:
            return found.group()
        held = known[name]
        return held if isinstance(held, str) else json.dumps(held, ensure_ascii=False)

    return _VARIABLE.sub(value, text)


def cast_member(
    content: CharacterContent,
    *,
    user: str | None,
    state: JsonObject,
    schema: Schema | None,
    facts: Iterable[Fact] | None = None,
) -> CastMember:
    """A character as the roles see it: its texts filled from its live variables, else from the schema's defaults.

    `facts` are those that the role may know; without them it knows all.
    """
    defaults = {key: field.default for key, field in schema.fields.items()} if schema else {}
    fields: dict[str, Json] = {**defaults, **state}
    name = user or NAMELESS_PLAYER

    def filled(text: str) -> str:
        return fill(text, char=content.name, user=name, fields=fields)

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
