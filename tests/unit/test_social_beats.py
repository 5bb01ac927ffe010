"""Social beats: what a line does to how somebody stands to who said it, and how far that may go."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.mass import examples

from fabula.language.social_acts import acts_in
from fabula.recall.social_beats import (
    Listener,
    Spoken,
    after_beat,
    beat_by_rule,
    held,
    in_words,
    proposed,
    shifts_in,
)
from fabula.story.conversations import FeltBeat, StrongAct
from fabula.story.relations import AXES, Axis, Deltas, Relation

MARA = Listener(id="mara", name="Mara")


def said(words: str) -> Spoken:
    return Spoken(by="player", name="Jonas", words=words)


def heard(*lines: str, listener: Listener = MARA) -> Relation:
    relation = Relation()
    for line in lines:
        relation = after_beat(relation, beat_by_rule(said(line), listener, relation))
    return relation


@pytest.mark.parametrize(
    ("line", "act"),
    [
        ("Thank you, that was kind.", "thanks"),
        ("I'm sorry about the lamp.", "apology"),
        ("You coward!", "insult"),
        ("I'll kill you if you say another word.", "threat"),
        ("Tell me, or else.", "threat"),
        ("I hold the knife to her throat.", "threat"),
        ("I betrayed you. I told the guard where you sleep.", "betrayal"),
        ("I confess: the fire was mine.", "confession"),
        ("It was me.", "confession"),
        ("I cut your ropes and pull you out of the water.", "rescue"),
        ("Take my horse.", "favour"),
        ("I'll pay your debts.", "favour"),
        ("You are safe now.", "comfort"),
        ("I promise.", "promise"),
        ("Good evening.", "courtesy"),
    ],
)
def test_a_line_is_known_by_what_it_does(line: str, act: str) -> None:
    assert acts_in(line)[0] == act


@pytest.mark.parametrize(
    "line",
    [
        "They will kill you.",
        "He betrayed you, not I.",
        "Would you kill me?",
        "What if I betrayed you?",
        "Who put the knife there?",
        "The captain saved the ship.",
        "Where is the key?",
    ],
)
def test_what_is_asked_supposed_or_done_by_others_is_no_strong_act(line: str) -> None:
    assert beat_by_rule(said(line), MARA, Relation()).act is None


def test_i_will_not_hurt_you_is_a_comfort_and_not_what_stands_behind_a_threat() -> None:
    assert acts_in("I won't hurt you.") == ["comfort"]
    assert acts_in("I'll break your neck if you don't tell me.") == ["threat"]


def test_who_asks_about_fear_frightens_nobody() -> None:
    assert beat_by_rule(said("What are you afraid of?"), MARA, Relation()).deltas == Deltas()


def test_kind_words_move_a_relation_a_little_and_a_threat_moves_it_far() -> None:
    kind, cruel = heard("Thank you, Mara."), heard("I'll kill you, Mara.")
    assert 0 < kind.affinity <= 0.15 and kind.fear == 0
    assert cruel.fear > 0.15 and cruel.trust < -0.15 and cruel.reason == "Jonas threatened Mara"


def test_in_a_dark_mood_kindness_counts_half() -> None:
    dark = Listener(id="mara", name="Mara", valence=-0.5)
    assert heard("Thank you.", listener=dark).affinity == heard("Thank you.").affinity / 2


def test_who_wears_a_mask_feels_it_and_shows_nothing() -> None:
    composed = Listener(id="mara", name="Mara", composed=True)
    beat = beat_by_rule(said("You coward!"), composed, Relation())
    assert (beat.surface, beat.inner) == (None, "anger")


def test_three_small_kindnesses_in_a_row_are_worth_proposing_and_two_are_not() -> None:
    assert [shift.axis for shift in shifts_in(heard("Thank you.", "Thank you."))] == []
    found = {shift.axis: shift.way for shift in shifts_in(heard("Thank you.", "Thank you.", "Thank you."))}
    assert found == {"trust": 1, "affinity": 1}


def test_a_betrayal_is_worth_proposing_at_once_and_only_once() -> None:
    relation = heard("I betrayed you.")
    assert {shift.axis: shift.way for shift in shifts_in(relation)} == {"trust": -1, "respect": -1, "affinity": -1}
    assert list(shifts_in(proposed(relation))) == []
    assert proposed(relation).trust == relation.trust


def test_what_goes_back_and_forth_is_not_proposed() -> None:
    relation = heard("Thank you.", "You fool!", "Thank you.", "You fool!", "Thank you.")
    assert "trust" not in {shift.axis for shift in shifts_in(relation)}


def test_a_relation_is_told_in_words_or_not_at_all() -> None:
    assert in_words(Relation(), "Jonas") == ""
    assert in_words(Relation(trust=-0.6, fear=0.2), "Jonas") == (
        "You do not trust Jonas at all and are uneasy around Jonas."
    )


thousandths = st.integers(-1_000, 1_000)
acts = st.sampled_from([None, None, None, "confession", "betrayal", "threat", "rescue", "favour"])
steps = st.tuples(thousandths, thousandths, thousandths, acts)


def beat_of(step: tuple[int, int, int, StrongAct | None]) -> FeltBeat:
    trust, affinity, fear, act = step
    deltas = Deltas(trust=trust / 1_000, affinity=affinity / 1_000, fear=fear / 1_000)
    return FeltBeat(character_id="mara", towards="player", deltas=deltas, act=act)


@examples(10_000)
@given(st.integers(-1_000, 1_000), st.integers(-1_000, 1_000), st.integers(0, 1_000), steps)
def test_the_limits_hold_for_all_beats(
    trust: int, affinity: int, fear: int, step: tuple[int, int, int, StrongAct | None]
) -> None:
    before = Relation(trust=trust / 1_000, affinity=affinity / 1_000, fear=fear / 1_000)
    beat = beat_of(step)
    kept, after = held(beat, before), after_beat(before, beat)
    most = 0.15 if beat.act is None else 0.5
    for axis in AXES:
        assert abs(kept.deltas.of(axis)) <= most
        assert abs(after.of(axis) - before.of(axis) - kept.deltas.of(axis)) < 1e-6
        assert (0 if axis == "fear" else -1) <= after.of(axis) <= 1


@examples(1_000)
@given(st.lists(steps, max_size=8))
def test_exactly_what_moved_far_or_three_times_the_same_way_is_proposed(
    many: list[tuple[int, int, int, StrongAct | None]],
) -> None:
    relation = Relation()
    moved: dict[Axis, list[float]] = {axis: [] for axis in AXES}
    for beat in map(beat_of, many):
        kept = held(beat, relation)
        relation = after_beat(relation, beat)
        for axis in AXES:
            moved[axis] += [kept.deltas.of(axis)] if kept.deltas.of(axis) else []
    expected = {
        axis
        for axis, went in moved.items()
        if abs(round(sum(went), 3)) >= 0.3
        or any(len({one > 0 for one in went[at : at + 3]}) == 1 for at in range(len(went) - 2))
    }
    assert {shift.axis for shift in shifts_in(relation)} == expected


@examples(1_000)
@given(st.text(max_size=80))
def test_any_line_gives_a_beat_within_the_limits(words: str) -> None:
    beat = beat_by_rule(said(words), MARA, Relation())
    most = 0.15 if beat.act is None else 0.5
    assert all(abs(beat.deltas.of(axis)) <= most for axis in AXES)
