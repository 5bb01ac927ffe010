"""What an Ink play remembers, after its transcript was changed by hand."""

from __future__ import annotations

from fabula.knots.edited_history import reworded
from fabula.story.ink_stories import Heard, InkPlay, Talk, TalkLine, Waiting
from fabula.story.state import MemoryEntry


def play(*history: Heard, earlier: list[str] | None = None, talks: dict[str, Talk] | None = None) -> InkPlay:
    return InkPlay(
        state="",
        ai_seed=1,
        waiting=Waiting(kind="nothing"),
        history=list(history),
        earlier=earlier or [],
        talks=talks or {},
    )


def message(kind: str, text: str, speaker: str = "narrator") -> MemoryEntry:
    return MemoryEntry.model_validate({"speaker_id": speaker, "speaker_name": "Guard", "kind": kind, "text": text})


def texts(ink: InkPlay) -> list[str]:
    return [one.text for one in ink.history]


def heard(kind: str, text: str) -> Heard:
    return Heard.model_validate({"kind": kind, "text": text})


def test_a_telling_of_several_lines_becomes_one_and_context_between_them_stays() -> None:
    told = play(heard("text", "Rain."), heard("context", "Secret."), heard("text", "Wind."), heard("said", "Hm."))
    after = reworded(told, message("narration", "Rain.\n\nWind."), message("narration", "Snow."))
    assert texts(after) == ["Secret.", "Snow.", "Hm."]


def test_of_two_equal_lines_the_newest_is_changed() -> None:
    told = play(heard("said", "Hello."), heard("said", "Hello."))
    assert texts(reworded(told, message("player_input", "Hello."), None)) == ["Hello."]
    after = reworded(told, message("player_input", "Hello."), message("player_input", "Bye."))
    assert texts(after) == ["Hello.", "Bye."]


def test_a_telling_that_is_half_forgotten_is_changed_where_it_is_still_known() -> None:
    told = play(heard("text", "Wind."), heard("said", "Hm."), earlier=["Rain."])
    after = reworded(told, message("narration", "Rain.\n\nWind."), None)
    assert texts(after) == ["Hm."] and after.earlier == []


def test_a_choice_is_found_by_its_label() -> None:
    told = play(heard("choice", "Go"), heard("text", "You go."))
    assert texts(reworded(told, message("player_input", "Go (2)"), None)) == ["You go."]


def test_a_talk_forgets_the_old_words_in_every_form() -> None:
    line = TalkLine(said="I am a thief.", outcome="NEEDS_INPUT", reply="Go away.")
    talk = Talk(lines=[line], earlier=["I am a thief."], worked=["I am a thief."], messages=2)
    told = play(talks={"guard": talk})
    after = reworded(told, message("player_input", "I am a thief.", "player"), None).talks["guard"]
    assert after.lines == [line.model_copy(update={"said": ""})] and after.earlier == [] == after.worked


def test_a_line_that_nobody_remembers_changes_nothing() -> None:
    told = play(heard("text", "Rain."))
    assert reworded(told, message("narration", "Hail."), message("narration", "Snow.")) == told
