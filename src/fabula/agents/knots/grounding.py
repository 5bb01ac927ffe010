"""Grounding: what a character says and knows, learned by running its knot a few times with seeded choices."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator, Sequence

from fabula.agents.knots.names import request_of
from fabula.agents.knots.published import Published
from fabula.agents.knots.running import line_of
from fabula.agents.knots.vocabulary import telling_words
from fabula.ink import InkError, Story
from fabula.story.seeds import derived_seed

RUNS = 5
MOST_LINES = 60
MOST_TURNS = 12
STEPS_PER_LINE = 5_000
VOICE_LINES = 6
MOST_CHARS = 4_000


def grounding_of(published: Published, character: str, *, seed: int) -> tuple[str, ...]:
    """The distinct lines of five runs, in the order in which they were first met."""
    found: dict[str, None] = {}
    for run in range(RUNS):
        dice_seed = derived_seed(seed, f"{character}:{run}")
        story = published.fresh(seed=dice_seed)
        story.step_budget = STEPS_PER_LINE
        found.update(dict.fromkeys(_wander(story, character, random.Random(dice_seed))))
    return tuple(found)


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
        short = line[:600]
        budget -= len(short)
        if budget < 0:
            return
        yield short


def _wander(story: Story, character: str, dice: random.Random) -> Iterator[str]:
    """One run of a knot. A knot that cannot be run, or breaks, gives what it gave so far."""
    turns = lines = 0
    try:
        story.choose_path(character)
        while lines < MOST_LINES:
            if request_of(story) is not None:
                if not _may_answer(story):
                    return
                text = story.resume("")
            elif story.can_continue:
                text = story.continue_()
            elif story.current_choices and turns < MOST_TURNS:
                turns += 1
                story.choose(dice.randrange(len(story.current_choices)))
                continue
            else:
                return
            lines += 1
            yield from (clean(line.text) for line in line_of(story, text) if line.text)
    except InkError:
        return


def _may_answer(story: Story) -> bool:
    """Only a talk within the talk ends a run; other requests get an empty answer."""
    request = request_of(story)
    return request is not None and request.kind in ("generate", "input", "seed")


def clean(text: str) -> str:
    """A line with its spaces in order."""
    return re.sub(r"\s+", " ", text).strip()
