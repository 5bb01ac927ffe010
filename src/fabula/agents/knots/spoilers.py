"""The spoiler guard: no sentence of a knot that was not visited, and no name that stands only there, gets out.

It needs no model and decides by the written story alone. What is open: knots that were visited, the character's own
knot, and any text that was allowed by name (the goal, what was told so far). Everything else is kept. Sentences of two
words are kept as whole sentences only: inside another one they are too common to be known again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache

from fabula.agents.knots.vocabulary import common_words, normal, sentences_of, words_in
from fabula.ink import Analysis

_FRAGMENT_WORDS = 4
_SENTENCE_WORDS = 3


@dataclass(frozen=True, kw_only=True)
class Name:
    """A proper name; `loose` ones are told in lower case, too, because no other word is written like them."""

    text: str
    loose: bool


@dataclass(frozen=True, kw_only=True)
class Spoilers:
    """All sentences and names of a story with the flows in which they stand."""

    sentences: dict[str, frozenset[str]]
    names: dict[Name, frozenset[str]]

    @staticmethod
    def of(analysis: Analysis) -> Spoilers:
        sentences: dict[str, set[str]] = defaultdict(set)
        spans = [(flow.name, span.text) for flow in analysis.flows for span in flow.spans]
        for flow, text in spans:
            for sentence in sentences_of(text):
                if _is_telling(sentence):
                    sentences[normal(sentence)].add(flow)
        return Spoilers(
            sentences={text: frozenset(flows) for text, flows in sentences.items()},
            names={name: frozenset(flows) for name, flows in _names(spans).items()},
        )

    def guard(self, *, visited: Iterable[str], also_open: Iterable[str] = (), allowed: Iterable[str] = ()) -> Guard:
        """The guard of one moment. `also_open` are knots with their stitches; `allowed` are texts."""
        seen = {"", *visited}
        roots = {path.split(".")[0] for path in also_open if path}
        texts = [normal(text) for text in allowed]
        known = frozenset(word for text in texts for word in text.split())

        def is_closed(flows: frozenset[str]) -> bool:
            return flows.isdisjoint(seen) and not any(flow.split(".")[0] in roots for flow in flows)

        return Guard(
            sentences=tuple(text for text, flows in self.sentences.items() if is_closed(flows)),
            names={
                name.text.casefold(): name
                for name, flows in self.names.items()
                if name.text.casefold() not in known and is_closed(flows)
            },
            allowed=tuple(texts),
        )


@dataclass(frozen=True, kw_only=True)
class Guard:
    """What may not be told now."""

    sentences: tuple[str, ...]
    names: dict[str, Name]
    allowed: tuple[str, ...] = ()

    def leaks(self, text: str) -> list[str]:
        """What a text gives away: sentences by their words, and names."""
        if not text.strip():
            return []
        told = normal(text)
        alone = {normal(sentence) for sentence in sentences_of(text)}
        near = [one for word in set(told.split()) for one in self._by_longest_word.get(word, ())]
        found = [one for one in near if self._stands_in(one, told, alone)]
        return [one.strip() for one in found] + self._names_in(text)

    @cached_property
    def _by_longest_word(self) -> dict[str, list[str]]:
        """Only sentences whose longest word was said need a closer look."""
        found: dict[str, list[str]] = defaultdict(list)
        for sentence in self.sentences:
            found[_longest_word(sentence)].append(sentence)
        return found

    def _stands_in(self, sentence: str, told: str, alone: set[str]) -> bool:
        inside = sentence in told if sentence.count(" ") > _SENTENCE_WORDS else sentence in alone
        return inside and not any(sentence in text for text in self.allowed)

    def _names_in(self, text: str) -> list[str]:
        found = []
        for word in words_in(text):
            bare = _bare(word)
            name = self.names.get(bare.casefold())
            if name is not None and (name.loose or bare[:1].isupper()):
                found.append(name.text)
        return list(dict.fromkeys(found))

    def cut(self, text: str) -> str:
        """A text without the sentences that give something away; empty when that does not help."""
        kept = " ".join(sentence for sentence in sentences_of(text) if not self.leaks(sentence))
        return "" if self.leaks(kept) else kept


@lru_cache(maxsize=200_000)
def _longest_word(sentence: str) -> str:
    return max(sentence.split(), key=len, default="")


def _is_telling(sentence: str) -> bool:
    """Whether a piece of text would be known again: a sentence of some words, or a longer fragment of one."""
    count = len(words_in(sentence))
    whole = sentence[:1].isupper() and sentence.rstrip("\"'’”)")[-1:] in (".", "!", "?", "…")
    return count >= _FRAGMENT_WORDS or (whole and count >= 2)


def _names(spans: list[tuple[str, str]]) -> dict[Name, set[str]]:
    """Capitalised words that are no common words; those that only ever begin sentences are told strictly."""
    lower = {word for _, text in spans for word in words_in(text) if word.islower()}
    inside: dict[str, set[str]] = defaultdict(set)
    first: dict[str, set[str]] = defaultdict(set)
    for flow, text in spans:
        for sentence in sentences_of(text):
            for place, word in enumerate(words_in(sentence)):
                bare = _bare(word)
                if bare[:1].isupper() and len(bare) > 1 and bare.casefold() not in common_words():
                    (inside if place else first)[bare.capitalize()].add(flow)
    names = {}
    for text in inside.keys() | first.keys():
        if text in inside or text.casefold() not in lower:
            loose = text in inside and text.casefold() not in lower
            names[Name(text=text, loose=loose)] = inside.get(text, set()) | first.get(text, set())
    return names


def _bare(word: str) -> str:
    return word.replace("’", "'").removesuffix("'s").removesuffix("'")
