"""The story so far, summed up on a ladder: parts of scenes become scenes, scenes chapters, chapters the story; pure.

1. `sum_up` picks the sentences of a part that carry it on, as they were told.
2. `climb` puts a part on the ladder. What has become too long on one rung is condensed into the next.

Here sentences are chosen, never written anew, so that nothing is in a summary that was not told; a part may come in a
model's words instead of those of `sum_up`. The ladder has the same size after ten turns and after ten thousand.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from fabula.language.english import closed, sentences, to_second_person
from fabula.language.words import STOP, words_of
from fabula.story.state import MemoryEntry
from fabula.story.values import Value

SUMMARISER: Final = "summariser"
SCENE_WORDS: Final = 70
CHAPTER_WORDS: Final = 80
STORY_WORDS: Final = 160
MOST_SCENES: Final = 6
MOST_CHAPTERS: Final = 5
FOLDED: Final = 3
"""So many scenes become a chapter, so many chapters go into the story, when there are too many of them."""

LONGEST_SENTENCE: Final = 60
SHORTEST_SENTENCE: Final = 4
LETTERS_OF_A_WORD: Final = 20


class Summary(Value):
    """What happened in some turns, in the words in which it was told."""

    title: str
    first_turn: int
    last_turn: int
    text: str


class StorySoFar(Value):
    """The ladder after a turn: the story in short, the chapters after that, and the last scenes."""

    story: str = ""
    chapters: list[Summary] = []
    scenes: list[Summary] = []
    last_turn: int = 0

    @property
    def text(self) -> str:
        """All of it, oldest first."""
        parts = [self.story, *(one.text for one in self.chapters), *(one.text for one in self.scenes)]
        return "\n".join(part for part in parts if part)


@dataclass(frozen=True, kw_only=True)
class Rung:
    """A text on the ladder with the turns that it tells of, and how many words it may have.

    `place` is where it stands among chapters or scenes; the story itself has none.
    """

    level: Literal["story", "chapters", "scenes"]
    place: int = 0
    first_turn: int
    last_turn: int
    words: int


def rungs_of(ladder: StorySoFar) -> list[Rung]:
    """All texts on a ladder, oldest first."""
    later = [*ladder.chapters, *ladder.scenes]
    until = later[0].first_turn - 1 if later else ladder.last_turn
    story = [Rung(level="story", first_turn=0, last_turn=until, words=STORY_WORDS)] if ladder.story else []
    chapters = [_rung("chapters", at, one, CHAPTER_WORDS) for at, one in enumerate(ladder.chapters)]
    return [*story, *chapters, *(_rung("scenes", at, one, SCENE_WORDS) for at, one in enumerate(ladder.scenes))]


def _rung(level: Literal["chapters", "scenes"], at: int, one: Summary, words: int) -> Rung:
    return Rung(level=level, place=at, first_turn=one.first_turn, last_turn=one.last_turn, words=words)


def with_text(ladder: StorySoFar, rung: Rung, text: str) -> StorySoFar:
    """The ladder with another text in one place; with none, what was told there is no longer summed up."""
    if rung.level == "story":
        return ladder.model_copy(update={"story": text})
    before: list[Summary] = getattr(ladder, rung.level)
    after = [one.model_copy(update={"text": text}) if at == rung.place else one for at, one in enumerate(before)]
    return ladder.model_copy(update={rung.level: after})


def climb(ladder: StorySoFar, part: Summary) -> StorySoFar:
    """The ladder with one more part; a part of the scene that is summed up last goes into it."""
    last = ladder.scenes[-1] if ladder.scenes else None
    if last is not None and last.title == part.title and last.last_turn < part.first_turn:
        text = condense([last.text, part.text], SCENE_WORDS)
        whole = Summary(title=part.title, first_turn=last.first_turn, last_turn=part.last_turn, text=text)
        scenes = [*ladder.scenes[:-1], whole]
    else:
        scenes = [*ladder.scenes, part]
    return _folded(ladder.model_copy(update={"scenes": scenes, "last_turn": part.last_turn}))


def _folded(ladder: StorySoFar) -> StorySoFar:
    scenes, chapters, story = ladder.scenes, ladder.chapters, ladder.story
    if len(scenes) > MOST_SCENES:
        chapters, scenes = [*chapters, _chapter(scenes[:FOLDED])], scenes[FOLDED:]
    if len(chapters) > MOST_CHAPTERS:
        story = condense([story, *(one.text for one in chapters[:FOLDED])], STORY_WORDS)
        chapters = chapters[FOLDED:]
    return ladder.model_copy(update={"scenes": scenes, "chapters": chapters, "story": story})


def _chapter(scenes: Sequence[Summary]) -> Summary:
    titles = dict.fromkeys(scene.title for scene in scenes)
    return Summary(
        title=", ".join(titles),
        first_turn=scenes[0].first_turn,
        last_turn=scenes[-1].last_turn,
        text=condense([scene.text for scene in scenes], CHAPTER_WORDS),
    )


def sum_up(lines: Iterable[MemoryEntry], limit: int = SCENE_WORDS) -> str:
    """The sentences that carry some lines on, in their order: what was told first and last, who did and said what."""
    return _chosen([one for line in lines for one in _told(line)], limit)


def condense(texts: Sequence[str], limit: int) -> str:
    """The sentences of some texts that say the most, in their order; each text keeps its share."""
    told = [_Told(text=one, weight=1.0) for text in texts for one in sentences(text)]
    return _chosen(told, limit)


@dataclass(frozen=True, kw_only=True)
class _Told:
    text: str
    weight: float


_WEIGHTS: Final = {"narration": 1.0, "player_input": 0.9, "action": 0.7, "dialogue": 0.6}


def _told(line: MemoryEntry) -> list[_Told]:
    weight = _WEIGHTS.get(line.kind)
    if weight is None:
        return []
    if line.kind == "player_input":
        deed = closed(to_second_person(line.text.strip(), "them"))
        return [_Told(text=deed, weight=weight)] if deed.lower().startswith("you ") and "?" not in deed else []
    found = sentences(line.text)
    if line.kind == "dialogue":
        return [_Told(text=f"{line.speaker_name}: “{one.strip('“”')}”", weight=weight) for one in found[:2]]
    return [_Told(text=one, weight=weight) for one in found]


def words_counted(text: str) -> int:
    """As how many words a text counts: every prompt has the summary, and what is told may be one word without end."""
    return max(len(text.split()), len(text) // LETTERS_OF_A_WORD)


def _chosen(told: Sequence[_Told], limit: int) -> str:
    """The weightiest sentences that fit into so many words, in the order in which they were told."""
    distinct = [one for at, one in enumerate(told) if all(one.text != earlier.text for earlier in told[:at][-40:])]
    short = [one for one in distinct if words_counted(one.text) <= LONGEST_SENTENCE]
    fitting = [one for one in short if len(one.text.split()) >= SHORTEST_SENTENCE]
    weights = _scores(fitting)
    order = sorted(range(len(fitting)), key=lambda at: (-weights[at], at))
    left, kept = limit, set[int]()
    for at in order:
        length = words_counted(fitting[at].text)
        if length <= left:
            kept.add(at)
            left -= length
    return " ".join(fitting[at].text for at in sorted(kept))


def _scores(told: Sequence[_Told]) -> list[float]:
    """How much each sentence says: words that come again, names, a place at either end; questions say less."""
    count: dict[str, int] = {}
    bags = [frozenset(words_of(one.text)) - STOP for one in told]
    for bag in bags:
        for word in bag:
            count[word] = count.get(word, 0) + 1
    return [_score(one, bags[at], count, at, len(told)) for at, one in enumerate(told)]


def _score(one: _Told, bag: frozenset[str], count: dict[str, int], at: int, size: int) -> float:
    shared = sum(count[word] - 1 for word in bag) / (len(bag) + 3)
    names = sum(word[:1].isupper() for word in one.text.split()[1:])
    at_an_end = 1.0 if at in (0, size - 1) else 0.0
    question = 0.6 if "?" in one.text else 0.0
    return one.weight + min(shared, 1.5) + 0.15 * min(names, 4) + at_an_end - question
