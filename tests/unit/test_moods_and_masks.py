"""Situations of the inner life, each with what is to happen: moods, flashbacks and masks, without a store."""

from __future__ import annotations

import random

import pytest
from tests.growth import calls_of
from tests.mass import seeds

from fabula.ports.memories import Feeling, Memory, Owner
from fabula.recall.feelings import feeling_in
from fabula.recall.flashbacks import Reminder, by_memory, by_trauma, choose, may_come
from fabula.recall.imprints import imprint_of
from fabula.recall.inner_life import InnerTurn, Person, TurnMoment, accused_in, live_through, moods_now, outward
from fabula.recall.masks import Pressure, slip_at, wear
from fabula.recall.moods import DAY, OPPOSITES, Mood, mood_after, mood_of
from fabula.recall.questions import read_question
from fabula.recall.ranking import Basis, Candidate, Moment, rank
from fabula.recall.touch import stems_in
from fabula.story.minds import Emotion, InnerLife, Mask, Mind, MoodState, Trauma, WornMask
from fabula.understudy.minds import flashback_text

MASK = Mask(presented=["cheerful"], hidden=["afraid of the sea", "in debt"], touches=["the shipwreck"])
TRAUMA = Trauma(text="Her brother let go of the rope.", triggers=["drown", "the old rope"])
MARA = Person(id="mara", name="Mara", mask=MASK, traumas=[TRAUMA])
ORR = Person(id="orr", name="Orr Venn")


def felt(*lines: str, before: MoodState | None = None, minute: int = 0) -> Mood:
    return mood_of(mood_after(before, [feeling_in(line) for line in lines], minute))


def turn(said: str, *, around: str = "", turn_index: int = 5, scene_began: int = 0, seed: str = "play") -> TurnMoment:
    return TurnMoment(minute=60, turn_index=turn_index, scene_began=scene_began, said=said, around=around, seed=seed)


def lived(said: str, before: InnerLife | None = None, *, seed: str = "play", turn_index: int = 5) -> InnerTurn:
    moods = moods_now(before, {"mara": [said], "orr": [said]}, 60)
    return live_through([MARA, ORR], before, moods, turn(said, seed=seed, turn_index=turn_index))


def strong_memory(text: str = "The mill burned, and I screamed.", **changes: object) -> Memory:
    given: dict[str, object] = {
        "memory_id": "m1", "owner": Owner(scope="tree", name="mara"), "turn_id": "t1", "space": 1, "place": 0,
        "text": text, "kind": "observation", "speaker": "Orr", "people": ("Orr",), "scene": "mill", "where": "mill",
        "minute": 0, "importance": 5, "feeling": Feeling(emotion="fear", valence=-0.7, arousal=0.8), "certainty": 1.0,
        "told_by": "", "canon": "", "evidence": ("line1",), "pinned": False, "recalls": 0, "fidelity": 1.0,
        "renditions": (), "created_at_ms": 0,
    }  # fmt: skip
    return Memory(**{**given, **changes})  # type: ignore[arg-type]


# Moods


def test_a_quiet_line_leaves_no_mood() -> None:
    assert felt("The soup is warm.") == Mood()


def test_a_frightening_line_makes_one_afraid() -> None:
    mood = felt("I am afraid, there is danger and terror everywhere!")
    assert (mood.emotion, mood.valence < 0, mood.words) == ("fear", True, "afraid")


def test_nobodys_mood_turns_whole_at_a_word() -> None:
    once = felt("I am afraid!")
    assert once.strength <= 0.5 and once.words == "a little afraid"


def test_what_is_felt_again_and_again_is_felt_more() -> None:
    assert felt(*["I am so afraid of this terror!"] * 5).strength > 2 * felt("I am so afraid!").strength * 0.7
    assert felt(*["I am so afraid of this terror!"] * 6).words == "very afraid"


def test_after_six_hours_half_of_a_mood_is_left_and_after_days_nothing() -> None:
    before = mood_after(None, [feeling_in("What a horror, what a panic!")], 0)
    half = mood_after(before, [], 6 * 60)
    assert half.felt["fear"] == pytest.approx(before.felt["fear"] / 2, abs=0.001)
    assert mood_after(before, [], 3 * DAY).felt == {}


def test_joy_lessens_grief_and_does_not_wipe_it_out() -> None:
    grief = mood_after(None, [feeling_in("I weep with grief and sorrow and loss.")] * 3, 0)
    after = mood_after(grief, [feeling_in("We laugh and dance with joy!")], 0)
    assert 0 < after.felt["sadness"] < grief.felt["sadness"]


def test_a_mood_of_several_feelings_is_as_pleasant_as_all_of_them() -> None:
    mixed = mood_of(MoodState(felt={"joy": 0.8, "fear": 0.8}))
    assert -0.2 < mixed.valence < 0.2 and mixed.arousal > 0.3


@seeds(40)
def test_moods_stay_within_their_bounds_whatever_is_felt(seed: int) -> None:
    draws = random.Random(seed)
    state: MoodState | None = None
    for minute in range(0, 2_000, 100):
        emotion = draws.choice(sorted(OPPOSITES))
        felt_now = Feeling(emotion=emotion, valence=draws.uniform(-1, 1), arousal=draws.uniform(0, 1))
        state = mood_after(state, [felt_now], minute)
        whole = mood_of(state)
        assert all(0.05 <= value <= 1 for value in state.felt.values())
        assert -1 <= whole.valence <= 1 and 0 <= whole.arousal <= 1


def test_every_feeling_has_an_opposite_that_is_its_own() -> None:
    assert all(OPPOSITES[OPPOSITES[emotion]] == emotion != OPPOSITES[emotion] for emotion in OPPOSITES)
    assert len(OPPOSITES) == 8


def test_a_sad_mood_brings_back_the_sad_one_of_two_memories_and_a_glad_mood_the_glad_one() -> None:
    words = " ".join(imprint_of("the harbour at night").words)
    plain = Candidate(1, 0, "a", "Mara", words, "english", "", "", "", 0, 1, 0.0, "", "", 0)
    rows = [plain._replace(valence=-0.7), plain._replace(place=1, scene="b", valence=0.7)]
    basis, asked = Basis(candidates=rows, total=2), read_question("harbour")
    sad = felt(*["I weep with grief."] * 4).valence
    glad = felt(*["We laugh with joy!"] * 4).valence
    assert rank(asked, basis, moment=Moment(valence=sad))[0].number == 0
    assert rank(asked, basis, moment=Moment(valence=glad))[0].number == 1


def test_without_a_mood_recall_is_as_it_was() -> None:
    words = " ".join(imprint_of("the harbour at night").words)
    row = Candidate(1, 0, "a", "Mara", words, "english", "", "", "", 0, 1, -0.9, "", "", 0)
    basis, asked = Basis(candidates=[row], total=1), read_question("harbour")
    [calm] = rank(asked, basis, moment=Moment(valence=0.0))
    assert "mood" not in [reason.part for reason in calm.reasons]


# Flashbacks


@pytest.mark.parametrize("said", ["Did he drown?", "He drowned last year.", "drowning men", "the old rope"])
def test_a_trigger_is_known_in_all_its_forms(said: str) -> None:
    [found] = by_trauma("mara", [TRAUMA], said=stems_in(said), around=frozenset(), valence=0.0)
    assert found.odds == 0.6


def test_words_that_are_no_trigger_call_nothing_up() -> None:
    assert by_trauma("mara", [TRAUMA], said=stems_in("The soup is warm."), around=frozenset(), valence=0.0) == []


def test_a_trigger_in_the_scene_counts_half_as_much_as_one_that_is_said() -> None:
    [found] = by_trauma("mara", [TRAUMA], said=frozenset(), around=stems_in("An old rope hangs here."), valence=0.0)
    assert found.odds == 0.3


def test_who_feels_bad_already_is_reminded_more_easily() -> None:
    [found] = by_trauma("mara", [TRAUMA], said=stems_in("drown"), around=frozenset(), valence=-0.3)
    assert found.odds == 0.7


def test_a_strong_memory_comes_more_easily_at_its_place_and_with_its_people() -> None:
    away = by_memory(strong_memory(), where="inn", people=frozenset(), valence=0.0)
    there = by_memory(strong_memory(), where="mill", people=frozenset({"Orr"}), valence=-0.3)
    assert away is not None and there is not None
    assert (away.odds, there.odds) == (0.2, 0.5)


def test_a_memory_that_does_not_matter_or_does_not_stir_is_no_flashback() -> None:
    calm = strong_memory(feeling=Feeling(emotion="trust", valence=0.5, arousal=0.2))
    for memory in (strong_memory(importance=3), calm):
        assert by_memory(memory, where="mill", people=frozenset({"Orr"}), valence=-0.5) is None


def test_what_was_only_thought_comes_back_in_no_flashback() -> None:
    thought = strong_memory(evidence=("t1/thought0/mara",))
    assert by_memory(thought, where="mill", people=frozenset(), valence=0.0) is None


def test_the_most_likely_one_comes_and_never_two() -> None:
    likely, unlikely = (
        Reminder(owner="mara", text=text, told="", emotion=None, cue="", odds=odds)
        for text, odds in (("rope", 0.6), ("mill", 0.2))
    )
    assert choose([unlikely, likely], draw=0.1) == likely
    assert choose([unlikely, likely], draw=0.59) == likely
    assert choose([unlikely, likely], draw=0.6) is None


def test_there_is_one_flashback_in_a_scene_and_another_one_in_the_next() -> None:
    assert may_come(None, 0)
    assert not may_come(3, 0)
    assert may_come(3, 3)
    before = InnerLife(flashback_turn=3)
    came = [lived("They drowned.", before, seed=str(seed)).flashback for seed in range(40)]
    assert came == [None] * 40


def test_flashbacks_come_as_often_as_their_odds_say() -> None:
    came = [lived("Did he drown?", seed=str(seed)).flashback is not None for seed in range(400)]
    assert 0.5 < sum(came) / 400 < 0.7


def test_the_same_moment_has_the_same_flashback_and_the_same_slip() -> None:
    before = InnerLife(masks={"mara": WornMask(integrity=0.3)})
    assert lived("Did he drown?", before) == lived("Did he drown?", before)


def test_a_flashback_is_told_in_words_that_are_worth_reading() -> None:
    text = flashback_text("Mara", told="The mill burned", cue="", emotion="fear", is_player=False, seed=1)
    assert "The mill burned." in text and text.startswith(("Mara", "All at once", "Something"))


def test_of_a_trauma_the_player_is_told_only_what_the_author_allows() -> None:
    text = flashback_text("Mara", told="", cue="drown", emotion="fear", is_player=False, seed=1)
    assert "drown" in text and "brother" not in text


def test_the_players_own_flashback_speaks_to_the_player() -> None:
    text = flashback_text("Ann", told="The mill burned", cue="", emotion="fear", is_player=True, seed=2)
    assert "Ann" not in text and "The mill burned." in text


# Masks


def test_a_firm_mask_never_slips() -> None:
    assert {slip_at(0.75, pressed=True, draw=draw / 100) for draw in range(100)} == {None}


@pytest.mark.parametrize(("integrity", "grade", "odds"), [(0.6, "hint", 0.1), (0.4, "slip", 0.25), (0.1, "break", 0.5)])
def test_the_thinner_a_mask_the_worse_and_the_likelier_it_slips(integrity: float, grade: str, odds: float) -> None:
    assert slip_at(integrity, pressed=False, draw=odds - 0.01) == grade
    assert slip_at(integrity, pressed=False, draw=odds) is None
    assert slip_at(integrity, pressed=True, draw=2 * odds - 0.01) == grade


def test_words_that_touch_what_is_hidden_wear_the_mask() -> None:
    for said in ("Are you afraid of the sea?", "Tell me of the shipwreck."):
        worn = wear(MASK, None, Pressure(said=stems_in(said)), minute=0, draw=0.99)
        assert (worn.worn.integrity, worn.reasons) == (0.9, ("touched",))


def test_harmless_words_wear_no_mask() -> None:
    assert wear(MASK, None, Pressure(said=stems_in("A fine morning.")), minute=0, draw=0.0).worn.integrity == 1.0


def test_an_accusation_wears_more_than_a_touch_and_both_add_up() -> None:
    accused = wear(MASK, None, Pressure(accused=True), minute=0, draw=0.99).worn.integrity
    both = wear(MASK, None, Pressure(said=stems_in("the shipwreck"), accused=True), minute=0, draw=0.99).worn.integrity
    assert (accused, both) == (0.85, 0.75)


def test_who_is_very_upset_or_lives_through_something_again_wears_the_mask_worse() -> None:
    upset = wear(MASK, None, Pressure(valence=-0.4, arousal=0.4), minute=0, draw=0.99)
    relived = wear(MASK, None, Pressure(relived=True), minute=0, draw=0.99)
    assert (upset.worn.integrity, relived.worn.integrity) == (0.95, 0.85)


def test_glad_excitement_wears_no_mask() -> None:
    assert wear(MASK, None, Pressure(valence=0.5, arousal=0.6), minute=0, draw=0.0).reasons == ()


def test_a_mask_rests_on_story_time_up_to_how_it_sat_at_first() -> None:
    worn = WornMask(integrity=0.5, minute=0)
    assert wear(MASK, worn, Pressure(), minute=100, draw=0.99).worn.integrity == 0.6
    assert wear(MASK, worn, Pressure(), minute=5, draw=0.99).worn == WornMask(integrity=0.5, minute=0)
    assert wear(MASK, worn, Pressure(), minute=10 * DAY, draw=0.99).worn.integrity == 1.0


def test_a_mask_at_low_integrity_slips_under_pressure() -> None:
    before = InnerLife(masks={"mara": WornMask(integrity=0.2, minute=60)})
    slips = [lived("Mara, you are lying about the shipwreck.", before, seed=str(seed)) for seed in range(20)]
    assert {one.masks["mara"].slip for one in slips} == {"break"}


def test_a_break_shows_one_hidden_trait_for_good_and_relieves_the_mask() -> None:
    worn = WornMask(integrity=0.2, minute=0)
    broken = wear(MASK, worn, Pressure(), minute=0, draw=0.0)
    assert (broken.slip, broken.worn.shown, broken.worn.integrity) == ("break", 1, 0.45)
    again = wear(MASK, WornMask(integrity=0.1, shown=2), Pressure(), minute=0, draw=0.0)
    assert again.worn.shown == 2


def test_an_accusation_meets_those_it_names_or_else_everybody() -> None:
    people = [MARA, ORR]
    assert accused_in("Orr, you are a liar.", people) == {"orr"}
    assert accused_in("You are all lying!", people) == {"mara", "orr"}
    assert accused_in("Orr, pass the salt.", people) == frozenset()


def test_others_see_what_is_presented_and_what_came_out_and_never_what_is_hidden() -> None:
    mind = Mind(id="mara", name="Mara", presented=["cheerful"], hidden=["in debt", "afraid"], relived="secret")
    assert (outward(mind).hidden, outward(mind).relived, outward(mind).presented) == ([], "", ["cheerful"])
    shown = outward(mind.model_copy(update={"shown": 1}), "The rope.")
    assert (shown.hidden, shown.relived) == (["in debt"], "The rope.")


def test_a_flashback_wears_the_mask_of_who_has_it() -> None:
    for seed in range(40):
        one = lived("Did he drown?", seed=str(seed))
        expected = ("relived",) if one.flashback is not None else ()
        assert one.masks["mara"].reasons == expected


@pytest.mark.parametrize("emotion", sorted(OPPOSITES))
def test_every_feeling_has_words_of_its_own(emotion: Emotion) -> None:
    assert mood_of(MoodState(felt={emotion: 0.6})).words


def test_of_a_line_without_end_no_more_is_felt_than_of_a_long_one() -> None:
    words = " ".join(f"qu{number}ings" for number in range(10_000))
    long = calls_of(lambda: feeling_in(words[:5_000])).total()
    endless = calls_of(lambda: feeling_in(words)).total()
    assert endless <= long
    assert feeling_in(f"I weep. {words}").emotion == "sadness"


def test_who_does_not_hear_a_whisper_is_neither_touched_nor_reminded_by_it() -> None:
    deaf = Person(id="mara", name="Mara", mask=MASK, traumas=[TRAUMA], hears=False)
    said = "You are lying, they drowned in the shipwreck."
    for seed in range(20):
        one = live_through([deaf, ORR], None, {}, turn(said, seed=str(seed)))
        assert one.flashback is None and one.masks["mara"].reasons == ()
