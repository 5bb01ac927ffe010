"""Words to find things by: texts and queries are folded and split the same way, so that `etude` finds `Étude`.

1. A text is folded: one case, no accents, each letter in its one form.
2. It is split into words. Scripts without spaces have no word borders: there a word begins at every letter.
3. A query finds what has, for each of its words, a word that begins with it.
"""

from __future__ import annotations

import re
from itertools import islice

from fabula.language.normal_forms import normal_form
from fabula.language.vocabulary import UNSPACED

LONGEST_WORD = 32
LONGEST_SORT_NAME = 80
MOST_QUERY_WORDS = 8

_LONGEST_RUN = 8
_LONGEST_TEXT = 4_000
_ACCENTS = re.compile("[\u0300-\u036f]")
# Letters that are no letter with an accent to Unicode, but are typed without one by those who search.
_PLAIN_LETTERS = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i", "ħ": "h", "ŧ": "t"}
)
_UNSEEN = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]")
_PART = re.compile(rf"[{UNSPACED}]+|[^\W_{UNSPACED}]+")
_IS_UNSPACED = re.compile(f"[{UNSPACED}]")


def fold(text: str) -> str:
    """A text in one case and without accents."""
    if text.isascii():
        return text.casefold()
    letters = normal_form("NFKD", _UNSEEN.sub("", normal_form("NFKC", text)).casefold())
    # Put together again: the syllables of Korean and the marks of Indian scripts are no accents.
    return normal_form("NFC", _ACCENTS.sub("", letters)).translate(_PLAIN_LETTERS)


def sort_name(name: str) -> str:
    """What a name is sorted by: folded, with single spaces, and no longer than a cursor can carry."""
    return " ".join(fold(name[:_LONGEST_TEXT]).split())[:LONGEST_SORT_NAME]


def search_words(text: str, *, most: int) -> list[str]:
    """The words by which a text is found, each once, in its order; no more than `most`."""
    found = (word for part in _PART.findall(fold(text[:_LONGEST_TEXT])) for word in _words_of(part))
    return list(islice(dict.fromkeys(found), most))


def query_words(query: str) -> list[str]:
    """The words that a query asks for: what it finds has a word that begins so, for each of them."""
    parts = _PART.findall(fold(query[:_LONGEST_TEXT]))
    words = (part[: _LONGEST_RUN if _IS_UNSPACED.match(part) else LONGEST_WORD] for part in parts)
    return list(islice(dict.fromkeys(words), MOST_QUERY_WORDS))


def _words_of(part: str) -> list[str]:
    if not _IS_UNSPACED.match(part):
        return [part[:LONGEST_WORD]]
    return [part[at : at + _LONGEST_RUN] for at in range(len(part))]
