"""Sample runs of a character's knot: a few runs with seeded choices, within bounds, tell what the character says.

Each run prefers what the earlier ones have not met: of three things that a character may say, chance alone would leave
one unheard in every third story.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial

from fabula.ink import Choice, InkError, Story
from fabula.knots.names import request_of
from fabula.knots.story_steps import Ration, line_of
from fabula.story.seeds import derived_seed

RUNS = 5
MOST_LINES = 60
MOST_TURNS = 12
SHORT_RUN = 5_000


def rations(steps: int = SHORT_RUN) -> list[Ration]:
    """The steps of each run."""
    return [Ration(left=steps) for _ in range(RUNS)]


class _Variety:
    """What runs have met: alternatives, numbers and choices, by the place where they were drawn."""

    def __init__(self) -> None:
        self._earlier: Counter[tuple[str, int]] = Counter()
        self._now: set[tuple[str, int]] = set()
        self._taken: Counter[str] = Counter()

    def begin_run(self) -> None:
        self._earlier.update(self._now)
        self._now.clear()

    def draw(self, place: str, outcomes: list[int], position: int) -> int:
        """Of the outcomes, those first that earlier runs drew least; what this run drew counts from the next one on.

        A story that looks ahead asks twice, and must get the same answer.
        """
        drawn = sorted(outcomes, key=lambda outcome: self._earlier[place, outcome])[position]
        self._now.add((place, drawn))
        return drawn

    def choose(self, choices: Sequence[Choice], lot: int) -> int:
        """The choice that was taken least, as the lot falls among several."""
        first = lot % len(choices)
        chosen = min([*choices[first:], *choices[:first]], key=lambda choice: self._taken[choice.text])
        self._taken[chosen.text] += 1
        return chosen.index


def spoken_lines(prototype: Story, character: str, *, seed: int, runs: Sequence[Ration] | None = None) -> Iterator[str]:
    """The lines of five runs, in their order; who has heard enough need not wait for the rest."""
    variety = _Variety()
    for run, ration in enumerate(rations() if runs is None else runs):
        run_seed = derived_seed(seed, f"{character}:{run}")
        variety.begin_run()
        yield from _wander(prototype.fork(seed=run_seed, draw=variety.draw), character, run_seed, ration, variety)


def _wander(story: Story, character: str, seed: int, ration: Ration, variety: _Variety) -> Iterator[str]:
    """One run of a knot. A knot that cannot be run, or breaks, gives what it gave so far."""
    turns = lines = 0
    try:
        story.choose_path(character)
        while lines < MOST_LINES:
            if request_of(story) is not None:
                if not _may_answer(story):
                    return
                text = ration.run(story, partial(story.resume, ""))
            elif story.can_continue:
                text = ration.run(story, story.continue_)
            elif story.current_choices and turns < MOST_TURNS:
                turns += 1
                story.choose(variety.choose(story.current_choices, derived_seed(seed, f"choice:{turns}")))
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
