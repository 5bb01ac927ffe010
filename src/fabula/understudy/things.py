"""Things and names in plain sentences: a rough ear for what can be talked about."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from fabula.language.words import STOP, stems, word_set, words_of

_THING = re.compile(
    r"\b([Mm]y|[Tt]he|[Tt]his|[Hh]is|[Hh]er|[Tt]heir|[Aa]|[Aa]n) ([a-z]{3,})(?=(?: ([a-z]{3,}))?)\b"
    r"|(?<=[a-z,] )([A-Z][a-z]{2,})"
)
_NAMED = re.compile(
    r"\b(?:call(?:s|ed)? me|[Mm]y name is|[Mm]y name's|I am|I'm|I’m) ((?:[A-Z][\w’'-]+ )?[A-Z][\w’'-]+)"
)
_NO_THINGS = word_set(
    "nobody somebody anybody wisdom while heart hands hand eyes face head moment night day time waste"
)
_HOW_THINGS_ARE = word_set(
    "whole same next last first second small great long short old new young spare far dark cold little big good bad "
    "best worst deep low high slow quick common heavy light quiet loud warm hot wet dry open empty full broken torn "
    "narrow wide thick thin soft hard sharp red black white grey green blue golden silver wooden single double strange "
    "own real true false poor rich dead dear early late sudden steep rough smooth bare blind deaf holy wild mad"
)
_ENDS_LIKE_HOW = ("ful", "ous", "ish", "less", "ward")
_ENDS_LIKE_A_DEED = ("s", "ed", "ing", "ly")


def named_in(line: str) -> str:
    """The name by which a line says that its speaker is called; empty when it says none."""
    found = _NAMED.search(line)
    return found[1] if found is not None and found[1].casefold() not in STOP else ""


def things_in(lines: Iterable[str], story: Sequence[str]) -> Iterator[str]:
    """The things that lines speak of, and names. Words that a story uses together more than once are one thing."""
    together = _used_together(story)
    for line in lines:
        for owner, thing, after, name in _THING.findall(line):
            if name:
                if name.casefold() not in STOP:
                    yield name
                continue
            found = _thing(thing, after, together)
            if found:
                yield f"{'my' if owner.casefold() == 'my' else 'the'} {found}"


def _thing(thing: str, after: str, together: frozenset[tuple[str, str]]) -> str:
    if (thing, after) in together:
        return f"{thing} {after}"
    if thing in _HOW_THINGS_ARE or thing.endswith(_ENDS_LIKE_HOW):
        sound = after and after not in STOP and not after.endswith(_ENDS_LIKE_A_DEED) and after not in _NO_THINGS
        return f"{thing} {after}" if sound else ""
    return thing if stems(thing) and thing not in _NO_THINGS else ""


def _used_together(story: Sequence[str]) -> frozenset[tuple[str, str]]:
    pairs = Counter(pair for line in story for pair in pairwise(words_of(line)) if not STOP.intersection(pair))
    return frozenset(pair for pair, count in pairs.items() if count > 1 and not pair[1].endswith(_ENDS_LIKE_A_DEED))
