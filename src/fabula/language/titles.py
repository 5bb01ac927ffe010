"""Titles: short names made of a text's own nouns, and the noun phrases they are made of.

There is no dictionary here: a phrase begins at an article and ends before a word that stands in every sentence, before
punctuation, or before what looks like a verb.
"""

from __future__ import annotations

import re

from fabula.language.words import STOP, word_set

MOST_WORDS = 6
LONGEST = 60
_TOKEN = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*|[^\w\s]")
_ONE = word_set("a an one each every another")
_NUMBERS = word_set("two three four five six seven eight nine ten")
_OWN = word_set("his her their its my our your")
_ARTICLES = _ONE | _OWN | _NUMBERS | word_set("the no some")
_JOINTS = STOP | _ARTICLES | word_set(
    """between among during against near behind beside across along around above below beyond inside outside within
    since as than whether both either neither nor though although however whenever where
    somebody someone nobody everybody everyone anybody anyone everything anything this that these those"""
)  # fmt: skip
_QUALITIES = word_set(
    """old new young little small big great last first second third only dead lost strange quiet dark cold long short
    rival retired famous poor rich wrong next same good bad best worst many few several tired brave lonely"""
)
_VERBS = word_set(
    """stops fails comes goes finds takes gives wants needs knows loses falls rises opens closes begins ends returns
    runs hides keeps holds tells asks says sees hears meets fights wins steals leaves stays sits stands lives dies wakes
    sleeps works turns makes must discovers learns fears seeks hunts guards serves owes claims swears refuses arrives
    vanishes disappears appears breaks haunts plans plays cooks inherits receives investigates crosses travels searches
    has is was were are had gets plots escapes survives stalks threatens waits walks hires joins enters carries brings
    lands crashes drifts owns rules teaches writes reads draws builds burns sinks sails rides shoots solves saves risks
    competes starts dreams reach reaches threaten
    ring rings sing sings speak speaks call calls wait move moves change changes grow grows remember remembers arrive
    appear vanish keep leave stop start send sends visit visits decide decides believe believes know want need lose
    find go come take fight steal meet share run hide must discover compete race try tries hope hopes"""
)


def noun_phrases(text: str) -> list[str]:
    """The noun phrases of a text that begin with an article, in their order, each with `the` or its number."""
    tokens = _TOKEN.findall(text.replace("’", "'"))
    found: list[str] = []
    for place, token in enumerate(tokens):
        if token.lower() in _ARTICLES:
            words = _phrase(tokens[place + 1 :], alone=token.lower() in _ONE, several=token.lower() in _NUMBERS)
            if words:
                found.append(" ".join([_article(token), *words]))
    return list(dict.fromkeys(found))


def _phrase(tokens: list[str], *, alone: bool, several: bool) -> list[str]:
    """The words up to the end of the phrase; none where the end cannot be told from a verb."""
    words: list[str] = []
    for token in tokens[:4]:
        low = token.lower()
        if not token[0].isalpha() or low in _JOINTS or low in _VERBS:
            break
        if words and (low.endswith(("ed", "ing")) or (alone and _looks_like_a_verb(low))):
            break
        words.append(low if not token[:1].isupper() else token)
        if several and _looks_like_a_verb(low):  # after a number this is the plural, and the phrase is whole
            break
    else:
        words = words[:1] if len(words) == 4 else words
    while words and words[-1].lower() in _QUALITIES:
        words.pop()
    return words if words and len(words[-1]) > 2 else []


def _looks_like_a_verb(word: str) -> bool:
    """Whether a word ends as `stops` does, and as most plurals do."""
    return word.endswith("s") and not word.endswith(("ss", "us", "is"))


def _article(token: str) -> str:
    low = token.lower()
    return low if low in _NUMBERS else "the"


def in_title_case(phrase: str) -> str:
    """`the keeper of the lamp` as a title: `The Keeper of the Lamp`."""
    words = phrase.split()
    small = word_set("of the a an and in at to on for with no")
    return " ".join(
        word if number and word in small else word[:1].upper() + word[1:] for number, word in enumerate(words)
    )


def title_of(text: str, fallback: str = "") -> str:
    """A title for a text: the noun phrase that says most, in at most six words; else how the text begins."""
    phrases = noun_phrases(text)[:4]
    best = max([*phrases, *_joined_by_of(phrases, text)], key=lambda phrase: len(phrase.split()), default="")
    return in_title_case(best) or fallback or in_title_case(_beginning(text))


def _beginning(text: str) -> str:
    """The first words, up to the first mark, without small words at the end."""
    words = re.split(r"[^\w\s'’-]", " ".join(text.split()), maxsplit=1)[0].split()[:MOST_WORDS]
    while words and words[-1].lower() in _JOINTS:
        words.pop()
    return " ".join(words)[:LONGEST]


def _joined_by_of(phrases: list[str], text: str) -> list[str]:
    """`the ghost of the child`, where the text has both phrases joined."""
    plain = " ".join(text.lower().split())
    pairs = [(first, second) for first in phrases for second in phrases if first is not second]
    return [
        f"{first} of {second}"
        for first, second in pairs
        if re.search(
            rf"\b{re.escape(_bare(first))} of (?:an? |the |his |her |their )?{re.escape(_bare(second))}\b", plain
        )
        and len(f"{first} of {second}".split()) <= MOST_WORDS
    ]


def _bare(phrase: str) -> str:
    return phrase.lower().removeprefix("the ")
