"""People change with what they notice in a scene: by stated steps, little by little, and each for a reason."""

from __future__ import annotations

from collections.abc import Mapping

from fabula.recall.adaptation import THRESHOLD, Dared, Moved, Witnessed, adapt, feelings_in
from fabula.recall.social_beats import in_words, stands_in_words
from fabula.story.readings import Intent, Understood
from fabula.story.relations import MOST_WITH_STEPS, Deltas, Relation, Relations, RelationStep
from fabula.story.state import MemoryEntry

NAMES = {"mara": "Mara", "bram": "Bram"}


def line(words: str, *, heard_by: list[str] | None = None) -> MemoryEntry:
    return MemoryEntry(speaker_id="player", speaker_name="Jonas", kind="player_input", text=words, heard_by=heard_by)


def said(speaker: str, words: str) -> MemoryEntry:
    return MemoryEntry(
        speaker_id=speaker, speaker_name=NAMES[speaker], kind="dialogue", text=words, heard_by=["mara", "bram"]
    )


def lived(
    *entries: MemoryEntry,
    to: str = "",
    relations: Relations | None = None,
    dared: Dared | None = None,
    moods: Mapping[str, float] | None = None,
    intents: list[Intent] | None = None,
    turn_index: int = 1,
) -> tuple[Relations, list[Moved]]:
    words = entries[0].text if entries else ""
    turn = Witnessed(
        player_name="Jonas",
        names=NAMES,
        said=entries,
        understood=Understood(line=words, node_id="inn", addressed=to, intents=intents or []),
        dared=dared,
        valences=moods or {},
    )
    return adapt(relations or {}, feelings_in(turn, relations or {}), turn_index=turn_index)


def test_who_is_threatened_fears_you_and_who_watches_does_by_a_third() -> None:
    relations, moved = lived(line("I will kill you, Mara."), to="mara")
    mara, bram = relations["mara"]["player"], relations["bram"]["player"]
    assert (mara.fear, mara.trust) == (0.35, -0.3)
    assert (bram.fear, bram.trust) == (0.119, -0.102)
    assert [one.step.reason for one in moved] == ["Jonas threatened Mara"] * 2
    assert {one.step.turn_index for one in moved} == {1}


def test_who_did_not_notice_feels_nothing() -> None:
    relations, _ = lived(line("I will kill you, Mara.", heard_by=["mara"]), to="mara")
    assert list(relations) == ["mara"]


def test_an_enemy_of_whom_you_insult_thinks_better_of_you_and_a_friend_takes_it_to_heart() -> None:
    fond: Relations = {"bram": {"mara": Relation(affinity=0.5)}}
    cold: Relations = {"bram": {"mara": Relation(affinity=-0.5)}}
    words = line("You are a coward and a liar, Mara.")
    friend, enemy = lived(words, to="mara", relations=fond)[0], lived(words, to="mara", relations=cold)[0]
    assert friend["bram"]["player"].affinity == -0.065
    assert enemy["bram"]["player"].collected["affinity"] > 0


def test_small_things_are_collected_and_count_when_they_have_come_to_something() -> None:
    relations: Relations = {}
    for turn in (1, 2, 3):
        relations, moved = lived(line("Good evening, Mara."), to="mara", relations=relations, turn_index=turn)
        if turn < 3:
            assert moved == [] and relations["mara"]["player"].affinity == 0
    mara = relations["mara"]["player"]
    assert mara.affinity == 0.06 >= THRESHOLD and mara.collected == {"trust": 0.03}
    assert mara.steps[0].reason == "Jonas was courteous to Mara, and it was not the first time"
    assert mara.steps[0].turn_index == 3


def test_what_is_said_to_somebody_who_is_not_there_is_felt_by_nobody() -> None:
    words = line("Orr, you are a coward and a liar.")
    turn = Witnessed(
        player_name="Jonas",
        names=NAMES,
        absent=["Orr Hale"],
        said=[words],
        understood=Understood(line=words.text, node_id="inn"),
        valences={},
    )
    assert feelings_in(turn, {}) == []


def test_what_is_said_to_nobody_in_particular_counts_half_for_each() -> None:
    relations, _ = lived(line("I will kill you."))
    assert relations["mara"]["player"].fear == relations["bram"]["player"].fear == 0.175


def test_an_attack_that_is_only_told_counts_as_one() -> None:
    attack = [Intent(kind="attack", text="I hit Mara", verb="hit", whom="mara")]
    relations, _ = lived(line("I hit Mara."), intents=attack)
    assert relations["mara"]["player"].trust == -0.4 and relations["mara"]["player"].reason == "Jonas attacked Mara"
    denied = [attack[0].model_copy(update={"negated": True})]
    assert lived(line("I do not hit Mara."), intents=denied)[0] == {}


def test_a_deed_that_the_dice_let_pass_earns_respect_of_those_who_watch() -> None:
    relations, _ = lived(line("I climb the mast."), dared=Dared(level="success"))
    assert relations["mara"]["player"].respect == relations["bram"]["player"].respect == 0.05


def test_what_one_of_the_cast_says_to_another_by_name_moves_that_one_alone() -> None:
    relations, _ = lived(line("Hm."), said("bram", "Mara, you are a thief, and you know it."))
    assert list(relations) == ["mara"] and list(relations["mara"]) == ["bram"]
    assert relations["mara"]["bram"].affinity == -0.13


def test_no_axis_leaves_its_bounds_and_a_full_one_collects_nothing() -> None:
    relations: Relations = {}
    for turn in range(12):
        relations, _ = lived(line("I will kill you, Mara."), to="mara", relations=relations, turn_index=turn)
    mara = relations["mara"]["player"]
    assert (mara.trust, mara.fear) == (-1.0, 1.0) and len(mara.steps) == 6
    assert lived(line("I will kill you, Mara."), to="mara", relations=relations)[1] == []


def test_others_tell_it_of_somebody_as_somebody_tells_it_of_themselves() -> None:
    relation = Relation(trust=-0.2, respect=0.6, affinity=0.3, fear=0.2)
    assert in_words(relation, "Jonas") == (
        "You are wary of Jonas and look up to Jonas and like Jonas and are uneasy around Jonas."
    )
    assert stands_in_words(relation, "Jonas") == [
        "is wary of Jonas",
        "looks up to Jonas",
        "likes Jonas",
        "is uneasy around Jonas",
    ]


def test_of_very_many_relations_those_that_changed_last_keep_their_reasons() -> None:
    def one(turn: int) -> Relation:
        step = RelationStep(turn_index=turn, deltas=Deltas(trust=0.1), reason="kindness")
        return Relation(trust=0.1, reason="kindness", steps=[step] * 6)

    before = {f"c{who}": {f"c{whom}": one(who * 30 + whom) for whom in range(30)} for who in range(30)}
    after, _ = adapt(before, [], turn_index=900)
    every = [found for mine in after.values() for found in mine.values()]
    assert len(every) == 900 and all((found.trust, found.reason) == (0.1, "kindness") for found in every)
    assert sum(bool(found.steps) for found in every) == MOST_WITH_STEPS and after["c29"]["c29"].steps
