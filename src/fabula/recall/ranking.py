"""The ranking of memories: one sum with few round weights, of which each part is a reason.

Candidates come in their order with those around them, because a memory is understood in its scene:

1. Each memory lends the counts of its words to its neighbours, and an answer inherits the words of its question. Only
   then the counts are saturated and weighed by how rare each word is (BM25).
2. The scene as a whole adds to all of its memories.
3. Added are: who speaks, word pairs, dates, the sort of answer that is asked for, and likeness of meaning.
4. What is told about oneself, at some length, and not as a question, is rather worth recalling than a remark.
5. A moment, where there is one, adds what it brings along: newness, importance, mood, place and people; and what has
   faded by then does not come to mind.

The weights were chosen by leaving one conversation out at a time; see ADR 67.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final, Literal, NamedTuple

from fabula.language.stemming import stem_in
from fabula.recall.moods import fidelity_at
from fabula.recall.questions import RecallQuestion

Part = Literal[
    "words", "scene", "speaker", "pairs", "dates", "kind", "told", "meaning",
    "recent", "important", "mood", "place", "people", "pinned",
]  # fmt: skip

LENT: Final = {0: 1.0, 1: 0.5, -1: 0.4, 2: 0.25, -2: 0.2, 3: 0.1, -3: 0.1}
"""What of its counts a memory gives to the one so many steps after it."""
INHERITED: Final = 1.0
"""What an answer inherits of the question before it."""
SATURATION, LENGTH_SHARE = 1.2, 0.6
SCENE_SATURATION, SCENE_LENGTH_SHARE = 3.0, 0.8
NEAR_SHARE: Final = 0.3
"""What a word counts that is only near in meaning, times its likeness."""
LEAST_LIKENESS: Final = 0.25
"""Less than so much likeness of meaning is chance, and no reason by itself."""
MOST_LETTERS: Final = 200_000
"""So many letters of words are read for one question. Seven hundred lines of dialogue have fewer; of seven hundred long
texts the beginnings are read."""


@dataclass(frozen=True, kw_only=True)
class Weights:
    """What each part counts. Words are the measure: a rare word that is said outright counts about five."""

    scene: float = 0.3
    speaker: float = 1.0
    pair: float = 0.2
    joined: float = 2.0
    date: float = 3.0
    time: float = 0.5
    place: float = 1.0
    duration: float = 2.0
    number: float = 1.0
    frequency: float = 2.0
    name: float = 0.5
    oneself: float = 0.6
    answer: float = 0.2
    statement: float = 0.2
    length: float = 0.3
    meaning: float = 4.0
    recent: float = 1.0
    important: float = 0.5
    mood: float = 0.75
    here: float = 0.5
    people: float = 0.25


WEIGHTS: Final = Weights()
_DATE_WORTH: Final = {"d": 1.5, "m": 1.0, "n": 1.0, "y": 0.3}
_SCENE_DATE_SHARE: Final = {"d": 1.0, "m": 0.5, "n": 0.5, "y": 0.2}


class Candidate(NamedTuple):
    """A memory as the ranking sees it; a plain row, because a thousand of them are read for one question.

    `day` are the date keys of its scene. `minute` is story time, `valence` from -1 to 1, `signs` and `dates` are
    separated by spaces; so are `stems`, those of its words, where they are kept.
    """

    space: int
    place: int
    scene: str
    speaker: str
    words: str
    language: str
    signs: str
    dates: str
    day: str
    minute: int
    importance: int
    valence: float
    where: str
    people: str
    pinned: int
    stems: str = ""


@dataclass(frozen=True, kw_only=True)
class Moment:
    """When, where and in which mood something is recalled; `half_life` is how many minutes of story time halve what
    newness counts."""

    minute: int = 0
    valence: float = 0.0
    where: str = ""
    people: frozenset[str] = frozenset()
    half_life: int = 7 * 24 * 60


@dataclass(frozen=True, kw_only=True)
class Basis:
    """What a ranking is made of: candidates in their order, and how common each word is in the owner's whole past.

    Without `counts` the candidates are the whole past, and are counted. `likeness` is how near each candidate is in
    meaning; `near` are words near to a term, with their likeness. `stems` are those of the candidates' words, where
    somebody has them already. `scenes` numbers the scenes along the candidates; see `scene_numbers`.
    """

    candidates: Sequence[Candidate]
    total: int
    counts: Mapping[str, int] | None = None
    likeness: Sequence[float] = ()
    near: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    stems: Sequence[Sequence[str]] | None = None
    scenes: Sequence[int] | None = None


class Reason(NamedTuple):
    """A part of a score."""

    part: Part
    score: float


class Ranked(NamedTuple):
    """A candidate that came to mind, by its number in the basis."""

    number: int
    score: float
    reasons: tuple[Reason, ...]


def rank(
    question: RecallQuestion, basis: Basis, *, moment: Moment | None = None, most: int = 10, weights: Weights = WEIGHTS
) -> list[Ranked]:
    """The best candidates, the best one first; those that nothing speaks for are left out. Equal ones keep the order in
    which they happened."""
    if not basis.candidates:
        return []
    ranking = _Ranking(question, basis, weights)
    scores = ranking.scores(moment)
    order = sorted((number for number in range(len(scores)) if ranking.relevant[number]), key=lambda n: -scores[n])
    return [Ranked(number, scores[number], ranking.reasons(number)) for number in order[:most]]


def scores_of(question: RecallQuestion, basis: Basis, *, weights: Weights) -> list[float]:
    """The scores of all candidates, also of those that nothing speaks for: for whoever weighs the weights."""
    return _Ranking(question, basis, weights).scores(None)


class _Ranking:
    """One question over its candidates. Parts are lists along the candidates."""

    def __init__(self, question: RecallQuestion, basis: Basis, weights: Weights) -> None:
        self._question, self._basis, self._weights = question, basis, weights
        self._rows = basis.candidates
        self._size = len(self._rows)
        self._stems = stems_of(self._rows) if basis.stems is None else basis.stems
        self._scene_of = scene_numbers(self._rows) if basis.scenes is None else basis.scenes
        self._answers = answer_flags(self._rows, self._scene_of)
        self._counts = _counted(self._stems) if basis.counts is None else basis.counts
        self._parts: dict[Part, list[float]] = {}
        self._borrowers: dict[int, list[tuple[int, float]]] = {}
        self.relevant = [False] * self._size

    def scores(self, moment: Moment | None) -> list[float]:
        self._add_words()
        self._add_pairs()
        self._add_dates()
        self._add_meaning()
        self._add_speaker()
        self._add_kind()
        self._add_telling()
        if moment is not None:
            self._add_moment(moment)
        return [sum(column) for column in zip(*self._parts.values(), strict=True)]

    def reasons(self, number: int) -> tuple[Reason, ...]:
        """Why a candidate stands where it does, the strongest reason first."""
        found = [Reason(part, round(values[number], 3)) for part, values in self._parts.items() if values[number]]
        return tuple(sorted(found, key=lambda reason: -abs(reason.score)))

    def _lend(self, counts: Mapping[int, float]) -> dict[int, float]:
        """What each candidate has once every other has lent of its counts."""
        lent: dict[int, float] = {}
        known, has = self._borrowers, lent.get
        for at, count in counts.items():
            for to, share in known.get(at) or self._borrowers_of(at):
                lent[to] = has(to, 0.0) + share * count
        return lent

    def _borrowers_of(self, at: int) -> list[tuple[int, float]]:
        """To whom a candidate lends, and how much; worked out once, because every term asks for it."""
        scenes, scene = self._scene_of, self._scene_of[at]
        found = []
        for step, share in LENT.items():
            to = at + step
            if 0 <= to < self._size and scenes[to] == scene:
                found.append((to, INHERITED if step == 1 and self._answers[to] else share))
        self._borrowers[at] = found
        return found

    def _lent_lengths(self) -> list[float]:
        """The lengths of all candidates, lent like counts. Borders of scenes are passed over: it is only a measure."""
        own, size = [len(stems) for stems in self._stems], self._size
        lent = [float(length) for length in own]
        for step, share in LENT.items():
            if step > 0:
                pairs = zip(lent[step:], own, strict=False)
                lent[step:] = [total + share * length for total, length in pairs]
            elif step < 0 and size > -step:
                pairs = zip(lent[:step], own[-step:], strict=False)
                lent[:step] = [total + share * length for total, length in pairs]
        return lent

    def _rarity(self, stem: str) -> float:
        count = self._counts.get(stem, 0)
        return math.log(1 + (self._basis.total - count + 0.5) / (count + 0.5)) if count else 0.0

    def _add_words(self) -> None:
        words = [0.0] * self._size
        lengths = self._lent_lengths()
        mean = sum(lengths) / self._size or 1.0
        norms = [SATURATION * (1 - LENGTH_SHARE + LENGTH_SHARE * length / mean) for length in lengths]
        said, near = self._counts_of_terms()
        scene_norms = self._scene_norms()
        of_scene = [0.0] * len(scene_norms)
        for term in self._question.terms:
            rarity = self._rarity(term) or self._rarity_of_nearest(term)
            if not rarity:
                continue
            # Lent together: what is near counts less, and is lent like what is said outright.
            own = dict(said.get(term, ()))
            for at, likeness in near.get(term, {}).items():
                own[at] = own.get(at, 0.0) + NEAR_SHARE * likeness
            for at, count in self._lend(own).items():
                words[at] += rarity * count / (count + norms[at])
            in_scene: dict[int, float] = {}
            for at, count in said.get(term, {}).items():
                scene = self._scene_of[at]
                in_scene[scene] = in_scene.get(scene, 0.0) + count
            for scene, count in in_scene.items():
                of_scene[scene] += rarity * count / (count + scene_norms[scene])
        scenes = [of_scene[scene] for scene in self._scene_of]
        for stem in self._question.joined:
            if not self._counts.get(stem):
                continue
            # `ice cream` may have been written as one word.
            found = {at: 1.0 for at, stems in enumerate(self._stems) if stem in stems}
            for at in self._lend(found):
                words[at] += self._weights.joined
        self._parts["words"] = words
        self._parts["scene"] = [self._weights.scene * score for score in scenes]
        self.relevant = [a > 0 or b > 0 for a, b in zip(words, scenes, strict=True)]

    def _counts_of_terms(self) -> tuple[dict[str, dict[int, float]], dict[str, dict[int, float]]]:
        """For each term which candidates say it how often, and which say something near to it."""
        wanted = frozenset(self._question.terms)
        likes: dict[str, list[tuple[str, float]]] = {}
        for term, others in self._basis.near.items():
            for other, likeness in others.items():
                likes.setdefault(other, []).append((term, likeness))
        is_asked = (wanted | likes.keys()).__contains__
        said: dict[str, dict[int, float]] = {}
        near: dict[str, dict[int, float]] = {}
        for at, stems in enumerate(self._stems):
            # Few of a thousand words are asked for: the others are passed over without a step of ours.
            for stem in filter(is_asked, stems):
                if stem in wanted:
                    counts = said.setdefault(stem, {})
                    counts[at] = counts.get(at, 0.0) + 1.0
                for term, likeness in likes.get(stem, ()):
                    best = near.setdefault(term, {})
                    best[at] = max(best.get(at, 0.0), likeness)
        return said, near

    def _rarity_of_nearest(self, term: str) -> float:
        """How rare the nearest word is to one that was never said."""
        others = self._basis.near.get(term)
        return self._rarity(max(others, key=lambda other: others[other])) if others else 0.0

    def _scene_norms(self) -> list[float]:
        sizes = [0.0] * (self._scene_of[-1] + 1)
        for scene, stems in zip(self._scene_of, self._stems, strict=True):
            sizes[scene] += len(stems)
        mean = sum(sizes) / len(sizes) or 1.0
        share = SCENE_LENGTH_SHARE
        return [SCENE_SATURATION * (1 - share + share * size / mean) for size in sizes]

    def _add_pairs(self) -> None:
        part = [0.0] * self._size
        wanted = {(a, b) for a, b in self._question.pairs if a in self._counts and b in self._counts}
        first, second = {a for a, _ in wanted}, {b for _, b in wanted}
        found: dict[tuple[str, str], list[int]] = {}
        for at, stems in enumerate(self._stems):
            if not (first.isdisjoint(stems) or second.isdisjoint(stems)):
                for pair in wanted.intersection(pairwise(stems)):
                    found.setdefault(pair, []).append(at)
        for places in found.values():
            worth = self._weights.pair * math.log(1 + self._basis.total / (len(places) + 0.5))
            for at in places:
                part[at] += worth
        self._parts["pairs"] = part

    def _add_dates(self) -> None:
        part = [0.0] * self._size
        # A month of no year is part of every month that has one.
        exact = {key[-2:] for key in self._question.dates if key.startswith("m:")}
        wanted = [key for key in self._question.dates if not (key.startswith("n:") and key[2:] in exact)]
        if wanted:
            for at, row in enumerate(self._rows):
                spoken, day = row.dates.split(), row.day.split()
                for key in wanted:
                    share = 1.0 if key in spoken else _SCENE_DATE_SHARE[key[0]] if key in day else 0.0
                    part[at] += self._weights.date * _DATE_WORTH[key[0]] * share
                self.relevant[at] = self.relevant[at] or part[at] > 0
        self._parts["dates"] = part

    def _add_meaning(self) -> None:
        likeness = self._basis.likeness
        if likeness:
            self._parts["meaning"] = [self._weights.meaning * value for value in likeness]
            self.relevant = [a or b > LEAST_LIKENESS for a, b in zip(self.relevant, likeness, strict=True)]

    def _add_speaker(self) -> None:
        named = self._question.named
        if len(named) == 1:
            (name,) = named
            self._add_reason("speaker", [self._weights.speaker * (row.speaker.lower() == name) for row in self._rows])

    def _add_kind(self) -> None:
        weights = {sign: float(getattr(self._weights, sign)) for sign in self._question.wanted}
        if weights:
            kinds = [sum(weight for sign, weight in weights.items() if sign in row.signs) for row in self._rows]
            self._add_reason("kind", kinds)

    def _add_reason(self, part: Part, values: list[float]) -> None:
        """A part that is reason enough to recall something."""
        self._parts[part] = values
        self.relevant = [known or value > 0 for known, value in zip(self.relevant, values, strict=True)]

    def _add_telling(self) -> None:
        weights = self._weights
        self._parts["told"] = [
            weights.oneself * ("oneself" in row.signs)
            + weights.answer * answers
            + weights.statement * ("question" not in row.signs)
            + weights.length * math.log1p(len(stems))
            for row, stems, answers in zip(self._rows, self._stems, self._answers, strict=True)
        ]

    def _add_moment(self, moment: Moment) -> None:
        weights, rows = self._weights, self._rows
        names: tuple[Part, ...] = ("recent", "important", "mood", "place", "people", "pinned")
        parts = {name: [0.0] * self._size for name in names}
        half_life = max(1, moment.half_life)
        for at, row in enumerate(rows):
            # What nothing else speaks for does not come to mind, however new it is.
            if not self.relevant[at]:
                continue
            kept = fidelity_at(moment.minute, remembered=row.minute, importance=row.importance, pinned=bool(row.pinned))
            if kept <= 0:
                self.relevant[at] = False
                continue
            parts["recent"][at] = weights.recent * 0.5 ** (max(0, moment.minute - row.minute) / half_life)
            parts["important"][at] = weights.important * (row.importance - 1) / 4 * 2
            parts["mood"][at] = weights.mood * max(0.0, moment.valence * row.valence)
            parts["place"][at] = weights.here * (row.where == moment.where and row.where != "")
            parts["people"][at] = weights.people * min(3, len(moment.people.intersection(row.people.split("\n"))))
            parts["pinned"][at] = 1.0 * bool(row.pinned)
        self._parts |= parts


def shortened(rows: Sequence[Candidate], most: int = MOST_LETTERS) -> Sequence[Candidate]:
    """Candidates with no more words together than one question reads: where there are more, the long ones give way."""
    lengths = sorted(len(row.words) for row in rows)
    if sum(lengths) <= most:
        return rows
    left, longest = most, 0
    for at, length in enumerate(lengths):
        # What the shorter ones do not need is shared among the longer ones.
        longest = left // (len(lengths) - at)
        if length > longest:
            break
        left -= length
    return [row if len(row.words) <= longest else row._replace(words=row.words[:longest], stems="") for row in rows]


def answer_flags(rows: Sequence[Candidate], scenes: Sequence[int]) -> list[bool]:
    """Which candidates answer the one before: it asked, in the same scene, and was somebody else's."""
    flags = [False] * len(rows)
    for at in range(1, len(rows)):
        if scenes[at] == scenes[at - 1] and "question" in rows[at - 1].signs:
            flags[at] = rows[at].speaker != rows[at - 1].speaker
    return flags


def _counted(stems: Sequence[Sequence[str]]) -> dict[str, int]:
    return Counter(stem for some in stems for stem in set(some))


def stems_of(rows: Sequence[Candidate]) -> list[list[str]]:
    """The stems of what each candidate says, as they are kept with it. Where they are not, a word is stemmed once,
    however often it is said."""
    known: dict[str, dict[str, str]] = {}
    found: list[list[str]] = []
    for row in rows:
        # As many stems as words; counting what parts them is quicker than parting them.
        if row.stems.count(" ") == row.words.count(" ") and (row.stems or not row.words):
            found.append(row.stems.split())
            continue
        words = row.words.split()
        stems = known.setdefault(row.language, {})
        for word in words:
            if word not in stems:
                stems[word] = stem_in(word, row.language)
        found.append([stems[word] for word in words])
    return found


def scene_numbers(rows: Sequence[Candidate], breaks: frozenset[tuple[int, int]] = frozenset()) -> list[int]:
    """Scenes counted along the candidates. One that is come back to, or of which something is left out before one of
    these (space, place), is another scene."""
    numbers: list[int] = []
    number, before = -1, None
    for row in rows:
        here = (row.space, row.scene)
        if here != before or (breaks and (row.space, row.place) in breaks):
            number, before = number + 1, here
        numbers.append(number)
    return numbers
