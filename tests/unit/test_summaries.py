"""The ladder of summaries: sentences as they were told, in their order, and never more of them than have room."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from tests.mass import examples

from fabula.story.state import MemoryEntry
from fabula.story.summaries import (
    CHAPTER_WORDS,
    MOST_CHAPTERS,
    MOST_SCENES,
    SCENE_WORDS,
    STORY_WORDS,
    StorySoFar,
    Summary,
    climb,
    condense,
    sum_up,
)


def told(kind: str, text: str, who: str = "narrator") -> MemoryEntry:
    return MemoryEntry.model_validate({"speaker_id": who, "speaker_name": who.title(), "kind": kind, "text": text})


SCENE = [
    told("narration", "Rain falls on the jetty. A lamp burns in the window of the inn."),
    told("player_input", "I ask Tobias about the lamp.", "player"),
    told("dialogue", "The lamp has been dark for three nights, and nobody says why.", "tobias"),
    told("thought", "He must never learn that I broke the lens.", "tobias"),
    told("player_input", "What is that?", "player"),
    told("narration", "Tobias turns away. The lamp in the tower stays dark, and the sea is loud."),
]


def test_a_scene_is_summed_up_by_what_was_told_done_and_said_in_this_order() -> None:
    text = sum_up(SCENE)
    places = [text.index(words) for words in ("Rain falls", "You ask Tobias about the lamp.", "Tobias: “The lamp")]
    assert places == sorted(places) and text.endswith("the sea is loud.")


def test_thoughts_and_questions_of_the_player_are_in_no_summary() -> None:
    text = sum_up(SCENE)
    assert "lens" not in text and "What is that" not in text


def test_a_long_scene_is_one_summary_however_many_parts_it_had() -> None:
    ladder = StorySoFar()
    for at in range(1, 40, 8):
        ladder = climb(ladder, part("The Jetty", at, at + 7))
    assert [(one.title, one.first_turn, one.last_turn) for one in ladder.scenes] == [("The Jetty", 1, 40)]


def test_scenes_become_chapters_and_chapters_the_story() -> None:
    ladder = StorySoFar()
    for at in range(60):
        ladder = climb(ladder, part(f"Scene {at}", at, at))
    assert ladder.story and ladder.chapters and ladder.scenes[-1].title == "Scene 59"
    covered = [(one.first_turn, one.last_turn) for one in [*ladder.chapters, *ladder.scenes]]
    assert all(second[0] == first[1] + 1 for first, second in pairwise(covered))


def part(title: str, first: int, last: int) -> Summary:
    text = f"In {title} the keeper of turn {first} lights lamp number {last}. Mara looks on and says nothing at all."
    return Summary(title=title, first_turn=first, last_turn=last, text=text)


PARTS = st.lists(st.tuples(st.sampled_from("ABCD"), st.text(max_size=400)), max_size=60)


@given(parts=PARTS)
@examples(300)
def test_the_ladder_has_a_bound_whatever_was_told(parts: list[tuple[str, str]]) -> None:
    ladder = StorySoFar()
    for at, (title, text) in enumerate(parts, start=1):
        summed = sum_up([told("narration", text)])
        ladder = climb(ladder, Summary(title=title, first_turn=at, last_turn=at, text=summed))
    assert len(ladder.scenes) <= MOST_SCENES and len(ladder.chapters) <= MOST_CHAPTERS
    assert len(ladder.story.split()) <= STORY_WORDS
    assert all(len(one.text.split()) <= CHAPTER_WORDS for one in ladder.chapters)
    assert all(len(one.text.split()) <= SCENE_WORDS for one in ladder.scenes)
    assert ladder.last_turn == len(parts)


@given(texts=st.lists(st.text(max_size=300), max_size=8), limit=st.integers(0, 100))
@examples(300)
def test_condensing_keeps_sentences_as_they_are_and_never_more_words_than_asked_for(
    texts: list[str], limit: int
) -> None:
    short = condense(texts, limit)
    assert len(short.split()) <= limit
    assert condense(texts, limit) == short
