"""What an author wrote in a plan, as a reader meets it in a scene: seen and heard, in other words than the plan's."""

from __future__ import annotations

import re

from fabula.language.english import bare, closed, first_person_verb, sentences, without_stage_words
from fabula.language.titles import noun_phrases

_SUBJECT = r"\A(?P<who>(?:[A-Z][\w'’-]*(?: [A-Z][\w'’-]*)*)|(?:(?:The|A|An|One|Some)(?: [\w'’-]+){1,3}?))"
_DOES = re.compile(rf"{_SUBJECT} (?P<verb>[a-z]{{2,}}(?<![suie])s)\b(?P<rest>.*)")
_IS = re.compile(rf"{_SUBJECT} (?:is|are) (?P<rest>.+)")
_HAS = re.compile(rf"{_SUBJECT} (?P<verb>has|have|had|was|were|will|can|cannot|must) (?P<rest>.+)")


def retold(line: str) -> str:
    """The first sentence of a line as something that the player witnesses; nothing where that cannot be said well."""
    first = bare((sentences(line) or [""])[0])
    if re.search(r"\b[Pp]layer\b", first):
        told = closed(without_stage_words(first, "you"))
        return f"By now it is plain: {told[0].lower()}{told[1:]}" if told.startswith("You ") else ""
    for pattern, tell in ((_IS, _found), (_HAS, _noticed), (_DOES, _watched)):
        found = pattern.fullmatch(first)
        if found is not None:
            return tell(found)
    return ""


def topic_of(line: str) -> str:
    """What a line is about, as a player may ask for it: `the last carriage`."""
    phrases = noun_phrases(line)
    return max(phrases[:3], key=lambda phrase: len(phrase.split()), default="what is going on")


def _watched(found: re.Match[str]) -> str:
    """`Odile counts the passengers, and counts again`: `You watch Odile count the passengers, and count again.`"""
    rest = re.sub(
        r"(, and|, then| and then) ([a-z]{2,}(?<![suie])s)\b",
        lambda m: f"{m[1]} {first_person_verb(m[2])}",
        found["rest"],
    )
    return closed(f"You watch {_inner(found['who'])} {first_person_verb(found['verb'])}{rest}")


def _found(found: re.Match[str]) -> str:
    return closed(f"You find {_inner(found['who'])} {found['rest']}")


def _noticed(found: re.Match[str]) -> str:
    return closed(f"{found['who']}, it seems, {found['verb']} {found['rest']}")


def _inner(who: str) -> str:
    first, space, rest = who.partition(" ")
    return f"{first.lower()}{space}{rest}" if first in ("The", "A", "An", "One", "Some") else who
