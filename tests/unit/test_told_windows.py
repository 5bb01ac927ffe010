"""What of a long play stands in prompts: the newest lines from a place that holds still, and before them a summary."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from tests.rule_play import samples

from fabula.agents import summaries
from fabula.agents.prompts import write_prompt
from fabula.agents.summaries import read_summary, write_summary_prompt
from fabula.language.english import sentences
from fabula.loops.scene.contexts import Scene, SceneTeller, untold_lines
from fabula.story.changes import LATEST_LINES, lines_kept, lines_left_out, turns_kept
from fabula.story.plays import PlayState, SceneMark
from fabula.story.resources import LorebookEntry
from fabula.story.state import MemoryEntry, Snapshot, WorldState
from fabula.story.summaries import StorySoFar, Summary, rungs_of, sum_up, with_text

LINES = 5


def test_what_is_left_out_grows_by_three_quarters_of_a_window_and_the_rest_always_fits() -> None:
    left = [lines_left_out(total, 128) for total in range(2_000)]
    assert left == sorted(left) and left[:113] == [0] * 113
    shown = [total - out for total, out in enumerate(left)]
    assert max(shown) <= 128 - LATEST_LINES and min(shown[113:]) > lines_kept(128) == 28
    assert len(set(left)) == 1 + (2_000 - 113 + 83) // 84
    assert [lines_left_out(total, 8) for total in (0, 8, 39, 40, 200)] == [0, 0, 0, 32, 192]


def test_a_window_of_any_length_keeps_its_last_lines_and_its_limit() -> None:
    for limit in range(33, 200):
        shown = [total - lines_left_out(total, limit) for total in range(600)]
        assert max(shown) == limit - LATEST_LINES
        assert min(shown[limit:]) == lines_kept(limit) + 1 >= min(16, limit // 4)


def test_the_turns_that_a_cut_keeps_are_the_same_until_the_next_one() -> None:
    """The summary of what was left out is chosen by them, in whichever turn it is read."""
    for lines in (2, 5, 9):
        past = [line("player", "player_input", "I wait.") if at % lines == 0 else RAIN for at in range(900)]
        found: dict[int, set[int | None]] = {}
        for total in range(lines, len(past) + 1, lines):
            out = lines_left_out(total, 152)
            kept = turns_kept(past[out:total], 152)
            found.setdefault(out, set()).add(kept)
            assert kept is not None and kept <= sum(one.kind == "player_input" for one in past[out:total])
        assert all(len(some) == 1 for out, some in found.items() if out), "no later turn changes it"
    assert turns_kept(past, 8) is None


def line(speaker: str, kind: str, text: str) -> MemoryEntry:
    return MemoryEntry.model_validate({"speaker_id": speaker, "speaker_name": speaker, "kind": kind, "text": text})


RAIN = line("narrator", "narration", "It rains.")


def prompts(turns: int) -> list[str]:
    """The narrator's prompt in each turn of a long play that stays in one scene."""
    setup, _ = samples()
    node = setup.graph.start_node
    past: list[MemoryEntry] = []
    written = []
    for number in range(1, turns + 1):
        world = WorldState(current_node=node, active_characters=list(setup.nodes[node].characters))
        snapshot = Snapshot(story_id="s", player_description="", world_state=world, turn_index=number - 1)
        play = PlayState(snapshot=snapshot, graph="g", message_count=len(past))
        said = line("player", "player_input", f"I look around, for the {number}. time.")
        scene = Scene(previous_node_id=node, previous_cast=world.active_characters, noticed=[said])
        out = untold_lines(setup, play)
        so_far = f"Of {out} lines only this is known." if out else ""
        teller = SceneTeller(setup, play, scene, said.text, past[-1000:], turn_index=number, so_far=so_far)
        context = teller.narrator("describe_result")
        written.append(write_prompt(setup.agent("narrator"), context).messages[-1].content)
        past += [said, *(line("narrator", "narration", f"It rains on stone {number}.{n}.") for n in range(LINES - 1))]
    return written


def shared_beginning(one: str, other: str) -> int:
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def test_prompts_of_a_long_play_extend_each_other_but_for_a_few() -> None:
    written = prompts(120)
    breaks = 0
    for before, after in pairwise(written):
        told = before.index("## What happened in it")
        kept = shared_beginning(before, after)
        breaks += kept < told + 200
    assert 4 <= breaks <= 8, "once for each three quarters of a window"
    assert "Of 510 lines only this is known." in written[-1]
    assert written[-1].index("## The story before that") < written[-1].index("## What happened in it")
    assert "The story before that" not in written[10]


def test_a_scene_that_began_before_the_told_lines_is_tied_to_none_of_them() -> None:
    """Its lore would stand at the first line for ever, and change with it."""
    setup, _ = samples()
    setup = replace(
        setup, lore=(LorebookEntry(entry_id="e", title="Bread", content="It is good.", keywords=["bread"]),)
    )
    first, later = setup.graph.start_node, "the-wreck"
    assert "bread" in setup.nodes[first].scene
    past = [line("narrator", "narration", f"It rains on stone {number}.") for number in range(400)]
    world = WorldState(current_node=later)
    snapshot = Snapshot(story_id="s", player_description="", world_state=world, turn_index=80)
    marks = [SceneMark(turn_index=0, node_id=first), SceneMark(turn_index=3, node_id=later)]
    play = PlayState(snapshot=snapshot, graph="g", message_count=400, scenes=marks)
    said = line("player", "player_input", "I look at the rocks.")
    scene = Scene(previous_node_id=later, previous_cast=[], noticed=[said])
    lore = SceneTeller(setup, play, scene, said.text, past, turn_index=81).narrator("describe_result").lore
    assert lore.matched == []


def test_a_text_of_the_ladder_can_be_replaced_where_it_stands() -> None:
    scene = Summary(title="The Gate", first_turn=9, last_turn=12, text="You came.")
    chapter = Summary(title="The Road", first_turn=4, last_turn=8, text="You walked.")
    ladder = StorySoFar(story="You left.", chapters=[chapter], scenes=[scene], last_turn=12)
    assert [(rung.level, rung.first_turn, rung.last_turn) for rung in rungs_of(ladder)] == [
        ("story", 0, 3),
        ("chapters", 4, 8),
        ("scenes", 9, 12),
    ]
    for rung in rungs_of(ladder):
        ladder = with_text(ladder, rung, f"New {rung.level}.")
    assert ladder.text == "New story.\nNew chapters.\nNew scenes."


def test_the_summariser_is_told_what_was_said_and_no_thoughts() -> None:
    system, user = write_summary_prompt(
        [line("mara", "dialogue", "Who is there?"), line("mara", "thought", "A thief.")], words=70, before="You came."
    )
    assert "at most 70 words" in system.content
    assert "You came." in user.content and "Who is there?" in user.content and "thief" not in user.content


def test_a_summary_is_cut_after_the_last_sentence_that_fits() -> None:
    assert read_summary("You came to the gate. " * 40, words=20) == " ".join(["You came to the gate."] * 6)
    assert read_summary("**You** came\nto the gate.", words=20) == "You came to the gate."
    assert read_summary("Sure!", words=20) == "" and read_summary("", words=20) == ""


def test_a_word_without_end_is_in_no_summary() -> None:
    """Every prompt that follows would have it, and whoever asks what happened."""
    endless = f"Then there was {'a' * 9_000} and more."
    assert read_summary(f"You came to the gate. {endless}", words=20) == "You came to the gate."
    told = f"You came here at noon. {endless}"
    line = MemoryEntry(speaker_id="narrator", speaker_name="N", kind="narration", text=told)
    assert sum_up([line]) == "You came here at noon."


def test_of_a_reply_without_end_no_more_is_read_than_a_summary_has_words(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def noted(text: str) -> list[str]:
        read.append(text)
        return sentences(text)

    monkeypatch.setattr(summaries, "sentences", noted)
    told = read_summary("So it is. And on? " * 10_000, words=20)
    assert told == " ".join(["So it is. And on?"] * 6) and len(read[0].split()) == 31
