"""Lines as they are meant: contractions written out, polite and roundabout wishes turned into plain `i ...`."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from fabula.understudy.reading.lexicon import WISHES

Put = str | Callable[[re.Match[str]], str]
_CONTRACTIONS: list[tuple[str, Put, Sequence[str]]] = [
    (
        r"\b(can|could|would|should|do|does|did|is|are|was|were|have|has|had|must|need|might)n'?t\b",
        r"\1 not",
        ("nt", "n't"),
    ),
    (r"\bcan'?t\b", "can not", ("cant", "can't")),
    (r"\bwon'?t\b", "will not", ("wont", "won't")),
    (r"\bshan'?t\b", "shall not", ("shant", "shan't")),
    (r"\bcannot\b", "can not", ("cannot",)),
    (r"\bain't\b", "is not", ("ain't",)),
    (r"\b(i'd|you'd|we'd|he'd|she'd|they'd) better\b", lambda found: f"{found[1][:-2]} had better", ("'d better",)),
    (r"\b(i|we)'?m\b", "i am", ("im", "i'm", "wem", "we'm")),
    (r"\bi'll\b|^il\b|^ill\b", "i will", ("i'll", "il")),
    (r"(?<=\w)'ll\b", " will", ("'ll",)),
    (r"(?<=\w)'re\b", " are", ("'re",)),
    (r"(?<=\w)'ve\b", " have", ("'ve",)),
    (r"\bive\b", "i have", ("ive",)),
    (r"(?<=\w)'d\b", " would", ("'d",)),
    (r"\blet'?s\b", "let us", ("lets", "let's")),
    (r"\b(it|that|there|here|what|who|where|how|he|she|everything|nothing|something)'s\b", r"\1 is", ("'s",)),
    (
        r"\b(what|that|where|who|how)s (?=the|a|your|my|in|up|this|that|it)",
        r"\1 is ",
        ("whats ", "thats ", "wheres ", "whos ", "hows "),
    ),
    (r"\bgoto\b", "go to", ("goto",)),
    (r"\bgonna\b", "going to", ("gonna",)),
    (r"\bwanna\b", "want to", ("wanna",)),
    (r"\bgotta\b", "have to", ("gotta",)),
    (r"\blemme\b", "let me", ("lemme",)),
    (r"\bgimme\b", "give me", ("gimme",)),
    (r"\bdunno\b", "do not know", ("dunno",)),
    (r"'s\b", " 's", ("'s",)),
    (r"(?<=\ws)'(?=\s)", " 's", ("'",)),
]
Rewrite = tuple[re.Pattern[str], Put, Sequence[str]]
"""What is looked for, what is put in its place, and letters one of which stands in all that is found."""
CONTRACTIONS: list[Rewrite] = [(re.compile(pattern), put, signs) for pattern, put, signs in _CONTRACTIONS]
REWRITES: list[Rewrite] = [(re.compile(pattern), put, signs) for pattern, put, signs in WISHES]
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
    for pattern, put, signs in rewrites:
        # Most are not needed: to look for a few letters costs far less than to try a pattern at every place.
        for sign in signs:
            if sign in text:
                text = pattern.sub(put, text)
                break
    return text
