"""The normal forms of Unicode, in a time that grows with the text and no faster.

The marks that hang on a letter are put into their order one by one: a thousand on one letter take a thousand times as
long as one on each of a thousand. No script hangs more than a few on a letter.
"""

from __future__ import annotations

import re
from typing import Final, Literal
from unicodedata import combining, normalize

MOST_MARKS: Final = 30
"""So many marks on one letter are kept, as in Unicode's own format for streams (UAX 15)."""

# Every mark that has a place in the order is in here, beside signs that have none. Two of them count as letters, and
# are hardly ever used.
_SIGNS: Final = re.compile(rf"[^\w\s\x00-\x7f]{{{MOST_MARKS + 1},}}")
_RARE: Final = ("\uff9e", "\uff9f")
_SIGNS_AND_RARE: Final = re.compile(rf"(?:[^\w\s\x00-\x7f]|[{''.join(_RARE)}]){{{MOST_MARKS + 1},}}")


def normal_form(form: Literal["NFC", "NFKC", "NFKD"], text: str) -> str:
    """A text in one of its normal forms. Of very many marks on one letter the first are kept."""
    if len(text) <= MOST_MARKS:
        return normalize(form, text)
    signs = _SIGNS_AND_RARE if any(rare in text for rare in _RARE) else _SIGNS
    return normalize(form, signs.sub(_with_few_marks, text))


def _with_few_marks(found: re.Match[str]) -> str:
    kept: list[str] = []
    hanging = 0
    for sign in found.group():
        hanging = hanging + 1 if _hangs(sign) else 0
        if hanging <= MOST_MARKS:
            kept.append(sign)
    return "".join(kept)


def _hangs(sign: str) -> bool:
    # Some marks are made of others, and have a place in the order only then.
    return combining(sign) != 0 or combining(normalize("NFKD", sign)[0]) != 0
