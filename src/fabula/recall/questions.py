"""What is asked of memory: the words, people and dates of a question, and the sort of answer that it wants.

A question may be a sentence, some keywords, or what was just said in a scene. Names of people are taken out of its
words: they stand everywhere, and tell only who is asked about.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from fabula.language.stemming import content_words, language_of, stem_in
from fabula.recall.imprints import Sign, name_words
from fabula.recall.spoken_dates import dates_in, is_date_word

MOST_TERMS = 24
_ASKING = frozenset({"kind", "kinds", "type", "many", "long", "often", "name"})

_WANTED: tuple[tuple[re.Pattern[str], Sign], ...] = (
    (re.compile(r"\bwhen\b|\bwhat (?:date|day|month|year)\b|\bhow long ago\b|\bwhich (?:month|year)\b"), "time"),
    (re.compile(r"\bwhere\b|\b(?:what|which) (?:city|country|place|state|town|village)\b"), "place"),
    (re.compile(r"\bhow long\b|\bhow many (?:year|month|week|day|hour)s\b"), "duration"),
    (re.compile(r"\bhow (?:many|much|old)\b"), "number"),
    (re.compile(r"\bhow (?:often|frequent)"), "frequency"),
    (
        re.compile(
            r"\b(?:which|what) (?:\w+ )?(?:book|movie|game|song|band|team|city|country|state|place|name|company|show"
            r"|series|event|festival|author|artist|brand|ship|tavern|town|village)s?\b|\bwho\b|\bwhere\b|\bname"
        ),
        "name",
    ),
)


@dataclass(frozen=True, kw_only=True)
class RecallQuestion:
    """`words` are as they were asked, `terms` their stems, each once; `pairs` are stems that follow each other.

    `named` are the people it names, in lower case; `wanted` are the signs that a good answer has.
    """

    words: tuple[str, ...]
    terms: tuple[str, ...]
    pairs: tuple[tuple[str, str], ...] = ()
    joined: tuple[str, ...] = ()
    named: frozenset[str] = frozenset()
    dates: tuple[str, ...] = ()
    wanted: frozenset[Sign] = frozenset()


def read_question(text: str, names: Iterable[str] = ()) -> RecallQuestion:
    """Reads a question about a past in which people with these names occur."""
    known = {name: name_words([name]) for name in names}
    every = frozenset().union(*known.values()) if known else frozenset[str]()
    language, low = language_of(text), text.lower()
    dates = dates_in(text, None)
    spoken = content_words(text, language)
    words = [word for word in spoken if word not in every and word not in _ASKING]
    stems = [stem_in(word, language) for word in words]
    kept = [(w, s) for w, s in zip(words, stems, strict=True) if not (dates and is_date_word(w))]
    return RecallQuestion(
        words=tuple(dict.fromkeys(word for word, _ in kept))[:MOST_TERMS],
        terms=tuple(dict.fromkeys(stem for _, stem in kept))[:MOST_TERMS],
        pairs=tuple(pairwise(stems))[:MOST_TERMS],
        joined=tuple(stem_in(a + b, language) for a, b in pairwise(spoken))[:MOST_TERMS],
        named=frozenset(name.lower() for name, parts in known.items() if parts & set(spoken)),
        dates=tuple(dates),
        wanted=frozenset(sign for pattern, sign in _WANTED if pattern.search(low)),
    )
