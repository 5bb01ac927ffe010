"""What an author writes costs what it is long, and no more: counted in calls, not in seconds."""

from __future__ import annotations

import pytest
from tests.growth import calls_of

from fabula.ink import InkBudgetExceeded, Story
from fabula.knots.published import LONGEST_LINE, publish
from fabula.knots.story_steps import EndlessStory, HeavyStory, lines_of
from fabula.story.lore import MOST_FOLLOWED, active_lore
from fabula.story.resources import LorebookEntry

SHUFFLE = "{{shuffle:\n{}}}\n* [Go] -> END\n"
ONE_LINE = "VAR x = 1\n{}\n* [Go] -> END\n"
CHOICE = "VAR x = 1\n* {} [Go]\n- -> END\n"
STORIES = [
    pytest.param(lambda n: SHUFFLE.format("".join(f"- one of {i}\n" for i in range(n))), id="shuffle"),
    pytest.param(lambda n: "{~" + "|".join(f"a{i}" for i in range(n)) + "}\n* [Go] -> END\n", id="alternatives"),
    pytest.param(lambda n: CHOICE.format("{x == 1} " * n), id="conditions"),
    pytest.param(lambda n: "".join(f"* [choice {i}]\n text {i}\n" for i in range(n)) + "- -> END\n", id="choices"),
    pytest.param(lambda n: "".join(f"=== k{i}\nline\n* [on] -> END\n" for i in range(n)), id="knots"),
]


def naming_work(source: str) -> int:
    story = Story.from_source(source)
    story.continue_maximally()
    return calls_of(story.state_json).total()


@pytest.mark.parametrize("written", STORIES)
def test_naming_the_places_of_a_story_grows_with_its_length(written: object) -> None:
    assert callable(written)
    once, four_times = naming_work(written(100)), naming_work(written(400))
    assert once / 100 < 2_000
    assert four_times < 5 * once


def test_a_published_story_has_named_its_large_knots_before_the_first_play() -> None:
    play = publish(SHUFFLE.format("".join(f"- one of {i}\n" for i in range(400))), {}).fresh(seed=1)
    play.continue_maximally()
    assert calls_of(play.state_json).total() < 5_000


def chain(length: int, keyword: str, match: str) -> tuple[LorebookEntry, ...]:
    """Entries each of which speaks of the next."""
    return tuple(
        LorebookEntry.model_validate(
            {
                "entry_id": f"e{n}",
                "title": f"t{n}",
                "content": f"It leads to {keyword.format(n + 1)}.",
                "keywords": [keyword.format(n)],
                "recursive": True,
                "match": match,
            }
        )
        for n in range(length)
    )


@pytest.mark.parametrize(
    ("keyword", "match"), [("word{}", "word"), ("the {} way", "word"), ("c+{}", "word"), ("part{}x", "substring")]
)
def test_lore_that_calls_up_lore_is_followed_so_far_and_no_further(keyword: str, match: str) -> None:
    book = chain(1000, keyword, match)
    calls = calls_of(lambda: active_lore(book, [f"I take {keyword.format(0)} now."]))
    assert calls["_named_in"] <= MOST_FOLLOWED + 1
    assert calls["find"] <= 1000
    assert [note.title for note in active_lore(book, [keyword.format(5)]).matched][:3] == ["t5", "t6", "t7"]


@pytest.mark.parametrize("keyword", ["-a", "{0}-a", "-a{0}"])
def test_keywords_that_almost_stand_in_a_line_are_tried_so_often_and_no_more(keyword: str) -> None:
    words = [keyword.format("a" * (n % 40)) for n in range(1_000)]
    named = {"gate": ["the old gate"], **{f"e{n}": words[n::4] for n in range(4)}}
    book = tuple(LorebookEntry(entry_id=id, title=id, content="x", keywords=these) for id, these in named.items())
    history = [f"{n} " + "-ab" * 6_000 for n in range(30)]
    calls = calls_of(lambda: active_lore(book, ["I go to the old gate."], history))
    assert calls["_is_whole"] <= 250_000
    assert [one.title for one in active_lore(book, ["I go to the old gate."], history).matched] == ["gate"]


def test_a_story_that_prints_without_end_is_stopped() -> None:
    story = Story.from_source('VAR s = "' + "long " * 1000 + '"\n-> on\n=== on\n{s}{s}{s}{s}{s}\n-> on\n')
    with pytest.raises(EndlessStory):
        list(lines_of(story))


def test_a_story_of_a_hundred_thousand_signs_is_a_problem_and_no_accident() -> None:
    published = publish("".join(f"VAR v{n} = 1\n" for n in range(60_000)) + "-> END\n", {})
    assert published.prototype is None
    assert "The story is too large" in published.errors[0] and "100000 are the most" in published.errors[0]


def test_however_many_variables_are_declared_they_all_are() -> None:
    story = Story.from_source("".join(f"VAR v{n} = {n}\n" for n in range(34_000)) + "{v33999}\n-> END\n")
    assert story.continue_() == "33999\n"


def test_a_story_that_writes_blanks_without_end_is_stopped_as_soon_as_one_that_writes_words() -> None:
    story = Story.from_source("VAR x = 3\n-> on\n=== on\n~ x = x * x\n{x > 0: -> on}\n-> on\n")
    calls = calls_of(lambda: [story.continue_() for _ in range(2)])
    assert calls.total() < 5_000_000
    with pytest.raises((EndlessStory, InkBudgetExceeded)):
        list(lines_of(story))


def numbered(count: int, line: str) -> str:
    return "".join(line.format(n) for n in range(count))


GROWN = 'VAR d = 0\nVAR s = "xxxxxxxx"\n' + "~ s = s + s\n" * 19
DEEPER = "~ d = d + 1\n{d < 2500: -> on -> }\n"
KEEPS_MORE = {
    "texts": numbered(20, 'VAR v{0} = ""\n') + GROWN + numbered(20, "{0}\n~ v{0} = s + {0}\n"),
    "one text in many variables": numbered(20, 'VAR v{0} = ""\n') + GROWN + numbered(20, "{0}\n~ v{0} = s\n"),
    "lists": f"LIST l = {numbered(2_000, 'i{0}, ')}i\n"
    + numbered(500, "VAR v{0} = ()\n")
    + numbered(500, "{0}\n~ v{0} = LIST_ALL(l)\n"),
    "calls": f'VAR d = 0\n-> on\n=== on\n~ temp a = "{"x" * 9_000}"\n{{d}}\n{DEEPER}',
    "choices": "VAR d = 0\n-> on\n=== one\n+ [x] -> END\n=== on\n"
    + "<- one\n" * 500
    + "{d}\n~ d = d + 1\n{d < 90: -> on}\n",
    "choices of deep calls": f"VAR d = 0\n-> on\n=== on\n{DEEPER}" + "+ [x] -> END\n" * 50,
}


@pytest.mark.parametrize("what", KEEPS_MORE)
def test_a_story_that_keeps_more_and_more_is_stopped(what: str) -> None:
    story = Story.from_source(KEEPS_MORE[what] + "+ [Go] -> END\n")
    with pytest.raises(HeavyStory):
        list(lines_of(story))


def test_a_story_that_goes_a_long_way_between_its_lines_is_stopped_sooner() -> None:
    round_about = "=== round\n~ n = n + 1\n{n < 5000: -> round}\n-> on\n"
    story, told = Story.from_source(f"VAR n = 0\n-> on\n=== on\nOn.\n~ n = 0\n-> round\n{round_about}"), 0
    with pytest.raises(EndlessStory):
        for _ in lines_of(story):
            told += 1
    assert 5 < told < 50


def test_a_line_that_is_far_too_long_is_a_problem_that_names_it() -> None:
    long = "The old road goes on. " * (LONGEST_LINE // 22 + 1)
    assert publish(f"Once.\n{long[:LONGEST_LINE]}\n-> END\n", {}).prototype is not None
    published = publish("INCLUDE b.ink\n-> END\n", {"b.ink": f"Once.\n{long}\n"})
    assert published.prototype is None and "b.ink" in published.errors[0] and "line 2" in published.errors[0]
