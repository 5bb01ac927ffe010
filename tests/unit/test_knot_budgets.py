"""Knots that are run when nobody plays them: within a budget of steps, and with the same result every time."""

from __future__ import annotations

import pytest

from fabula.actions.setups.compiled_stories import STEPS_PREPARED, CompiledStories
from fabula.ink import InkBudgetExceeded, Story
from fabula.knots.character_lines import STEPS_PER_RUN, character_lines, learn
from fabula.knots.names import default_ai_seed
from fabula.knots.published import publish
from fabula.knots.sample_runs import RUNS
from fabula.knots.story_steps import FIRST_TRY, MOST_BLANK, EndlessStory, Ration, lines_of
from fabula.loops.ink.ink_run import CHARACTERS_PREPARED, CompiledStory

SEED = default_ai_seed()
SPIN = "=== function spin(n)\n{ n > 150:\n    ~ return n\n}\n~ return spin(n + 1)\n"


def crowd(size: int, line: str) -> str:
    """A story with many characters, each of whom says a line over and over."""
    talks = "".join(f"* [{n}] -> agent(-> c{n:03}, -> yard)\n" for n in range(size))
    knots = "".join(f"=== c{n:03}\n- (top) {line} I am number {n}.\n-> top\n" for n in range(size))
    return f"Hi.\n{talks}=== yard\nThe yard is empty.\n-> END\n{knots}{SPIN}"


async def test_however_many_characters_take_long_publishing_runs_a_bounded_number_of_steps() -> None:
    work = CompiledStory(published=publish(crowd(40, "I say {spin(0)} and {~yes|no}."), {}))
    taken = await CompiledStories().prepare(work)
    assert STEPS_PREPARED <= taken <= STEPS_PREPARED + RUNS * STEPS_PER_RUN
    assert work.learn("c000", SEED) == 0, "the first ones are known"
    assert 0 < work.learn("c039", SEED) <= RUNS * STEPS_PER_RUN, "the last ones are learned when they are asked"


async def test_no_more_characters_are_prepared_than_are_kept() -> None:
    work = CompiledStory(published=publish(crowd(CHARACTERS_PREPARED + 10, "Hm."), {}))
    taken = await CompiledStories().prepare(work)
    assert taken < STEPS_PREPARED and await CompiledStories().prepare(work) == 0
    last, next_one = f"c{CHARACTERS_PREPARED - 1:03}", f"c{CHARACTERS_PREPARED:03}"
    assert work.learn(last, SEED) == 0 and work.learn(next_one, SEED) > 0


def test_what_is_learned_of_a_character_hangs_on_nothing_that_was_learned_before() -> None:
    source = crowd(3, "I say {spin(0)} and {RANDOM(0, 99)}.")
    work = CompiledStory(published=publish(source, {}))
    for other in ("c000", "c002"):
        work.learn(other, SEED)
    alone = learn(publish(source, {}), "c001", seed=SEED)
    assert work.character_lines("c001", SEED) == alone.lines and len(alone.lines) > 3


def test_a_character_that_runs_out_of_steps_is_known_by_what_it_said_until_then() -> None:
    published = publish(crowd(1, "I say {spin(0)}."), {})
    assert character_lines(published, "c000", seed=1) == ("I say 151. I am number 0.",)
    silent = publish(crowd(1, "I begin.\n{spin(-9999)}"), {})
    assert character_lines(silent, "c000", seed=1) == ("I begin.",)


@pytest.mark.parametrize("depth", [0, 30, 100, 149])
def test_a_ration_pays_for_no_less_than_a_line_takes_and_for_little_more(depth: int) -> None:
    story = publish(f"I say {{spin({depth})}}.\n-> END\n{SPIN}", {}).fresh(seed=1)
    needed = fewest_steps(story.fork())
    ration, copy = Ration(left=100_000), story.fork()
    assert ration.run(copy, copy.continue_) == "I say 151.\n"
    assert needed <= 100_000 - ration.left <= 4 * needed + FIRST_TRY


def fewest_steps(story: Story) -> int:
    """How many steps the next line needs, found with nothing but the story's own budget."""
    low, high = 0, 100_000
    while high - low > 1:
        copy = story.fork()
        copy.step_budget = (low + high) // 2
        try:
            copy.continue_()
            high = copy.step_budget
        except InkBudgetExceeded:
            low = copy.step_budget
    return high


@pytest.mark.parametrize("left", [0, 40, 3_000])
def test_a_ration_is_never_overdrawn_and_leaves_the_story_as_it_was(left: int) -> None:
    story = publish(f"{{spin(-9999)}}\n-> END\n{SPIN}", {}).fresh(seed=1)
    before, ration = story.state_json(), Ration(left=left)
    with pytest.raises(InkBudgetExceeded):
        ration.run(story, story.continue_)
    assert ration.left == 0 and story.state_json() == before


def test_a_story_that_tells_nothing_for_ever_is_known_to_be_endless_soon() -> None:
    story = publish('VAR nothing = ""\n-> t\n=== t\n{nothing}\n-> t\n', {}).fresh(seed=1)
    with pytest.raises(EndlessStory):
        list(lines_of(story))
    assert len(story._machine.state.flow.output.items) < 10, "nothing was gathered on the way"
    blanks = "".join("{nothing}\n" for _ in range(MOST_BLANK))
    told = publish(f'VAR nothing = ""\n{blanks}At last.\n-> END', {}).fresh(seed=1)
    assert [line.text for line in lines_of(told)] == ["At last."]
