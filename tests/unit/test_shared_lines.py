"""The lines in ../shared that say what they mean: how many of them the rules read as they were meant.

`python -m bench storyteller --failures` prints the same figures, and the lines that were read otherwise.
"""

from __future__ import annotations

import pytest
from bench.storyteller import figures_of, read_lines, sample_scenes, scenes_in
from tests.shared import STORYTELLER_LINES, needs_lines


@needs_lines
def test_of_the_lines_over_both_samples_97_in_100_are_right_and_hardly_one_moves_unasked() -> None:
    found = figures_of(read_lines(STORYTELLER_LINES / "samples.tsv", sample_scenes()))
    assert found.lines == 727
    assert found.right >= 0.97 * found.lines
    assert found.moved_unasked + found.wrong_ways <= 0.01 * found.lines


@needs_lines
@pytest.mark.parametrize("story", ["crossroads", "titan"])
def test_in_a_story_that_says_nothing_of_its_ways_nobody_is_moved_unasked_and_moves_are_found(story: str) -> None:
    folder = STORYTELLER_LINES / story
    found = figures_of(read_lines(folder / "lines.tsv", scenes_in(folder)))
    assert found.moved_unasked + found.wrong_ways <= 0.02 * found.lines
    assert found.found >= 0.9 * found.meant
