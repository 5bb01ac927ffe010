"""Words: their dictionary forms, and slips of the pen put right."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from fabula.language.words import word_set
from fabula.understudy.reading.lexicon import (
    ADJECTIVES,
    ADVERBS,
    AUXILIARIES,
    CLASSES_OF,
    CONJUNCTIONS,
    DETERMINERS,
    DISCOURSE,
    ENGLISH,
    NEUTRAL,
    NOUN_FORMS,
    PREPOSITIONS,
    PRONOUNS,
    SUBJECTS,
    SYNONYMS,
    VERB_FORMS,
)

SMALL = PREPOSITIONS | DETERMINERS | AUXILIARIES | PRONOUNS | SUBJECTS | CONJUNCTIONS | word_set("not me us")
"""Words that hold a sentence together and name nothing."""
_LONG_WORD = 6
_KNOWN_VERBS = frozenset(CLASSES_OF) | frozenset(VERB_FORMS.values())


@lru_cache(maxsize=20_000)
def verb_of(word: str) -> str:
    """A word as a verb in its dictionary form."""
    if word in VERB_FORMS:
        return VERB_FORMS[word]
    if word in _KNOWN_VERBS:
        return word
    return next((base for base in _verb_bases(word) if base in _KNOWN_VERBS), "") or next(
        (base for base in _verb_bases(word) if base in ENGLISH), word
    )


def _verb_bases(word: str) -> list[str]:
    for ending, added in (("ies", "y"), ("ied", "y"), ("ying", "ie")):
        if word.endswith(ending) and len(word) > len(ending) + 1:
            return [word[: -len(ending)] + added, word[: -len(ending)] + ending[0]]
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) > len(ending) + 1 and not word.endswith("ss"):
            stem = word[: -len(ending)]
            undoubled = stem[:-1] if len(stem) > 2 and stem[-1] == stem[-2] else stem
            return [stem, f"{stem}e", undoubled] if ending != "s" else [stem]
    return []


@lru_cache(maxsize=20_000)
def noun_of(word: str) -> str:
    """A word as a noun in its dictionary form."""
    if word in NOUN_FORMS:
        return NOUN_FORMS[word]
    if len(word) > 3 and word.endswith("ies"):
        return f"{word[:-3]}y"
    if len(word) > 4 and word.endswith(("ches", "shes", "sses", "xes", "zes")):
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


@lru_cache(maxsize=20_000)
def lemmas_of(word: str) -> frozenset[str]:
    """A word, and what a dictionary has for it as a verb and as a noun."""
    return frozenset((word, verb_of(word), noun_of(word)))


@lru_cache(maxsize=20_000)
def is_past_form(word: str) -> bool:
    """Whether a word is a verb of the past: `went`, `walked`; also those that look like the present: `read`."""
    if word in VERB_FORMS:
        return not word.endswith(("ing", "es")) and word not in ("am", "is", "are", "has", "does", "says")
    return word in ("read", "put", "cut", "hit", "let", "set", "shut") or (
        word.endswith("ed") and verb_of(word) != word
    )


@lru_cache(maxsize=20_000)
def is_verb(word: str) -> bool:
    """Whether a word can be a verb that the lexicons know."""
    return verb_of(word) in CLASSES_OF


def is_word(word: str) -> bool:
    """Whether a word is one of English, as far as the lexicons know."""
    return (
        word in ENGLISH
        or word in SMALL
        or word in ADVERBS
        or word in NEUTRAL
        or word in DISCOURSE
        or word in ADJECTIVES
        or word in SYNONYMS
        or is_verb(word)
        or noun_of(word) in ENGLISH
        or verb_of(word) in ENGLISH
    )


def put_right(word: str, story: frozenset[str], repairs: frozenset[str]) -> str:
    """A word as it was meant: one of the story's, or a common verb, if it is only a slip of the pen away."""
    if len(word) < 3 or word.isdigit() or word in story or noun_of(word) in story or verb_of(word) in story:
        return word
    if is_word(word):
        return _nearest(word, repairs, most=1) or word if len(word) >= _LONG_WORD else word
    most = 2 if len(word) >= _LONG_WORD else 1
    return _nearest(word, story, most=most) or _nearest(word, _COMMON, most=most) or word


_COMMON = frozenset(_KNOWN_VERBS) | frozenset(SYNONYMS) | SMALL | ADVERBS | NEUTRAL


def _nearest(word: str, among: Iterable[str], *, most: int) -> str:
    letters = sorted(word)
    found: list[tuple[int, bool, str]] = []
    for other in among:
        if abs(len(other) - len(word)) > most or len(other) < 3:
            continue
        mixed = sorted(other) != letters
        if other[0] == word[0] or not mixed:
            found.append((slips(word, other), mixed, other))
    return next((other for distance, _, other in sorted(found) if distance <= most), "")


def slips(one: str, other: str) -> int:
    """How many slips of the pen make one word of the other: letters changed, lost, added, or two exchanged."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        last, before, row = before, row, [i]
        for j, b in enumerate(other, 1):
            least = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b))
            if i > 1 and j > 1 and a == other[j - 2] and one[i - 2] == b:
                least = min(least, last[j - 2] + 1)
            row.append(least)
    return row[-1]
