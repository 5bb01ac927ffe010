"""Stems by language: which language a text is in, and what its telling words have in common with their other forms.

1. The language is the one of which a text has the most small words (`texts/stop_words.txt`).
2. Small words are left out; of the others English gets its irregular forms (`texts/english_forms.txt`) back to one.
3. Snowball takes the endings off. It is loaded at the first word, because most commands never need it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

from fabula.language.vocabulary import UNSPACED
from fabula.language.words import words_of

ENGLISH = "english"
LONGEST_TEXT = 20_000
_LONGEST_WORD = 40
_LONGEST_STEMMED = 2 * _LONGEST_WORD
"""Two words may have been written as one. Stems are kept, and somebody may write a megabyte without a space."""
_IS_UNSPACED = re.compile(f"[{UNSPACED}]")

# Read with the code: nothing may touch the disk later, on the event loop.
_TEXTS = files("fabula.language") / "texts"
_STOP_LINES = (_TEXTS / "stop_words.txt").read_text("utf-8").splitlines()
_FORM_LINES = (_TEXTS / "english_forms.txt").read_text("utf-8").splitlines()

STOP_WORDS: Mapping[str, frozenset[str]] = {
    line.split(maxsplit=1)[0]: frozenset(line.split()[1:]) for line in _STOP_LINES if line.strip()
}
_LANGUAGES_OF: dict[str, list[str]] = {}
for _language, _words in STOP_WORDS.items():
    for _word in _words:
        _LANGUAGES_OF.setdefault(_word, []).append(_language)
_ENGLISH_FORMS = {form: line.split()[0] for line in _FORM_LINES for form in line.split()[1:]}


def language_of(text: str) -> str:
    """The language of a text by its small words; English where they do not tell."""
    counts: dict[str, int] = {}
    for word in words_of(text[:LONGEST_TEXT]):
        for language in _LANGUAGES_OF.get(word, ()):
            counts[language] = counts.get(language, 0) + 1
    if not counts:
        return ENGLISH
    best = max(counts.values())
    return ENGLISH if counts.get(ENGLISH) == best else min(one for one in counts if counts[one] == best)


def content_words(text: str, language: str = ENGLISH) -> list[str]:
    """The telling words of a text in lower case and in their order; letters stand for words in scripts without
    spaces."""
    stop = STOP_WORDS.get(language, STOP_WORDS[ENGLISH])
    found: list[str] = []
    for word in words_of(text[:LONGEST_TEXT]):
        word = word.removesuffix("'s")[:_LONGEST_WORD]
        if _IS_UNSPACED.match(word):
            found += word if len(word) == 1 else [word[at : at + 2] for at in range(len(word) - 1)]
        elif len(word) > 1 and word not in stop:
            found.append(word)
    return found


def stem_in(word: str, language: str = ENGLISH) -> str:
    """What the forms of a word have in common; of a word without end, the word itself."""
    return kept_stem(word, language) if len(word) <= _LONGEST_STEMMED else word


@lru_cache(maxsize=50_000)
def kept_stem(word: str, language: str = ENGLISH) -> str:
    """The same, kept."""
    if language == ENGLISH:
        word = _ENGLISH_FORMS.get(word, word)
    # One for each word: a stemmer keeps the word it works on, so two threads at one of them would spoil each other's
    # words, and what came of that would be kept as the stem.
    stemmer = _stemmers(language if language in STOP_WORDS else ENGLISH)()
    return str(stemmer.stemWord(word))


@cache
def _stemmers(language: str) -> Callable[[], Any]:
    import snowballstemmer  # type: ignore[import-untyped]

    return type(snowballstemmer.stemmer(language))
