"""Story templates: which beats are due, how they are reached, and what is against them."""

from __future__ import annotations

from typing import Any

from fabula.agents.due_beats import due_text
from fabula.rules.story_templates import act_now, due_beats, follow_template
from fabula.story.contexts import DueBeat
from fabula.story.plays import PlayState, SceneMark
from fabula.story.state import Snapshot, WorldState
from fabula.story.story_templates import MOST_MISSING, StoryTemplate, TemplateNow, missing_names, template_problems

NOW = TemplateNow(template_id="ferry")


def template(**changes: Any) -> StoryTemplate:
    """Arrive at the quay, perhaps meet the cat, hear Mara's story; then the gate opens."""
    opened = {"condition": {"key": "gate_open", "op": "eq", "value": True}}
    acts = [
        {
            "act_id": "one",
            "title": "Arrival",
            "beats": [
                {"beat_id": "arrive", "title": "They arrive", "places": ["quay"]},
                {"beat_id": "cat", "title": "The cat", "people": ["cat"], "may_be_skipped": True},
                {"beat_id": "hear", "title": "Mara tells", "people": ["mara"], "places": ["inn"]},
            ],
        },
        {
            "act_id": "two",
            "title": "The gate",
            "beats": [
                {
                    "beat_id": "open",
                    "title": "The gate opens",
                    "people": ["mara"],
                    "places": ["gate"],
                    "outcomes": [{"outcome_id": "opened", "text": "It opens.", "when": opened}],
                }
            ],
        },
    ]
    given = {"template_id": "ferry", "title": "The Ferry", "acts": acts, **changes}
    return StoryTemplate.model_validate(given)


def play(place: str, *people: str, turn: int = 1, **custom: bool) -> PlayState:
    world = WorldState(current_node=place, active_characters=list(people), custom=dict(custom))
    snapshot = Snapshot(story_id="s", player_description="", turn_index=turn, world_state=world)
    return PlayState(snapshot=snapshot, graph="g", scenes=[SceneMark(turn_index=0, node_id=place)])


def ids(beats: list[Any]) -> list[str]:
    return [beat.beat_id for beat in beats]


def test_beats_are_due_in_their_order_and_optional_ones_beside_the_next() -> None:
    story = template()
    assert ids(due_beats(story, NOW, play("road"))) == ["arrive"]
    after = follow_template(story, NOW, play("quay", turn=2), [])
    assert list(after.reached) == ["arrive"] and after.violations == []
    assert ids(due_beats(story, after, play("quay"))) == ["cat", "hear"]


def test_an_act_is_over_when_its_required_beats_were_reached() -> None:
    story = template()
    after = follow_template(story, NOW, play("quay"), [])
    assert (act := act_now(story, after)) is not None and act.act_id == "one"
    after = follow_template(story, after, play("inn", "mara"), [])
    assert (act := act_now(story, after)) is not None and act.act_id == "two"
    after = follow_template(story, after, play("gate", "mara", gate_open=True), [])
    assert act_now(story, after) is None and after.violations == []
    assert after.reached["open"].outcome_id == "opened"


def test_what_is_reached_too_early_elsewhere_and_without_somebody_is_against_it() -> None:
    after = follow_template(template(), NOW, play("garden", gate_open=True, turn=4), [])
    assert [(one.against, one.severity, one.beat_id) for one in after.violations] == [
        ("missing_person", "warning", "open"),
        ("wrong_place", "warning", "open"),
        ("out_of_order", "warning", "open"),
    ]
    assert after.violations[2].sentence == "'The gate opens' was reached before 'They arrive', which has to come first."
    assert "open" in after.reached and all(one.turn_index == 4 for one in after.violations)


def test_flexibility_decides_how_grave_it_is_and_a_loose_one_minds_no_order() -> None:
    early = play("gate", "mara", gate_open=True)
    assert [one.severity for one in follow_template(template(flexibility="strict"), NOW, early, []).violations] == [
        "error"
    ]
    assert follow_template(template(flexibility="loose"), NOW, early, []).violations == []


def test_a_phrase_that_does_not_belong_here_is_found_in_what_is_told() -> None:
    story = template(forbidden=["mobile phone"])
    after = follow_template(story, NOW, play("road"), ["It rains.", "She takes out her Mobile phones and waits."])
    assert [one.against for one in after.violations] == ["forbidden_phrase"]
    assert "'mobile phone' was told" in after.violations[0].sentence


def test_a_turn_that_moves_nothing_leaves_it_as_it_was() -> None:
    assert follow_template(template(), NOW, play("road"), ["It rains."]) is NOW


def test_violations_are_kept_within_a_bound() -> None:
    story, now = template(forbidden=["fog"]), NOW
    for turn in range(60):
        now = follow_template(story, now, play("road", turn=turn), ["Fog."])
    assert len(now.violations) == 40 and now.violations[-1].turn_index == 59


def test_what_cannot_work_is_told_to_the_author() -> None:
    twice = template()
    assert template_problems([twice, twice]) == ["the template 'ferry' is there twice"]
    empty = {"act_id": "a", "title": "A", "beats": [{"beat_id": "b", "title": "B"}, {"beat_id": "b", "title": "C"}]}
    problems = template_problems([template(acts=[empty])])
    assert any("'b' is there twice" in one for one in problems)
    assert any("can never be reached" in one for one in problems)
    missing = missing_names(template(), {"mara"}, {"quay", "inn"})
    assert missing == [
        "The beat 'cat' needs 'cat', who is not there.",
        "The beat 'open' names the place 'gate', which is not there.",
    ]


def test_what_is_due_is_told_in_words() -> None:
    beat = DueBeat(
        title="Mara tells", text="why she left", people=["Mara"], places=["The Inn"], outcomes=["She tells."]
    )
    assert "- Mara tells. why she left. With: Mara. At: The Inn. It may end so: She tells." in due_text([beat])


def test_of_very_much_that_a_world_lacks_the_first_is_named_and_nothing_is_looked_for_in_lists() -> None:
    beats = [
        {"beat_id": f"b{beat}", "title": "B", "places": [f"place-{beat}-{one}" for one in range(20)]}
        for beat in range(60)
    ]
    large = StoryTemplate.model_validate(
        {"template_id": "t", "title": "T", "acts": [{"act_id": "a", "title": "A", "beats": beats}]}
    )

    class Compared(str):
        times = 0
        __hash__ = str.__hash__

        def __eq__(self, other: object) -> bool:
            Compared.times += 1
            return str.__eq__(self, other)

    missing = missing_names(large, [], [Compared(f"elsewhere {number}") for number in range(2000)])
    assert len(missing) == MOST_MISSING + 1 and missing[-1] == "More than 50 are missing; these are the first."
    assert Compared.times < 2000
