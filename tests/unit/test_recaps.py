"""Previously: a few sentences of a play, chosen by where they stand, and never more than fit."""

from __future__ import annotations

import hypothesis.strategies as st
from hypothesis import given
from tests.mass import examples

from fabula.story.recaps import MOST_WORDS, PastTurn, recap
from fabula.story.state import MemoryEntry


def line(kind: str, text: str, name: str = "") -> MemoryEntry:
    speaker = name or {"player_input": "User", "narration": "Narrator"}.get(kind, "Mara")
    return MemoryEntry.model_validate(
        {"speaker_id": speaker.lower(), "speaker_name": speaker, "kind": kind, "text": text}
    )


def turn(*lines: MemoryEntry, opens_scene: bool = False) -> PastTurn:
    return PastTurn(lines=lines, opens_scene=opens_scene)


STORY = [
    turn(line("narration", "Rain falls on the old road. A gate stands shut."), opens_scene=True),
    turn(
        line("player_input", "I knock at the gate."),
        line("narration", "The knocking echoes."),
        line("dialogue", "Who goes there at this hour?"),
    ),
    turn(
        line("player_input", "What happened to the lantern?"),
        line("dialogue", "It went out. Nobody lit it again since the flood."),
    ),
    turn(
        line("player_input", "I give her my coin and walk through."),
        line("narration", "The gate opens with a groan. Behind it lies a garden."),
        opens_scene=True,
    ),
    turn(
        line("player_input", "I look around."),
        line("narration", "Moss covers the sundial. Something moves between the hedges."),
        line("dialogue", "Stay close to me."),
    ),
]


def test_a_recap_tells_scenes_deeds_answers_and_how_things_stand_in_their_order() -> None:
    assert recap(STORY) == (
        "Rain falls on the old road. A gate stands shut. You knock at the gate. The knocking echoes. "
        "Mara: “Who goes there at this hour?” "
        "Mara: “It went out. Nobody lit it again since the flood.” You give her your coin and walk through. "
        "The gate opens with a groan. Behind it lies a garden.\n\n"
        "You look around. Moss covers the sundial. Something moves between the hedges. Mara: “Stay close to me.”"
    )


def test_when_there_is_little_room_how_things_stand_is_told_first() -> None:
    assert recap(STORY, most_words=9) == "Moss covers the sundial. Mara: “Stay close to me.”"
    assert recap(STORY, most_words=30) == (
        "The gate opens with a groan. Behind it lies a garden.\n\n"
        "You look around. Moss covers the sundial. Something moves between the hedges. Mara: “Stay close to me.”"
    )


def test_the_same_turns_are_always_told_the_same_way() -> None:
    assert recap(STORY) == recap(list(STORY))
    assert recap([]) == ""
    assert recap([turn()]) == ""


def test_what_nobody_wants_to_be_reminded_of_is_left_out() -> None:
    idle = turn(line("player_input", "I wait."))
    evasive = turn(line("player_input", "Why?"), line("dialogue", "That I don't know."))
    assert recap([idle, evasive, STORY[-1]]) == recap([STORY[-1]])


def test_players_words_in_other_languages_stand_as_they_were_said() -> None:
    told = recap([turn(line("player_input", "Ich klopfe an das Tor.", "Ada"), line("narration", "Es regnet."))])
    assert told == "Ada: “Ich klopfe an das Tor.” Es regnet."
    chinese = recap([turn(line("player_input", "我敲门。"), line("narration", "雨落在旧路上。门关着。"))])
    assert chinese == "“我敲门。” 雨落在旧路上。 门关着。"


def test_a_sentence_that_has_no_end_is_cut() -> None:
    told = recap([turn(line("narration", "word " * 500))])
    assert told.endswith("…") and len(told.split()) == 40


WORDS = st.lists(st.sampled_from(["rain", "Mara", "gate.", "Why?", "I", "灯。", "and"]), max_size=60).map(" ".join)
LINES = st.builds(line, st.sampled_from(["player_input", "narration", "dialogue", "action"]), WORDS)
TURNS = st.lists(
    st.builds(lambda lines, opens: turn(*lines, opens_scene=opens), st.lists(LINES, max_size=5), st.booleans())
)


@examples(300)
@given(turns=TURNS)
def test_a_recap_is_never_longer_than_it_may_be(turns: list[PastTurn]) -> None:
    assert len(recap(turns).split()) <= MOST_WORDS
