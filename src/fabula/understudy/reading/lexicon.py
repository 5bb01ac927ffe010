"""The lexicons: what verbs, phrases and nouns mean, read once from the data files beside the code."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

from fabula.story.readings import IntentKind

GAP = 5
"""How many words `*` stands for at most."""

# Read with the code: nothing may touch the disk later, on the event loop.
_FILES = files("fabula.understudy") / "lexicon"
_ACTS: dict[str, Any] = tomllib.loads((_FILES / "acts.toml").read_text("utf-8"))
_WORDS: dict[str, Any] = tomllib.loads((_FILES / "words.toml").read_text("utf-8"))
_PATTERNS: dict[str, Any] = tomllib.loads((_FILES / "patterns.toml").read_text("utf-8"))
_NOUNS = (_FILES / "nouns.txt").read_text("utf-8")
_ENGLISH = (_FILES / "english.txt").read_text("utf-8")


def _lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line and not line.startswith("#")]


@dataclass(frozen=True, kw_only=True)
class ActClass:
    """A class of acts: what it is to whoever answers, which acts it takes for its own, and how it is read."""

    intent: IntentKind
    accepts: frozenset[str]
    opposite: frozenset[str]
    state: bool
    said: bool
    harmless: bool


CLASSES: dict[str, ActClass] = {
    name: ActClass(
        intent=row["intent"],
        accepts=frozenset(row["accepts"].split()),
        opposite=frozenset(row.get("opposite", "").split()),
        state=row.get("state", False),
        said=row.get("said", False),
        harmless=row.get("harmless", False),
    )
    for name, row in _ACTS.items()
}


def _classes_of_verbs() -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for name, row in _ACTS.items():
        for verb in row["verbs"].split():
            found.setdefault(verb, set()).add(name)
    return {verb: frozenset(classes) for verb, classes in found.items()}


CLASSES_OF: dict[str, frozenset[str]] = _classes_of_verbs()
"""The classes of each verb."""


def words(name: str) -> frozenset[str]:
    """A list of small words."""
    return frozenset(_WORDS["words"][name].split())


PREPOSITIONS = words("prepositions")
PARTICLES = words("particles")
DETERMINERS = words("determiners")
AUXILIARIES = words("auxiliaries")
PRONOUNS = words("pronouns")
SUBJECTS = words("subjects")
ADVERBS = words("adverbs")
CONJUNCTIONS = words("conjunctions")
NEUTRAL = words("neutral")
ABSTRACT = words("abstract")
PERSONS = words("persons")
DISCOURSE = words("discourse")
ADJECTIVES = words("adjectives")
YES = words("yes")
NO = words("no")
GREETINGS = words("greetings")
FAREWELLS = words("farewells")
MANNERS: dict[str, frozenset[str]] = {name: frozenset(row.split()) for name, row in _WORDS["manners"].items()}
MANNER_ACTS: dict[str, frozenset[str]] = {name: frozenset(row.split()) for name, row in _WORDS["manner_acts"].items()}
LIGHT_VERBS = frozenset(_WORDS["light_verbs"]["verbs"].split())
STATES: dict[str, frozenset[str]] = {name: frozenset(row.split()) for name, row in _WORDS["states"].items()}
FOREIGN: dict[str, frozenset[str]] = {name: frozenset(row.split()) for name, row in _WORDS["foreign"].items()}
ENGLISH = frozenset(word for line in _lines(_ENGLISH) for word in line.split())


def _groups() -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for line in _lines(_NOUNS):
        group = line.split()
        for word in group:
            found.setdefault(word, set()).update(group)
    return {word: frozenset(group) for word, group in found.items()}


SYNONYMS: dict[str, frozenset[str]] = _groups()


def _forms(text: str) -> dict[str, str]:
    """Forms that no rule makes, each with the word that a dictionary has."""
    pairs = (entry.partition(":") for entry in text.split())
    return {form: base for base, _, forms in pairs for form in forms.split("/") if form != base}


VERB_FORMS = _forms(_WORDS["forms"]["verbs"])
NOUN_FORMS = _forms(_WORDS["forms"]["nouns"])


@dataclass(frozen=True, kw_only=True)
class Phrase:
    """Words in their order, each as its alternatives; None is a gap. `meaning` is a class, or empty.

    `sure` are its words that have no alternative.
    """

    parts: tuple[frozenset[str] | None, ...]
    meaning: str
    needs: tuple[frozenset[str], ...] = field(default=())
    sure: frozenset[str] = frozenset()

    @property
    def length(self) -> int:
        return len(self.needs)


def phrase(text: str, meaning: str = "") -> Phrase:
    parts = tuple(None if part == "*" else frozenset(part.split("/")) for part in text.split())
    needs = tuple(part for part in parts if part is not None)
    sure = frozenset(word for part in needs if len(part) == 1 for word in part)
    return Phrase(parts=parts, meaning=meaning, needs=needs, sure=sure)


Lemmas = Sequence[frozenset[str]]


@dataclass(frozen=True, kw_only=True)
class Hit:
    """A phrase found in a clause, and the places of its words."""

    phrase: Phrase
    places: tuple[int, ...]


class PhraseBook:
    """Many phrases, looked for at once: only those are tried whose words all stand in the clause."""

    def __init__(self, phrases: Iterable[Phrase]) -> None:
        self._by_word: dict[str, list[Phrase]] = {}
        for one in phrases:
            for word in max(one.needs, key=lambda words: min(map(len, words))):
                self._by_word.setdefault(word, []).append(one)
        self._words = frozenset(self._by_word)

    def hits(self, lemmas: Lemmas) -> Iterator[Hit]:
        """Every phrase that stands in a clause, where it first does."""
        there = frozenset().union(*lemmas)
        for word in there & self._words:
            for one in self._by_word[word]:
                if one.sure <= there and not any(map(there.isdisjoint, one.needs)):
                    places = _match(one.parts, lemmas)
                    if places is not None:
                        yield Hit(phrase=one, places=places)


def _match(parts: tuple[frozenset[str] | None, ...], lemmas: Lemmas) -> tuple[int, ...] | None:
    for start, found in enumerate(lemmas):
        first = parts[0]
        if first is not None and not first.isdisjoint(found):
            places = _match_from(parts, lemmas, 0, start)
            if places is not None:
                return places
    return None


def _match_from(
    parts: tuple[frozenset[str] | None, ...], lemmas: Lemmas, part: int, place: int
) -> tuple[int, ...] | None:
    if part == len(parts):
        return ()
    wanted = parts[part]
    if wanted is None:
        for skipped in range(1, GAP + 1):
            if place + skipped > len(lemmas):
                return None
            rest = _match_from(parts, lemmas, part + 1, place + skipped)
            if rest is not None:
                return rest
        return None
    if place >= len(lemmas) or wanted.isdisjoint(lemmas[place]):
        return None
    rest = _match_from(parts, lemmas, part + 1, place + 1)
    return None if rest is None else (place, *rest)


def pattern(name: str) -> re.Pattern[str]:
    """One of the lists of patterns, as one."""
    return re.compile("|".join(_PATTERNS[name]))


WISHES: list[tuple[str, str, list[str]]] = [(found, put, signs) for found, put, signs in _PATTERNS["wishes"]]
ACT_PHRASES = PhraseBook(phrase(text, name) for name, row in _ACTS.items() for text in row["phrases"])
IDIOMS = PhraseBook(phrase(text) for text in _WORDS["idioms"]["phrases"])
REJECTIONS = PhraseBook(phrase(text) for text in _WORDS["rejections"]["phrases"])
