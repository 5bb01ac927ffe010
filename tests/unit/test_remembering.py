"""Who notices what, how it is felt, and how long it is kept: the rules of remembering, without a store."""

from __future__ import annotations

import random

import pytest
from tests.mass import seeds

from fabula.recall.feelings import feeling_in, importance_of
from fabula.recall.imprints import imprint_of
from fabula.recall.moods import DAY, fidelity_at, mood_of
from fabula.recall.perception import PLAYER_OWNER, NoticedLine, Presence, observers, speakers_of
from fabula.recall.questions import read_question
from fabula.recall.ranking import Basis, Candidate, Moment, rank

NAMES = {"mara": "Mara", "orr": "Orr", "tam": "Tam"}


def line(text: str, kind: str = "dialogue", speaker: str = "mara") -> NoticedLine:
    return NoticedLine(id=text, kind=kind, speaker_id=speaker, speaker_name=NAMES.get(speaker, "You"), text=text)


def presence(before: str, after: str, *, moved: bool = False) -> Presence:
    return Presence(before=frozenset(before.split()), after=frozenset(after.split()), moved=moved, names=NAMES)


def who(one: NoticedLine, there: Presence, *lines: NoticedLine) -> set[str]:
    return set(observers(one, there, speakers_of([one, *lines], there)))


def test_everyone_in_the_scene_notices_what_is_said_aloud() -> None:
    assert who(line("The bridge is out."), presence("mara orr", "mara orr")) == {"mara", "orr", PLAYER_OWNER}


def test_a_thought_stays_with_who_has_it() -> None:
    assert who(line("I hate him.", "thought"), presence("mara orr", "mara orr")) == {"mara"}


def test_a_whisper_reaches_whom_it_names_and_nobody_else() -> None:
    there = presence("mara orr tam", "mara orr tam")
    assert who(line("She whispers to Orr: run."), there) == {"mara", "orr", PLAYER_OWNER}


def test_what_is_muttered_to_oneself_is_heard_by_nobody_else() -> None:
    assert who(line("I mutter under my breath.", "player_input", "player"), presence("mara", "mara")) == {PLAYER_OWNER}


def test_who_came_later_did_not_hear_the_player() -> None:
    there = presence("mara", "mara orr")
    assert who(line("Hello?", "player_input", "player"), there) == {"mara", PLAYER_OWNER}
    assert who(line("Hello!"), there) == {"mara", PLAYER_OWNER}


def test_who_left_did_not_hear_what_was_said_then() -> None:
    assert who(line("He is gone."), presence("mara orr", "mara")) == {"mara", PLAYER_OWNER}


def test_who_is_met_in_a_new_scene_notices_what_is_told_there() -> None:
    there = presence("mara", "orr", moved=True)
    assert who(line("A tavern.", "narration", "narrator"), there) == {"orr", PLAYER_OWNER}


@seeds(200)
def test_nobody_notices_what_they_could_not(seed: int) -> None:
    """Random scenes with comings, goings, whispers and thoughts: each line has a word of its own."""
    dice = random.Random(seed)
    here = {one for one in NAMES if dice.random() < 0.6}
    for number in range(12):
        before = set(here)
        for one in NAMES:
            if dice.random() < 0.25:
                here ^= {one}
        there = presence(" ".join(sorted(before)), " ".join(sorted(here)))
        stayed = before & here
        speaker = dice.choice([*sorted(stayed), "player"])
        kind = "player_input" if speaker == "player" else dice.choice(["dialogue", "thought"])
        named = dice.choice(sorted(NAMES))
        whispered = dice.random() < 0.3
        text = f"I whisper to {NAMES[named]}: word{number}." if whispered else f"word{number} aloud."
        noticed = who(line(text, kind, speaker), there)
        could = {speaker} if kind == "thought" else set(before if kind == "player_input" else stayed)
        if whispered and kind != "thought":
            could &= {named, speaker}
        could = {PLAYER_OWNER if one == "player" else one for one in could}
        assert noticed <= could | {PLAYER_OWNER}
        if kind == "thought":
            assert PLAYER_OWNER not in noticed


@pytest.mark.parametrize(
    ("text", "emotion"),
    [
        ("She laughed and kissed him with joy.", "joy"),
        ("They trembled, afraid of the dark.", "fear"),
        ("He wept at the grave.", "sadness"),
        ("She shouted in rage.", "anger"),
        ("The room was empty.", None),
    ],
)
def test_a_feeling_is_told_by_its_words(text: str, emotion: str | None) -> None:
    assert feeling_in(text).emotion == emotion


def test_weighty_things_matter_more() -> None:
    dull, weighty = "The soup is warm.", "The king confessed the murder!"
    assert importance_of(dull, feeling_in(dull)) == 1
    assert importance_of(weighty, feeling_in(weighty)) >= 3
    assert importance_of(weighty, feeling_in(weighty), changed=True) <= 5


def test_a_mood_has_inertia_and_wears_off_on_story_time() -> None:
    assert mood_of([], 0) == 0
    assert -0.7 < mood_of([(0, -0.9)], 0) < -0.2
    assert mood_of([(0, -0.9)] * 5, 0) < mood_of([(0, -0.9)], 0)
    assert abs(mood_of([(0, -0.9)], 3 * DAY)) < 0.01


def test_what_does_not_matter_fades_and_what_is_pinned_or_weighty_never_does() -> None:
    late = 400 * DAY
    assert fidelity_at(late, remembered=0, importance=1, pinned=False) == 0
    assert 0 < fidelity_at(15 * DAY, remembered=0, importance=1, pinned=False) < 1
    assert fidelity_at(late, remembered=0, importance=1, pinned=True) == 1
    assert fidelity_at(late, remembered=0, importance=5, pinned=False) == 1


def test_what_has_faded_does_not_come_to_mind_until_somebody_goes_back() -> None:
    words = " ".join(imprint_of("the lantern broke").words)
    row = Candidate(1, 0, "inn", "Mara", words, "english", "", "", "", 0, 1, 0.0, "", "", 0)
    basis, asked = Basis(candidates=[row], total=1), read_question("lantern")
    assert rank(asked, basis, moment=Moment(minute=60)) != []
    assert rank(asked, basis, moment=Moment(minute=400 * DAY)) == []
    assert rank(asked, basis) != []
