"""The spoiler guard: no sentence of a place that was not visited, and no name that stands only there, gets out.

It needs no model and decides by the written story alone. A story is a number of texts, each with the place where it
stands: the knots of an Ink story, or the scenes and secrets of a graph. What is open: places that were visited, and any
text that was allowed by name (the goal, what was told so far). Everything else is kept. Sentences of two
words are kept as whole sentences only: inside another one they are too common to be known again. Where no spaces set
words apart, letters are counted instead; where there are no capital letters, there are no names.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TypeAlias

from fabula.language.caches import cached_if_short
from fabula.language.phrases import LONGEST, MOST_LETTERS, Phrase, Phrases, letters_of
from fabula.language.vocabulary import (
    LONGEST_WORD,
    beginning_of,
    everyday_words,
    folded,
    is_whole,
    knit_words_in,
    length_in_words,
    letters_in,
    normal,
    sentences_of,
    spaced,
    telling_words,
    without,
    words_in,
)

_FRAGMENT_WORDS = 4
_SENTENCE_WORDS = 3
_SHORTEST_WORDS = 2
TEXTS_KEPT = 4_096
LONGEST_TEXT_KEPT = 2_000
"""What a player says may be ten times as long, and each story would keep thousands of it."""
WORDS_KEPT = 8_192
GUARDS_KEPT = 64
_NOWHERE: frozenset[str] = frozenset({"(nowhere)"})


@dataclass(frozen=True, kw_only=True)
class Name:
    """A proper name; `loose` ones are told in lower case, too, because no other word is written like them."""

    text: str
    loose: bool


Span: TypeAlias = tuple[str, str]
"""The place where a text stands, and the text. Everything at the place `""` is open."""


@dataclass(frozen=True, kw_only=True)
class Spoilers:
    """All sentences and names of a story with the places in which they stand."""

    sentences: dict[str, frozenset[str]]
    names: dict[Name, frozenset[str]]

    @staticmethod
    def of(spans: Sequence[Span], *, first_words: bool = True) -> Spoilers:
        """All sentences of the texts, and all names in them; `first_words`: also words that only begin sentences."""
        sentences = {_known_by(one) for _, text in spans for one in sentences_of(text) if _is_telling(one)}
        return Spoilers(
            sentences=_places(sentences, spans),
            names={name: frozenset(flows) for name, flows in _names(spans, first_words=first_words).items()},
        )

    def prepare(self) -> Spoilers:
        """Does what the first question about a large story takes long for; answers itself."""
        _ = self._phrases, self._by_name
        return self

    @staticmethod
    def secrets(texts: Iterable[str], *, longer_than: int) -> Spoilers:
        """Texts of which no sentence of more than so many words may be told, whatever was visited."""
        found = {_known_by(sentence) for text in texts for sentence in sentences_of(text)}
        return Spoilers(sentences={one: _NOWHERE for one in found if length_in_words(one) >= longer_than}, names={})

    def guard(
        self, *, visited: Iterable[str] = (), also_open: Iterable[str] = (), allowed: Iterable[str] = ()
    ) -> Guard:
        """The guard of one talk. `also_open` are knots with their stitches; `allowed` are texts."""
        return Guard(
            spoilers=self,
            seen=frozenset(("", *visited)),
            roots=frozenset(path.split(".")[0] for path in also_open if path),
            texts=tuple(allowed),
        )

    @cached_property
    def standing_in(self) -> Callable[[str], tuple[tuple[str, ...], tuple[Name, ...]]]:
        """What of the story stands in a text, open or not. A character's own lines are asked about at every message."""
        return cached_if_short(most=TEXTS_KEPT, longest=LONGEST_TEXT_KEPT)(self._standing_in)

    def _standing_in(self, text: str) -> tuple[tuple[str, ...], tuple[Name, ...]]:
        near = {spaced(phrase) for phrase in self._phrases.known_in(normal(text).split())}
        alone = {letters_of(normal(sentence)) for sentence in sentences_of(text)} if near else set()
        found = [one for one in near if length_in_words(one) >= _SENTENCE_WORDS or letters_of(one) in alone]
        return tuple(sorted(found)), tuple(dict.fromkeys(self._names_in(text)))

    @cached_property
    def names_in_word(self) -> Callable[[str], tuple[Name, ...]]:
        """The names in a word as it is written. Every word that is told comes by here, most of them again and again."""
        return cached_if_short(most=WORDS_KEPT, longest=LONGEST_WORD)(lambda word: tuple(self._names_in(word)))

    def _names_in(self, text: str) -> Iterator[Name]:
        for word in (*words_in(text), *knit_words_in(text)):
            bare = _bare(word)
            name = self._by_name.get(folded(bare))
            if name is not None and (name.loose or bare[:1].isupper()):
                yield name

    @cached_property
    def closed(self) -> Callable[[Guard], Closed]:
        """What is closed, to be known again while a text comes in. Many turns share it."""
        known = lru_cache(maxsize=GUARDS_KEPT)(self._closed)
        return lambda guard: known(guard.seen, guard.roots)

    def _closed(self, seen: frozenset[str], roots: frozenset[str]) -> Closed:
        guard = Guard(spoilers=self, seen=seen, roots=roots, texts=())
        by_length: tuple[list[Phrase], list[Phrase]] = ([], [])
        for one in guard.sentences:
            by_length[length_in_words(one) >= _SENTENCE_WORDS].append(tuple(one.split()))
        names = Phrases((folded(name.text),) for name in guard.names)
        return Closed(
            phrases=Phrases(by_length[True]),
            short_sentences=Phrases(by_length[False]),
            names=names,
            names_in_word=self.names_in_word,
        )

    @cached_property
    def _phrases(self) -> Phrases:
        return Phrases(tuple(sentence.split()) for sentence in self.sentences)

    @cached_property
    def _by_name(self) -> dict[str, Name]:
        return {folded(name.text): name for name in self.names}


@dataclass(frozen=True, kw_only=True)
class Closed:
    """What is closed: longer sentences wherever they stand, short ones that are kept only as a whole, and names."""

    phrases: Phrases
    short_sentences: Phrases
    names: Phrases
    names_in_word: Callable[[str], tuple[Name, ...]]

    @cached_property
    def may_begin_with(self) -> Callable[[str], bool]:
        """Whether anything that is closed may begin with a word, or with one that begins with its letters."""
        return cached_if_short(most=WORDS_KEPT, longest=LONGEST_WORD)(self._may_begin_with)

    def _may_begin_with(self, word: str) -> bool:
        letters = letters_in(word)
        closed = (self.phrases, self.short_sentences, self.names)
        return bool(self.names_in_word(word)) or any(one.may_begin_with(letters) for one in closed)


@dataclass(frozen=True, kw_only=True)
class Guard:
    """What may not be told now. Nothing of the story is gone through before something is said that may be in it."""

    spoilers: Spoilers
    seen: frozenset[str]
    roots: frozenset[str]
    texts: tuple[str, ...]

    @cached_property
    def allowed(self) -> tuple[str, ...]:
        """What is allowed by name, by its words. Most texts give nothing away, so that nobody asks."""
        return tuple(normal(text) for text in self.texts)

    @property
    def sentences(self) -> tuple[str, ...]:
        """All sentences that are closed now."""
        return tuple(text for text, flows in self.spoilers.sentences.items() if self._is_closed(flows))

    @property
    def names(self) -> tuple[Name, ...]:
        """All names that are closed now."""
        return tuple(name for name in self.spoilers.names if self._is_hidden(name))

    def leaks(self, text: str) -> list[str]:
        """What a text gives away: sentences by their words, and names."""
        sentences, names = self.spoilers.standing_in(text)
        found = [one.strip() for one in sentences if self.is_kept(one)]
        return found + [name.text for name in names if self._is_hidden(name)]

    def is_closed_name(self, word: str) -> bool:
        """Whether a word as it is written is a name that is closed now."""
        names = self.spoilers.names_in_word(word)
        return bool(names) and any(map(self._is_hidden, names))

    def is_kept(self, sentence: str) -> bool:
        closed = self._is_closed(self.spoilers.sentences[sentence])
        return closed and not any(sentence in text for text in self.allowed)

    def _is_closed(self, flows: frozenset[str]) -> bool:
        return flows.isdisjoint(self.seen) and not any(flow.split(".")[0] in self.roots for flow in flows)

    def _is_hidden(self, name: Name) -> bool:
        return folded(name.text) not in self._known and self._is_closed(self.spoilers.names[name])

    @cached_property
    def _known(self) -> frozenset[str]:
        """The words of what is allowed by name."""
        return frozenset(word for text in self.allowed for word in text.split())

    def cut(self, text: str) -> str:
        """A text without the sentences that give something away; empty when that does not help."""
        return without(text, self.leaks)


def _places(sentences: Iterable[str], spans: Sequence[Span]) -> dict[str, frozenset[str]]:
    """Where each sentence stands, alone or inside another: what one knot tells, no other can give away."""
    found: dict[str, set[str]] = {sentence: set() for sentence in sentences}
    phrases = Phrases(tuple(sentence.split()) for sentence in found)
    for flow, text in spans:
        for phrase in phrases.known_in(normal(text).split()):
            found[spaced(phrase)].add(flow)
    return {text: frozenset(flows) for text, flows in found.items()}


def _known_by(sentence: str) -> str:
    """The words by which a sentence is known again."""
    return beginning_of(normal(sentence), words=LONGEST, letters=MOST_LETTERS)


def _is_telling(sentence: str) -> bool:
    """Whether a piece of text would be known again: a sentence with a rarer word in it, or a longer fragment of one."""
    length = length_in_words(normal(sentence))
    short = length >= _SHORTEST_WORDS and is_whole(sentence) and bool(telling_words(sentence))
    return length >= _FRAGMENT_WORDS or short


def _names(spans: Sequence[Span], *, first_words: bool) -> dict[Name, set[str]]:
    """Capitalised words that are no common words; those that only ever begin sentences are told strictly."""
    lower = {folded(word) for _, text in spans for word in words_in(text) if word.islower()}
    inside: dict[str, set[str]] = defaultdict(set)
    first: dict[str, set[str]] = defaultdict(set)
    for flow, text in spans:
        for sentence in sentences_of(text):
            for place, word in enumerate(words_in(sentence)):
                bare = _bare(word)
                if bare[:1].isupper() and len(bare) > 1 and folded(bare) not in everyday_words():
                    (inside if place else first)[bare.capitalize()].add(flow)
    names = {}
    for text in inside.keys() | first.keys():
        if text in inside or (first_words and folded(text) not in lower):
            loose = text in inside and folded(text) not in lower
            names[Name(text=text, loose=loose)] = inside.get(text, set()) | first.get(text, set())
    return names


def _bare(word: str) -> str:
    return word.replace("’", "'").removesuffix("'s").removesuffix("'")
