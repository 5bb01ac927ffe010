"""Words of plain text: split, stemmed and told apart from the words that stand in every sentence.

One list of stop words and one stem serve everyone who asks what a text is about.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Set

from fabula.language.caches import cached_if_short

_LONGEST_KEPT = 40
"""What is made of a longer word is not kept: somebody may write a megabyte without a space."""
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?")


def word_set(text: str) -> frozenset[str]:
    """The words of a text, for lists that are written as prose."""
    return frozenset(text.split())


STOP = word_set(
    """a about after again all also am an and any are as at away back be because been before being but by can come could
    did do does doing done down each even ever for from get give go going gone got had has have having he her here hers
    him his how i if in into is it its just let like make may me might mine more most much must my never no none not
    nothing now of off on once one only or other our out over own perhaps please put quite really say see shall she
    should so some something still such take tell than that the their them then there these they thing this those
    through to too toward under until up upon us very want was way we well went were what when where which while who
    whom whose why will with without would yes yet you your yours yourself player scene story
    left right"""
)


def words_of(text: str) -> list[str]:
    """The words of a text in lower case, with straight apostrophes."""
    return [word.lower() for word in _WORD.findall(text.replace("’", "'"))]


@cached_if_short(most=20_000, longest=_LONGEST_KEPT)
def stem(word: str) -> str:
    """The part of a word that its forms share; rough, and the same rough on both sides of a comparison."""
    word = word.removesuffix("'s")
    for ending in ("ingly", "edly", "ing", "ied", "ies", "ed", "es", "ly", "er", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)]
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "aeiouls":
        word = word[:-1]
    return word.rstrip("eiy") if len(word.rstrip("eiy")) >= 3 else word


def stems(text: str) -> frozenset[str]:
    """What a text is about: the stems of its telling words."""
    return frozenset(map(stem, telling_words(text)))


def telling_words(text: str) -> list[str]:
    """The words of a text without those that stand in every sentence, and without the shortest."""
    return [word for word in words_of(text.replace("_", " ")) if word not in STOP and len(word) > 2]


def singular(word: str) -> str:
    """A word without the `s` of its plural."""
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def name_words(name: str) -> frozenset[str]:
    """The words by which somebody is known, without articles and other small words."""
    return frozenset(telling_words(name))


def as_name(word: str, names: Set[str]) -> str | None:
    """Which of some names a word is: whole, or with the ending of a possessive or a plural.

    Names are never compared by stems: a stem may be all that is left of another word, and `water` is not Wat.
    """
    return next((one for one in _forms(word) if one in names), None)


def _forms(word: str) -> tuple[str, str]:
    whole = word.removesuffix("'s")
    return whole, singular(whole)


def name_forms(said: Iterable[str]) -> frozenset[str]:
    """All names of one word that some words may be, where very many names are looked for; see `as_name`."""
    return frozenset(form for word in frozenset(said) for form in _forms(word))


def names_said(name: str, said: Iterable[str]) -> frozenset[str]:
    """The words of a name that stand among some words."""
    known = name_words(name)
    return frozenset(found for word in said if (found := as_name(word, known)) is not None)
