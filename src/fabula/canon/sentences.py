"""Changes of canon in words that a player or an author would use."""

from __future__ import annotations

from collections.abc import Mapping

from fabula.language.english import closed
from fabula.language.words import word_set
from fabula.story.canon import (
    AxiomContent,
    Content,
    EntityContent,
    EventContent,
    FactContent,
    RelationshipContent,
    StateContent,
)


def sentence_of(content: Content, names: Mapping[str, str] | None = None) -> str:
    """A content as one sentence. `names` are what entities are called, by id; who has none there is named by the id."""
    known = names or {}
    match content:
        case FactContent(predicate="lore"):
            # What an author said in no other pattern is a sentence already.
            return closed(content.object)
        case FactContent() if content.predicate in _NOUNS and not _says_all(content):
            text = f"{_name(content.subject, known)}'s {content.predicate.replace('_', ' ')} is"
        case FactContent() | RelationshipContent():
            text = f"{_name(content.subject, known)} {_predicate(content)}"
        case EntityContent():
            text = f"There is {content.name}, {_article(content.entity_kind)} {content.entity_kind}"
        case EventContent():
            text = content.what
        case StateContent():
            text = f"{_name(content.subject, known)}: {content.key.replace('_', ' ')} is {content.value}"
        case AxiomContent():
            text = content.text
    # A predicate with `known` names at its other end reads as a whole.
    if isinstance(content, (FactContent, RelationshipContent)) and not _says_all(content):
        text = f"{text} {known.get(content.object, content.object)}"
    text = " ".join(text.split())
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "!", "?")) else f"{text}."


def _predicate(content: FactContent | RelationshipContent) -> str:
    words = content.predicate.replace("_", " ")
    is_state = content.predicate in _ADJECTIVES or content.predicate.endswith(_ENDINGS)
    return f"is {words}" if is_state or _says_all(content) else words


_ADJECTIVES = frozenset(
    [
        "located_in",
        "sworn_to",
        "born_in",
        "married_to",
        "loyal_to",
        "known_as",
        "revealed",
        "kept_in",
        "warmer_to",
        "colder_to",
    ]
)
_ENDINGS = ("_of", "_by")
"""Predicates that read as `is ...`: these, and all with one of these endings."""

_NOUNS = word_set(
    "age birthday birthplace colour height home name nickname occupation origin price profession rank title"
)
"""Predicates that name something of their subject: `Pell's age is eleven`."""


def _says_all(content: FactContent | RelationshipContent) -> bool:
    """Whether the object adds nothing: `orr dead yes`."""
    return isinstance(content, FactContent) and content.object.casefold() in ("yes", "true")


def _name(id: str, names: Mapping[str, str]) -> str:
    return names.get(id) or id.replace("_", " ").replace("-", " ")


def _article(word: str) -> str:
    return "an" if word[:1] in "aeiou" else "a"
