"""Lines as they are meant: contractions written out, polite and roundabout wishes turned into plain `i ...`."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from fabula.understudy.reading.lexicon import WISHES

_CONTRACTIONS: list[tuple[str, str | Callable[[re.Match[str]], str]]] = [
    (r"\b(can|could|would|should|do|does|did|is|are|was|were|have|has|had|must|need|might)n'?t\b", r"\1 not"),
    (r"\bcan'?t\b", "can not"),
    (r"\bwon'?t\b", "will not"),
    (r"\bshan'?t\b", "shall not"),
    (r"\bcannot\b", "can not"),
    (r"\bain't\b", "is not"),
    (r"\b(i'd|you'd|we'd|he'd|she'd|they'd) better\b", lambda found: f"{found[1][:-2]} had better"),
    (r"\b(i|we)'?m\b", "i am"),
    (r"\bi'll\b|^il\b|^ill\b", "i will"),
    (r"(?<=\w)'ll\b", " will"),
    (r"(?<=\w)'re\b", " are"),
    (r"(?<=\w)'ve\b", " have"),
    (r"\bive\b", "i have"),
    (r"(?<=\w)'d\b", " would"),
    (r"\blet'?s\b", "let us"),
    (r"\b(it|that|there|here|what|who|where|how|he|she|everything|nothing|something)'s\b", r"\1 is"),
    (r"\b(what|that|where|who|how)s (?=the|a|your|my|in|up|this|that|it)", r"\1 is "),
    (r"\bgoto\b", "go to"),
    (r"\bgonna\b", "going to"),
    (r"\bwanna\b", "want to"),
    (r"\bgotta\b", "have to"),
    (r"\blemme\b", "let me"),
    (r"\bgimme\b", "give me"),
    (r"\bdunno\b", "do not know"),
    (r"'s\b", " 's"),
    (r"(?<=\ws)'(?=\s)", " 's"),
]
Rewrite = tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]]
CONTRACTIONS: list[Rewrite] = [(re.compile(pattern), put) for pattern, put in _CONTRACTIONS]
REWRITES: list[Rewrite] = [(re.compile(pattern), put) for pattern, put in WISHES]
_ON_EARTH = re.compile(
    r"\b(who|what|where|why|how) (?:on earth|in the world|the hell|the devil|in heaven's name|exactly)\b"
)
_TITLES = re.compile(r"\b(mr|mrs|ms|dr|st|prof|capt|sgt|lt|rev|hon)\.")
_QUOTES = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "«": '"', "»": '"', "…": ".", "—": " - ", "–": " - "})


def plain_line(text: str) -> str:
    """A line in small letters, with straight quotes and contractions written out."""
    line = " ".join(text.translate(_QUOTES).lower().split()).replace("*", " ")
    line = _ON_EARTH.sub(r"\1", line)
    line = _TITLES.sub(r"\1", line)
    return _rewritten(line, CONTRACTIONS)


def plain_wish(sentence: str) -> str:
    """A sentence without its politeness: `could you take me to the inn` is `i go to the inn`."""
    return " ".join(_rewritten(sentence, REWRITES).split())


def _rewritten(text: str, rewrites: Sequence[Rewrite]) -> str:
    for pattern, put in rewrites:
        # Most are not needed, and to look for them costs less than to replace nothing.
        if pattern.search(text):
            text = pattern.sub(put, text)
    return text
