"""Who notices what, how it is felt, and how long it is kept: the rules of remembering, without a store."""

from __future__ import annotations

import random
from typing import Any

import pytest
from tests.mass import seeds

from fabula.recall.feelings import feeling_in, importance_of
from fabula.recall.imprints import imprint_of
from fabula.recall.moods import DAY, fidelity_at
from fabula.recall.perception import (
    PLAYER_OWNER,
    NoticedLine,
    Presence,
    has_noticed,
    noticed_by,
    noticed_in_beat,
    observers,
    settled_by_end,
    speakers_of,
)
from fabula.recall.questions import read_question
from fabula.recall.ranking import Basis, Candidate, Moment, rank
from fabula.story.state import MemoryEntry

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


def said(text: str, kind: Any = "player_input", speaker: str = "player") -> MemoryEntry:
    return MemoryEntry(speaker_id=speaker, speaker_name=NAMES.get(speaker, "You"), kind=kind, text=text)


@pytest.mark.parametrize(
    ("text", "heard"),
    [
        ("I whisper to Mara: Orr is a thief.", "mara"),
        ("I whisper to Mara that I gave it to Orr.", "mara"),
        ("I whisper Orr's secret to Mara.", "mara"),
        ("I lean over and whisper in Tam's ear that Mara lies.", "tam"),
        ("I whisper to Mara and Tam: run.", "mara tam"),
        ("I whisper: the key is gone.", ""),
        ("I whisper to the horse.", ""),
        ("I tell you all about the key.", "mara orr tam"),
    ],
)
def test_a_whisper_is_heard_by_whom_it_is_for_whoever_it_is_about(text: str, heard: str) -> None:
    assert noticed_by(said(text), NAMES, NAMES) == heard.split()


def test_a_whisper_to_nobody_is_for_the_only_one_who_is_there() -> None:
    assert noticed_by(said("I whisper: run."), ["mara"], NAMES) == ["mara"]
    assert noticed_by(said("I whisper to the horse: run."), ["mara"], NAMES) == []


def test_narration_of_wind_that_whispers_is_for_everyone_and_of_people_who_do_for_them() -> None:
    wind = said("The wind whispers in the reeds.", "narration", "narrator")
    assert noticed_by(wind, NAMES, NAMES) == ["mara", "orr", "tam"]
    people = said("Mara whispers something to Orr.", "narration", "narrator")
    assert noticed_by(people, NAMES, NAMES) == ["mara", "orr"]


def test_what_is_said_after_leaning_over_is_whispered_too() -> None:
    beat = [
        said("Mara leans to Orr's ear.", "action", "mara"),
        said("Tam has it.", "dialogue", "mara"),
        said("Mara stands up.", "action", "mara"),
        said("Good day to all.", "dialogue", "mara"),
    ]
    heard = [entry.heard_by for entry in noticed_in_beat(beat, [*NAMES], NAMES)]
    assert heard == [["mara", "orr"], ["mara", "orr"], ["mara", "orr", "tam"], ["mara", "orr", "tam"]]


def test_who_has_left_heard_a_turn_up_to_their_last_word() -> None:
    everyone = [*NAMES]
    told = noticed_in_beat(
        [said("I am off.", "dialogue", "orr"), said("At last.", "dialogue", "mara")], everyone, NAMES
    )
    asked = said("Well?").model_copy(update={"heard_by": everyone})
    settled = settled_by_end([asked, *told], ["mara"])
    assert [entry.heard_by for entry in settled] == [everyone, ["mara", "orr"], ["mara"]]


def test_who_noticed_a_line_is_told_it_and_nobody_else() -> None:
    line = said("Run.").model_copy(update={"heard_by": ["mara"]})
    assert [has_noticed(one, line) for one in ("mara", "orr")] == [True, False]
    assert has_noticed("orr", said("From before this was kept."))


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
