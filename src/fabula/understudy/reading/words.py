"""Words: their dictionary forms, and slips of the pen put right."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from fabula.language.caches import cached_if_short
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
LONGEST_WORD = 40
"""Longer words are no slips of the pen."""
_KNOWN_VERBS = frozenset(CLASSES_OF) | frozenset(VERB_FORMS.values())


@cached_if_short(most=20_000, longest=LONGEST_WORD)
def verb_of(word: str) -> str:
    """A word as a verb in its dictionary form."""
    if word in VERB_FORMS:
        return VERB_FORMS[word]
    if word in _KNOWN_VERBS:
        return word
    return next((base for base in _verb_bases(word) if base in _KNOWN_VERBS), "") or next(
        (base for base in _verb_bases(word) if base in ENGLISH and len(base) > 2), word
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


@cached_if_short(most=20_000, longest=LONGEST_WORD)
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


@cached_if_short(most=20_000, longest=LONGEST_WORD)
def lemmas_of(word: str) -> frozenset[str]:
    """A word, and what a dictionary has for it as a verb and as a noun."""
    return frozenset((word, verb_of(word), noun_of(word)))


@cached_if_short(most=20_000, longest=LONGEST_WORD)
def is_past_form(word: str) -> bool:
    """Whether a word is a verb of the past: `went`, `walked`; also those that look like the present: `read`."""
    if word in VERB_FORMS:
        return not word.endswith(("ing", "es")) and word not in ("am", "is", "are", "has", "does", "says")
    return word in ("read", "put", "cut", "hit", "let", "set", "shut") or (
        word.endswith("ed") and verb_of(word) != word
    )


@cached_if_short(most=20_000, longest=LONGEST_WORD)
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


def put_right(word: str, story: frozenset[str], names: frozenset[str], repairs: frozenset[str]) -> str:
    """A word as it was meant: one of the story's, or a common verb, if it is only a slip of the pen away."""
    if is_known(word, story, names):
        return word
    if is_word(word):
        return _nearest(word, repairs, most=1) or word if len(word) >= _LONG_WORD else word
    most = 2 if len(word) >= _LONG_WORD else 1
    return _nearest(word, story, names, most=most) or _nearest(word, _COMMON, most=most) or _english(word) or word


def is_known(word: str, story: frozenset[str], names: frozenset[str]) -> bool:
    """Whether a word needs no look for a slip of the pen."""
    if len(word) < 3 or word in story or word in names or word.isdigit():
        return True
    noun, verb = noun_of(word), verb_of(word)
    return noun in story or noun in names or verb in story or verb in names


_LETTERS = "abcdefghijklmnopqrstuvwxyz"


@cached_if_short(most=4_000, longest=LONGEST_WORD)
def _english(word: str) -> str:
    """A common word that a long one is one slip away from: a letter left out, two exchanged, one changed, one too many.

    The slips are undone one by one: to compare with 40,000 words would take an index of all of them.
    """
    if not _LONG_WORD <= len(word) <= LONGEST_WORD:
        return ""
    cuts = [(word[:at], word[at:]) for at in range(1, len(word) + 1)]
    undone = [
        [f"{head}{letter}{tail}" for head, tail in cuts for letter in _LETTERS],
        [f"{head}{tail[1]}{tail[0]}{tail[2:]}" for head, tail in cuts if len(tail) > 1],
        [f"{head}{letter}{tail[1:]}" for head, tail in cuts if tail for letter in _LETTERS],
        [f"{head}{tail[1:]}" for head, tail in cuts if tail],
    ]
    return next((other for slip in undone for other in slip if other in ENGLISH), "")


_COMMON = frozenset(_KNOWN_VERBS) | frozenset(SYNONYMS) | SMALL | ADVERBS | NEUTRAL


@dataclass(frozen=True, kw_only=True)
class _Index:
    """Words by their first letter and length, and by their letters in order: a line is compared with few of them."""

    by_start: Mapping[tuple[str, int], Sequence[tuple[int, str]]]
    by_letters: Mapping[str, Sequence[str]]


@lru_cache(maxsize=256)
def _index(words: frozenset[str]) -> _Index:
    by_start: defaultdict[tuple[str, int], list[tuple[int, str]]] = defaultdict(list)
    by_letters: defaultdict[str, list[str]] = defaultdict(list)
    for word in words:
        if 3 <= len(word) <= LONGEST_WORD:
            by_start[word[0], len(word)].append((_mask(word), word))
            by_letters["".join(sorted(word))].append(word)
    return _Index(by_start=by_start, by_letters=by_letters)


def _mask(word: str) -> int:
    """Which letters a word has, one bit for each; a slip of the pen changes at most two."""
    mask = 0
    for letter in word:
        mask |= 1 << (ord(letter) & 63)
    return mask


def _nearest(word: str, *among: frozenset[str], most: int) -> str:
    if len(word) > LONGEST_WORD:
        return ""
    letters, mask = "".join(sorted(word)), _mask(word)
    found: list[tuple[int, bool, str]] = []
    for index in map(_index, among):
        mixed = index.by_letters.get(letters, ())
        found += [(slips(word, other, most), False, other) for other in mixed]
        for length in range(len(word) - most, len(word) + most + 1):
            for other_mask, other in index.by_start.get((word[0], length), ()):
                if (mask ^ other_mask).bit_count() <= 2 * most and other not in mixed:
                    found.append((slips(word, other, most), True, other))
    # The longer one of two: letters are left out more often than put in.
    ranked = min(found, key=lambda one: (one[0], one[1], -len(one[2]), one[2]), default=(most + 1, False, ""))
    distance, _, nearest = ranked
    return nearest if distance <= most else ""


def slips(one: str, other: str, most: int) -> int:
    """How many slips of the pen make one word of the other: letters changed, lost, added, or two exchanged.

    Beyond `most` they are not counted to the end.
    """
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        last, before, row = before, row, [i]
        for j, b in enumerate(other, 1):
            least = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b))
            if i > 1 and j > 1 and a == other[j - 2] and one[i - 2] == b:
                least = min(least, last[j - 2] + 1)
            row.append(least)
        # Two exchanged letters reach back over one row, so that both rows must be beyond it.
        if min(row) > most and min(before) > most:
            return most + 1
    return row[-1]
