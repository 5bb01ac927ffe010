"""Character lines: what a character says and knows, learned by running its knot a few times with seeded choices."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from fabula.knots.published import Published
from fabula.knots.sample_runs import rations, spoken_lines
from fabula.language.vocabulary import telling_words

VOICE_LINES = 6
MOST_CHARS = 4_000
LONGEST_LINE = 600
STEPS_PER_RUN = 20_000


@dataclass(frozen=True, kw_only=True)
class Learned:
    """What five runs of a character's knot have told, and the steps that they took.

    Both hang on the story, the character and the seed alone, whatever else was learned before.
    """

    lines: tuple[str, ...]
    steps: int


def learn(published: Published, character: str, *, seed: int) -> Learned:
    """The distinct lines of five runs, in the order in which they were first met."""
    runs = rations(STEPS_PER_RUN)
    lines = spoken_lines(published.playable, character, seed=seed, runs=runs)
    found = tuple(dict.fromkeys(line[:LONGEST_LINE] for line in lines))
    return Learned(lines=found, steps=sum(STEPS_PER_RUN - run.left for run in runs))


def character_lines(published: Published, character: str, *, seed: int) -> tuple[str, ...]:
    """The lines alone."""
    return learn(published, character, seed=seed).lines


def chosen_lines(lines: Sequence[str], words: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The voice, which is always the same, and of the rest what the player's words call to mind, within bounds."""
    voice = tuple(_within(lines[:VOICE_LINES], MOST_CHARS // 2))
    asked = telling_words(words)
    rest = [line for line in lines if line not in voice]
    ranked = sorted(range(len(rest)), key=lambda place: (-len(asked & telling_words(rest[place])), place))
    kept = sorted(ranked[: 2 * VOICE_LINES])
    return voice, tuple(_within([rest[place] for place in kept], MOST_CHARS // 2))


def _within(lines: Iterable[str], budget: int) -> Iterator[str]:
    for line in lines:
        budget -= len(line)
        if budget < 0:
            return
        yield line
