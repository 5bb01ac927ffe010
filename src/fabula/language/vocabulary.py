"""Words and sentences of plain text: what a text is about, and where its sentences end.

Texts are compared by how they read and not by how they are typed: `plain` is a text without its disguises. Nothing of
that is shown: a text that may be told is told as it was written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from importlib.resources import files
from itertools import accumulate, pairwise

from fabula.language.caches import cached_if_short
from fabula.language.normal_forms import normal_form
from fabula.language.words import stem

# Scripts written without spaces have no word borders: between their letters a keyword may stand anywhere.
UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
# In scripts written without spaces each letter is a word of its own, but signs among them are none. No word is endless,
# or comparing would be, too.
LONGEST_WORD = 20
_SIGNS = "฿๏๚๛\u104a-\u104f\u109e\u109f\u17d4-\u17d6\u17d8-\u17db゛゜゠・\u4dc0-\u4dff"
_WORD = re.compile(rf"[^\W_]{{1,{LONGEST_WORD}}}(?:['’][^\W_]{{1,{LONGEST_WORD}}})?")
_SPACED = rf"[^\W_{UNSPACED}]{{1,{LONGEST_WORD}}}"
_WORD_OR_LETTER = re.compile(rf"(?![{_SIGNS}])[{UNSPACED}]|{_SPACED}(?:['’]{_SPACED})?")
_UNSPACED = re.compile(f"[{UNSPACED}]")
_IDEOGRAPH = re.compile("[\u3400-\u9fff\uf900-\ufaff]")
_SYLLABLE = re.compile("[\uac00-\ud7af]")

# Thai and its neighbours have no full stop: there a space ends a sentence.
_FAR_ENDS = "。．｡！？।॥؟۔።។။"
_FAR_CLOSERS = "」』”’）】》〉"
_STOPLESS = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
_SENTENCE = re.compile(r"(?<=[.!?…])[\"'’”)]*\s+")
_FAR_SENTENCE = re.compile(
    _SENTENCE.pattern
    + rf"|(?:(?<=[{_FAR_ENDS}])|(?<=[{_FAR_ENDS}][{_FAR_CLOSERS}]))(?![{_FAR_ENDS}{_FAR_CLOSERS}])\s*"
    + rf"|(?<=[.!?])(?=[{UNSPACED}])|(?<=[{_STOPLESS}])\s+(?=[{_STOPLESS}])"
)
_FAR = re.compile(f"[{_FAR_ENDS}{UNSPACED}]")

# Read with the code: nothing may touch the disk later, on the event loop.
_TEXTS = files("fabula.language") / "texts"
_EVERYDAY_WORDS = (_TEXTS / "everyday_words.txt").read_text("utf-8").strip()
_EVERYDAY_LETTERS = (_TEXTS / "everyday_letters.txt").read_text("utf-8").strip()


def sentences_of(text: str) -> list[str]:
    """The sentences of a text, in order, as they are written."""
    ends = sentence_ends(text)
    return [part.strip() for line in text.splitlines() for part in ends.split(line) if part.strip()]


def without(text: str, is_wrong: Callable[[str], object]) -> str:
    """A text without its wrong sentences, empty when that does not help; with nothing wrong it stays as it is."""
    if not is_wrong(text):
        return text
    kept = "".join(piece for piece in _pieces(text) if not is_wrong(piece)).strip()
    return "" if is_wrong(kept) else kept


def _pieces(text: str) -> Iterator[str]:
    """The sentences of a text with all that stands between them."""
    ends = sentence_ends(text)
    for line in text.splitlines(keepends=True):
        places = [0, *(found.end() for found in ends.finditer(line)), len(line)]
        yield from (line[start:end] for start, end in pairwise(places))


def sentence_ends(text: str) -> re.Pattern[str]:
    return _SENTENCE if text.isascii() or not _FAR.search(text) else _FAR_SENTENCE


def is_whole(sentence: str) -> bool:
    """Whether a sentence is there from its beginning, with a capital if its script knows them, to its full stop."""
    first = sentence[:1] if sentence.isascii() else next(filter(str.isalpha, sentence), "")
    begins = sentence[:1].isupper() or (first.isalpha() and first.lower() == first.upper())
    return begins and sentence.rstrip("\"'’”)" + _FAR_CLOSERS)[-1:] in tuple(".!?…" + _FAR_ENDS)


def words_in(text: str) -> list[str]:
    """The words of a text as they read."""
    return _WORD.findall(text) if is_plain(text) else _WORD_OR_LETTER.findall(plain(text))


def knit_words_in(text: str) -> list[str]:
    """The words of a text in which the parts or letters of words were set apart: `Mor-dred`, `**Mor**dred`."""
    whole = plain(text)
    knit = _BETWEEN_LETTERS.sub("", _INSIDE_WORD.sub("", whole))
    return words_in(knit) if knit != whole else []


_INSIDE_WORD = re.compile(r"[-_*~`./\\|+=^#@&%$<>{}\[\]‐‑·•‧∙・]{1,8}(?=[^\W_])")
_BETWEEN_LETTERS = re.compile(r"\s(?=\w\b)(?<=\b\w\s)")


@cached_if_short(most=8_192, longest=1_000)
def normal(text: str) -> str:
    """A text by its words alone, with a space on each side: case, punctuation and disguises do not count."""
    if text.isascii():
        return spaced(_WORD.findall(text.casefold()))
    words = _WORD if is_plain(text) else _WORD_OR_LETTER
    return spaced(words.findall(folded(plain(text)).replace("’", "'")))


def folded(text: str) -> str:
    """A plain text in one case."""
    return text.casefold() if text.isascii() else normal_form("NFC", text.casefold())


@cached_if_short(most=8_192, longest=LONGEST_WORD)
def letters_in(word: str) -> str:
    """The letters of a word in one case."""
    return folded(word).replace("'", "").replace("’", "")


def plain(text: str) -> str:
    """A text as it reads: without what cannot be seen, its accents put together, each letter in its one form."""
    if is_plain(text):
        return text
    return _LOOSE_MARKS.sub("", normal_form("NFKC", _UNSEEN.sub("", text))).translate(_LOOK_ALIKES)


def is_plain(text: str) -> bool:
    """Whether a text is known to be plain at a glance, as most are in the languages of Western Europe."""
    return text.isascii() or not _UNUSUAL.search(text)


_UNUSUAL = re.compile("[^\x00-\x7fÀ-ÖØ-öø-ÿ‘’“”–—…«»]")
# What takes no room (all of Unicode's format characters, fillers, variation selectors), or only stretches a word or
# hangs on it.
_UNSEEN = re.compile(
    "[\u00ad\u034f\u0600-\u0605\u061c\u0640\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U000110bd\U000110cd"
    "\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff™℠]+"
)
# Marks that no letter has taken up. Those of vowels are left out as well: in Arabic, Hebrew and the scripts of India a
# word is known by its consonants. The nine blocks of India are all laid out alike.
_LOOSE_MARKS = re.compile(
    "[\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    "\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
    + "".join(
        f"{chr(block)}-{chr(block + 3)}{chr(block + 0x3A)}-{chr(block + 0x3C)}{chr(block + 0x3E)}-{chr(block + 0x4D)}"
        for block in range(0x0900, 0x0D80, 0x80)
    )
    + "]+"
)
# Letters of other alphabets that look like Latin ones, in either case; all texts are compared by the Latin ones.
_LOOK_ALIKES = str.maketrans(
    "АВЕКМНОРСТУХІЅЈҺԚԜӀ" + "авекмнорстухіѕјһԛԝӏ" + "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ" + "αβεζηικμνορτυχ" + "İʼ",
    "ABEKMHOPCTYXISJHQWL" + "abekmhopctyxisjhqwl" + "ABEZHIKMNOPTYX" + "abezhikmnoptyx" + "I'",
)


def spaced(words: Iterable[str]) -> str:
    """Words with a space on each side, so that a search finds whole words only."""
    return f" {' '.join(words)} "


def length_in_words(text: str) -> float:
    """How long a normal text is. Letters that are words of their own count as the part of one that they mostly are."""
    return text.count(" ") - 1 if text.isascii() else sum(map(_size, text.split())) / _WHOLE


def beginning_of(text: str, *, words: int, letters: int) -> str:
    """The first words of a normal text: so many at most, with no more than so many letters."""
    if len(text) <= letters and text.count(" ") <= words:
        return text
    parts = text.split()
    lengths = accumulate(map(_size, parts))
    sizes = accumulate(map(len, parts))
    ends = zip(parts, lengths, sizes, strict=True)
    return spaced(word for word, length, size in ends if length <= words * _WHOLE and size <= letters)


_WHOLE, _HALF, _THIRD, _QUARTER = 12, 6, 4, 3


def _size(word: str) -> int:
    """Two ideographs make a word, or three syllables of Korean, or four letters of others that are not set apart."""
    if word.isascii() or not _UNSPACED.match(word):
        return _WHOLE
    if _IDEOGRAPH.match(word):
        return _HALF
    return _THIRD if _SYLLABLE.match(word) else _QUARTER


@cached_if_short(most=20_000, longest=1_000)
def telling_words(text: str) -> frozenset[str]:
    """What a text is about: its rarer words, roughly stemmed."""
    words = [word for word in normal(text).split() if len(word) > 2 or _UNSPACED.match(word)]
    return frozenset(stem(word) for word in words if word not in everyday_words())


@cache
def everyday_words() -> frozenset[str]:
    """Words that tell nothing of what a text is about, and with which any sentence may begin."""
    return frozenset([*_EVERYDAY_WORDS.split(), *_EVERYDAY_LETTERS])
