"""Situations of belief and reflection, each with what is to happen: claims, evidence, and what is made of it."""

from __future__ import annotations

import pytest
from tests.growth import calls_of

from fabula.ports.memories import Candidates, Feeling, Memory, Owner
from fabula.recall.beliefs import (
    Belief,
    Evidence,
    Source,
    as_memory,
    beliefs_after,
    claims_in,
    current,
    from_memory,
    sureness,
    turns_of,
    weigh,
    without_superseded,
)
from fabula.recall.feelings import feeling_in, importance_of
from fabula.recall.reflections import reflect


def evidence(text: str, source: Source = "told", turn_id: str = "t1") -> Evidence:
    [claim] = claims_in(text)
    return Evidence(claim=claim, source=source, turn_id=turn_id, from_whom="Orr" if source == "told" else "")


def after(*texts: tuple[str, Source]) -> Belief:
    [belief] = beliefs_after({}, [evidence(text, source, f"t{n}") for n, (text, source) in enumerate(texts, 1)])
    return belief


def remembered(text: str, *, place: int = 0, speaker: str = "Orr", scene: str = "inn", **changes: object) -> Memory:
    feeling = feeling_in(text)
    given: dict[str, object] = {
        "memory_id": f"m{place}", "owner": Owner(scope="tree", name="mara"), "turn_id": f"t{place}", "space": 1,
        "place": place, "text": text, "kind": "observation", "speaker": speaker, "people": (), "scene": scene,
        "where": "inn", "minute": 0, "importance": importance_of(text, feeling), "feeling": feeling, "certainty": 1.0,
        "told_by": "", "canon": "", "evidence": (), "pinned": False, "recalls": 0, "fidelity": 1.0, "renditions": (),
        "created_at_ms": 0,
    }  # fmt: skip
    return Memory(**{**given, **changes})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "claimed"),
    [
        ("The king is dead.", ["The king is dead."]),
        ("Listen: the gate is not open, and Orr stole the key!", ["The gate is not open.", "Orr stole the key."]),
        ("I swear that the well is poisoned.", ["The well is poisoned."]),
        ("The ferryman died last night.", ["The ferryman is dead."]),
    ],
)
def test_a_claim_is_read_from_what_is_said(text: str, claimed: list[str]) -> None:
    assert [claim.sentence for claim in claims_in(text)] == claimed


@pytest.mark.parametrize(
    "text",
    [
        "Is the king dead?",
        "If the king is dead, we flee.",
        "Perhaps the king is dead.",
        "She is tired.",
        "Good evening.",
    ],
)
def test_questions_conditions_guesses_and_pronouns_claim_nothing(text: str) -> None:
    assert claims_in(text) == []


def test_who_says_i_speaks_of_themselves() -> None:
    assert [claim.sentence for claim in claims_in("I am the heir.", "Orr")] == ["Orr is the heir."]


def test_a_sentence_and_its_opposite_are_about_the_same() -> None:
    keys = {claims_in(text)[0].key for text in ("The king is dead.", "The king is not dead.", "The king is alive.")}
    assert len(keys) == 1
    signs = [
        claims_in(text)[0].positive for text in ("The king is dead.", "The king is not dead.", "The king is alive.")
    ]
    assert signs == [True, False, False]


def test_what_is_seen_is_believed_more_surely_than_what_is_told() -> None:
    assert after(("The king is dead.", "told")).confidence == 0.75
    assert after(("The king is dead.", "saw")).confidence == 0.9


def test_what_supports_a_belief_makes_it_surer_and_never_certain() -> None:
    word: tuple[str, Source] = ("The king is dead.", "told")
    belief = after(*[word] * 6)
    assert 0.95 < belief.confidence < 1


def test_one_word_against_another_leaves_doubt_and_a_second_overturns_the_belief() -> None:
    doubted = after(("The king is dead.", "told"), ("The king is alive.", "told"))
    assert (doubted.text, doubted.confidence, sureness(doubted.confidence)) == ("The king is dead.", 0.525, "half sure")
    turned = after(("The king is dead.", "told"), ("The king is alive.", "told"), ("The king is alive.", "told"))
    assert (turned.text, turned.overturned) == ("The king is alive.", True)


def test_a_belief_is_overturned_by_what_one_sees() -> None:
    turned = after(("The king is dead.", "told"), ("The king is alive.", "saw"))
    assert (turned.text, turned.confidence, turned.overturned) == ("The king is alive.", 0.625, True)


def test_hearsay_does_not_overturn_what_was_seen() -> None:
    kept = after(("The gate is open.", "saw"), ("The gate is closed.", "told"))
    assert (kept.text, kept.confidence) == ("The gate is open.", 0.63)


def test_the_turns_that_speak_for_and_against_a_belief_are_kept() -> None:
    turned = after(("The king is dead.", "told"), ("The king is alive.", "saw"))
    assert (turns_of(turned.evidence), turns_of(turned.evidence, against=True)) == (["t2"], ["t1"])


def test_a_belief_that_was_kept_is_weighed_on_as_it_was() -> None:
    belief = after(("The king is dead.", "told"), ("The king is alive.", "saw"))
    new = as_memory(belief, owner="mara", turn_id="t2", minute=5, where="inn")
    kept = remembered(
        new.text, memory_id=new.memory_id, scene=new.scene, certainty=new.certainty, evidence=tuple(new.evidence)
    )
    again = weigh(from_memory(kept), evidence("The king is dead.", "saw", "t3"))
    assert (again.text, again.overturned) == ("The king is dead.", True)


def test_only_the_last_change_of_a_belief_is_believed_and_comes_to_mind() -> None:
    old, new = (remembered(text, place=place, scene="belief/k") for place, text in enumerate(("Old.", "New.")))
    assert [one.text for one in current([new, old])] == ["New."]
    row = (1, 0, "belief/k", "", "", "english", "", "", "", 0, 1, 0.0, "", "", 0, "")
    other = (1, 2, "inn", "", "", "english", "", "", "", 0, 1, 0.0, "", "", 0, "")
    rows = [row, (*row[:1], 1, *row[2:]), other]
    found = without_superseded(Candidates(rows=rows, vectors=[b"a", b"b", b"c"], total=3))
    assert [place for _, place, *_ in found.rows] == [1, 2]
    assert found.vectors == [b"b", b"c"]


# Reflections


def test_what_somebody_keeps_doing_becomes_a_thought_about_them() -> None:
    deeds = ["Orr shouts with rage.", "Orr threatens me in anger!", "Orr slams the door, furious.", "Orr hits the dog."]
    [first, *_] = reflect([remembered(text, place=n) for n, text in enumerate(deeds)], own_name="Mara")
    assert first.text.startswith("When I think of Orr, it is with anger.")
    assert len(first.evidence) == 4 and first.feeling.emotion == "anger"


def test_a_thing_that_keeps_coming_up_becomes_a_thought_about_it() -> None:
    lines = [
        "The lantern is a treasure.", "They kill for the lantern.", "Hide the lantern, it is a secret.",
        "Blood was on the lantern.", "The soup is warm.", "A fine day.", "The rope is long.", "Good evening.",
    ]  # fmt: skip
    found = reflect([remembered(text, place=n, speaker="") for n, text in enumerate(lines)], own_name="Mara")
    assert any("the lantern" in one.text for one in found)


def test_a_few_remarks_are_not_worth_a_thought() -> None:
    assert reflect([remembered("Orr nods.", place=n) for n in range(3)], own_name="Mara") == []


def test_the_same_is_not_thought_twice() -> None:
    deeds = [remembered(f"Orr shouts with rage, time {n}.", place=n, importance=3) for n in range(5)]
    first = reflect(deeds, own_name="Mara")
    assert first and reflect(deeds, own_name="Mara", known=[one.text for one in first]) == []


def test_reflections_are_the_same_every_time() -> None:
    deeds = [remembered(f"Orr shouts with rage, time {n}.", place=n, importance=3) for n in range(5)]
    assert reflect(deeds, own_name="Mara") == reflect(list(deeds), own_name="Mara")


def test_each_observation_is_read_a_few_times_however_many_words_they_share() -> None:
    text = " ".join(f"lantern{n} treasure{n}" for n in range(300))
    lines = [remembered(f"{text} {n}", place=n, speaker=f"Orr{n}") for n in range(8)]
    assert calls_of(lambda: reflect(lines, own_name="Mara"))["words_of"] < 6 * len(lines)


def test_a_mixed_cluster_is_noted_without_a_feeling() -> None:
    lines = ["Orr laughs.", "Orr weeps in sorrow.", "Orr shouts in rage.", "Orr trembles with fear."]
    found = reflect([remembered(text, place=n, importance=2) for n, text in enumerate(lines)], own_name="Mara")
    assert found[0].feeling == Feeling() and "keeps coming back to Orr" in found[0].text


@pytest.mark.parametrize("name", ["A\\g<x>", "A\\1", "A\\q"])
def test_a_name_with_signs_of_patterns_is_a_name(name: str) -> None:
    claims = claims_in("I am the thief. My brother is a liar. I lied. The miller is dead.", name)
    assert "The miller is dead." in [claim.text for claim in claims]


def test_a_claim_with_a_word_without_end_is_none() -> None:
    assert claims_in(f"Mara is {'a' * 9_000}. Anna is a thief.") == claims_in("Anna is a thief.") != []
