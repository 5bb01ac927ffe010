"""Whether words touch something: a trigger, a hidden trait, a sore subject. By stems, so that forms do not matter."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from fabula.language.stemming import content_words, language_of, stem_in


def stems_in(text: str) -> frozenset[str]:
    """The stems of the telling words of a text."""
    language = language_of(text)
    return frozenset(stem_in(word, language) for word in content_words(text, language))


@lru_cache(maxsize=8192)
def _phrase_stems(phrase: str) -> frozenset[str]:
    return stems_in(phrase) or frozenset(phrase.casefold().split())


def touched_by(said: frozenset[str], phrases: Iterable[str]) -> str | None:
    """The first of some phrases that has at least half of its telling words among those that were said."""
    for phrase in phrases:
        wanted = _phrase_stems(phrase)
        if wanted and 2 * len(wanted & said) >= len(wanted):
            return phrase
    return None
