"""Topics: what of all that a role may know a line is about, best first.

Lore counts by its keywords, its title and its words; people by their names and what they are; facts and notes by their
words. A word that stands in few of them says more than one that stands in many. Words are compared by their stems,
names whole.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from fabula.language.english import passages, sentences
from fabula.language.words import STOP, as_name, name_words, stem, stems, telling_words, words_of
from fabula.story.contexts import CastMember, SceneContext
from fabula.understudy.line import SAYS_LITTLE, Line
from fabula.understudy.reading.lexicon import SYNONYMS
from fabula.understudy.reading.words import noun_of
from fabula.understudy.scene_view import in_own_mouth, scene_sentences, trait_of

_OF_YOU = re.compile(r"\b(?:did|do|are|were|have|had|will|would) you (?!know|think|mean|say|remember|tell)")
_HOW_MANY = re.compile(r"\bhow (?:many|much|long|far|old)\b")
_NUMBER = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|hundred|thousand)\b",
    re.IGNORECASE,
)
_BECAUSE = re.compile(r"\b(?:because|so that|for fear|in order|lest)\b", re.IGNORECASE)
ENOUGH = 1.5
NEAR_BEST = 0.75
SubjectKind = Literal["lore", "fact", "note", "person", "thing"]


@dataclass(frozen=True, kw_only=True)
class Subject:
    """Something that can be talked about. `passages` are what can be said of it, whole thoughts in their order.

    `owner` is whose fact it is, or who the person is, by id; `own` facts are the speaker's.
    """

    kind: SubjectKind
    name: str
    passages: tuple[str, ...]
    score: float = 0.0
    secret: bool = False
    revealed: bool = False
    owner: str = ""
    own: bool = False
    known_to: tuple[str, ...] = ()
    keywords: tuple[str, ...] = field(default=(), repr=False)


def find_subjects(context: SceneContext, line: Line, *, speaker: CastMember | None = None) -> list[Subject]:
    """What a line is about, best first; only what fits well enough. A speaker speaks of itself as `I`."""
    subjects = list(_subjects(context, speaker))
    words = _Words(line, subjects)
    scored = [(words.score(subject), place, subject) for place, subject in enumerate(subjects)]
    found = [(score, place, subject) for score, place, subject in scored if score >= ENOUGH and any(subject.passages)]
    found.sort(key=lambda one: (-one[0], one[1]))
    return [_with_score(subject, score) for score, _, subject in found]


def near_best(subjects: Sequence[Subject]) -> list[Subject]:
    """Those that fit about as well as the best."""
    return [one for one in subjects if one.score >= NEAR_BEST * subjects[0].score]


def _with_score(subject: Subject, score: float) -> Subject:
    return Subject(**{**subject.__dict__, "score": score})


def _subjects(context: SceneContext, speaker: CastMember | None) -> Iterable[Subject]:
    for note in [*context.lore.matched, *context.lore.base]:
        yield Subject(
            kind="lore",
            name=note.title,
            passages=tuple(passages(note.content)),
            secret=note.secret,
            revealed=note.revealed,
            known_to=tuple(note.known_to),
            keywords=tuple(note.keywords),
        )
    for member in [*context.current_cast, *context.absent_cast]:
        yield from _of_person(member, speaker)
    for found in context.current_node.notes:
        yield Subject(kind="note", name="", passages=tuple(passages(found.text)), secret=found.secret)
    if speaker is None:
        for sentence in scene_sentences(context.current_node, ""):
            yield Subject(kind="thing", name="", passages=(sentence,))


def _of_person(member: CastMember, speaker: CastMember | None) -> Iterable[Subject]:
    own = speaker is not None and speaker.id == member.id
    for fact in member.facts:
        text = in_own_mouth(fact.text, member.name) if own else fact.text
        yield Subject(
            kind="fact",
            name=member.name,
            passages=(text,),
            secret=fact.secret,
            revealed=fact.revealed,
            owner=member.id,
            own=own,
            known_to=tuple(fact.known_to),
        )
    if not own:
        yield Subject(kind="person", name=member.name, passages=(trait_of(member),), owner=member.id)


class _Words:
    """The words of a line, and how much each of them says."""

    def __init__(self, line: Line, subjects: Sequence[Subject]) -> None:
        people = (name_words(subject.name) for subject in subjects if subject.kind in ("person", "fact"))
        self._names = frozenset[str]().union(*people)
        self._keys: dict[str, str] = {}
        self._text = " ".join(words_of(line.text))
        topic = line.topic or stems(line.text)
        about = line.about if line.topic else frozenset(words_of(line.text))
        # What a topic has beside its words, forms of verbs, is no name.
        beyond = topic - stems(" ".join(about))
        self._topic = beyond | self._keys_of(" ".join(word for word in about if stem(word) in topic))
        self._beside = self._keys_of(line.text) - self._topic - SAYS_LITTLE
        said = [word for word in words_of(line.text) if stem(word) in topic]
        alike = frozenset(other for word in said for other in SYNONYMS.get(noun_of(word), ()))
        self._alike = self._keys_of(" ".join(alike)) - self._topic
        self._of_you = bool(_OF_YOU.search(self._text))
        self._asks = line.asks
        self._counts = bool(_HOW_MANY.search(self._text))
        holding = [self._all_keys_of(subject) for subject in subjects]
        counts = Counter(word for every in holding for word in every & (self._topic | self._beside))
        total = max(2, len(subjects))
        self._idf = {word: math.log(total / count) / math.log(total) for word, count in counts.items()}

    def score(self, subject: Subject) -> float:
        match subject.kind:
            case "lore":
                return self._lore(subject)
            case "person":
                return self._person(subject)
            case "thing" | "note":
                hits = self._topic & self._all_keys_of(subject)
                return sum(1.3 + 0.5 * self._idf.get(word, 0) for word in hits)
            case "fact":
                hits = self._topic & self._keys_of(" ".join(subject.passages)) - self._keys_of(subject.name)
                named = 1.2 * bool(self._topic & self._keys_of(subject.name))
                # Who is asked `why did you` is asked about themselves, before anything else.
                named += 4.0 if subject.own and self._of_you else 0
                named += 1.0 if self._asks == "why" and _BECAUSE.search(" ".join(subject.passages)) else 0
                return sum(1.0 + 0.6 * self._idf.get(word, 0) for word in hits) + (named if hits else 0)

    def _lore(self, subject: Subject) -> float:
        keywords = max((self._keyword(word) for word in subject.keywords), default=0.0)
        also = sum(0.4 for word in subject.keywords if self._keyword(word)) - (0.4 if keywords else 0)
        named = self._keys_of(subject.name)
        title = sum(1.5 + 0.7 * self._idf.get(word, 0) for word in self._topic & named)
        title += sum(0.8 for _ in self._beside & named)
        title += 0.6 * bool(self._alike & named)
        title += 1.5 if (title or keywords) and self._asks and words_of(subject.name)[:1] == [self._asks] else 0
        body = sum(0.35 * self._idf.get(word, 0) for word in self._topic & self._keys_of(" ".join(subject.passages)))
        # A thought that has several words of the question is likely to answer it.
        shared = max((len(self._topic & self._keys_of(passage)) for passage in subject.passages), default=0)
        thought = 0.7 * shared if shared > 1 else 0.0
        counted = self._counts and any(
            self._topic & self._keys_of(one) and _NUMBER.search(one) for one in subject.passages
        )
        thought += 0.8 if counted else 0.0
        return keywords + min(also, 0.8) + title + body + thought

    def _keyword(self, keyword: str) -> float:
        words = words_of(keyword)
        if not words or all(word in STOP for word in words):
            return 0.8 if words and re.search(rf"\b{re.escape(' '.join(words))}\b", self._text) else 0.0
        if len(words) > 1:
            return 4.5 if re.search(rf"\b{re.escape(' '.join(words))}\b", self._text) else 0.0
        own = self._key(words[0])
        if own in self._topic:
            return 2.0 + self._idf.get(own, 0.5)
        if own in self._beside:
            return 1.2
        return 1.0 if own in self._alike else 0.0

    def _person(self, subject: Subject) -> float:
        names = self._keys_of(subject.name) & self._topic
        if names:
            return 2.6 + 1.2 * (len(names) - 1) + (1.5 if self._asks == "who" else 0)
        role = self._topic & self._keys_of(_role(subject))
        return (2.0 if role else 0.0) + (1.5 if role and self._asks == "who" else 0)

    def _all_keys_of(self, subject: Subject) -> frozenset[str]:
        return self._keys_of(" ".join([subject.name, *subject.passages, *subject.keywords]))

    def _keys_of(self, text: str) -> frozenset[str]:
        """By what the telling words of a text are compared."""
        return frozenset(self._key(word) for word in telling_words(text))

    def _key(self, word: str) -> str:
        """The stem of a word; of a name all of it, as no stem is spelled, because a stem may be another word's."""
        known = self._keys.get(word)
        if known is None:
            name = as_name(word, self._names)
            known = self._keys[word] = stem(word) if name is None else name.capitalize()
        return known


def _role(subject: Subject) -> str:
    """What a person is, from the first phrase that tells of them: `the keeper of the light` is a keeper."""
    first = sentences(subject.passages[0])[0] if subject.passages and subject.passages[0] else ""
    phrase = re.split(r"[,;:.]| of | who | on | in | with ", re.sub(rf"^{re.escape(subject.name)} is ", "", first))[0]
    return next(reversed(words_of(phrase)), "")
