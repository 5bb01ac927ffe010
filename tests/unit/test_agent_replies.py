"""What models write becomes proposals; what cannot be used is told in sentences, and nothing raises."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.growth import calls_of
from tests.mass import examples

from fabula.agents.canon_extraction import read_extraction
from fabula.agents.conversations import read_feels
from fabula.agents.replies.architect import read_graph, read_opening, read_section
from fabula.agents.replies.director import fallback_plan, read_response_plan
from fabula.agents.replies.json_answers import json_in
from fabula.agents.replies.keeper import read_state_update
from fabula.agents.replies.planner import outline_sections, read_plan
from fabula.agents.replies.replyer import read_replies
from fabula.agents.replies.shapes import output_schema, repair_messages
from fabula.ports.models import Message
from fabula.story.gate import ProposedUpdate
from fabula.story.plans import ActorBeat, NarratorBeat, ResponsePlan
from fabula.story.state import SetState

NODE = {"id": "yard", "title": "The yard", "scene": "Rain.", "goal": "Get in.", "characters": ["mira"]}
NARRATES = {"type": "Narrator", "purpose": "DescribeScene"}
OPENING = {
    "nodes": [
        {**NODE, "transitions": [{"to": "hall", "condition": {"key": "open", "op": "eq", "value": True}}]},
        {**NODE, "id": "hall", "transitions": []},
    ],
    "transition_patches": [],
    "section_summary": "They meet.",
    "start_node": "yard",
    "world_state_schema": {"fields": {"open": {"value_type": "bool", "default": False}}},
    "player_state_schema": {"fields": {}},
    "introduction": "It rains.",
}
SECTION = {
    "nodes": [{**NODE, "id": "tower", "transitions": []}],
    "transition_patches": [{"node_id": "hall", "add_transitions": [{"to": "tower", "condition": None}]}],
    "section_summary": "They climb.",
}


@pytest.mark.parametrize(
    "text",
    ['{"a": 1}', '```json\n{"a": 1}\n```', 'Sure! Here it is: {"a": 1} Hope it helps {x}.', '{"b": {} oops {"a": 1}'],
)
def test_json_is_found_among_remarks_and_fences(text: str) -> None:
    assert json_in(text) == ({"a": 1}, [])


def test_a_reply_without_json_says_so() -> None:
    assert json_in("I cannot do that.") == (None, ["the reply holds no JSON object that can be read"])


def test_a_reply_of_very_many_values_is_none() -> None:
    assert json_in('{"a": [' + "0," * 20_000 + "0]}") == (None, ["the reply holds more than 10000 values"])
    assert json_in('Here: {"a": [' + "0," * 20_000 + "0]}") == (None, ["the reply holds more than 10000 values"])
    value, problems = json_in(json.dumps({"a": ["x, [y], {z} " * 1_000] * 9}))
    assert not problems and isinstance(value, dict)


def test_a_reply_that_never_ends_is_not_read_again_from_each_of_its_brackets() -> None:
    decoded = calls_of(lambda: json_in('{"a":[' * 49 + "1," * 5_000))["raw_decode"]
    assert 1 <= decoded <= 5
    assert json_in('{"a": ' * 3 + "oops " * 2_000 + '{"b": 1}') == ({"b": 1}, [])


def test_numbers_that_cannot_be_kept_are_no_proposal() -> None:
    large = '{"ops": [{"type": "SetState", "key": "x", "value": 1' + "0" * 40 + "}]}"
    update, _ = read_state_update(large)
    assert update is not None and update.ops == [SetState(key="x", value=1e40)]
    assert json_in('{"a": 1e400}')[1]


def test_a_section_that_does_not_fit_in_very_many_places_is_told_of_in_one_sentence() -> None:
    assert read_section(json.dumps({"nodes": [{}] * 2_000}), existing=(), characters=()) == (
        None,
        ["'the reply': it does not fit in 8001 places"],
    )


@pytest.mark.parametrize("change", [{"x" * 9_000: 1}, {"type": "x" * 9_000}])
def test_what_a_model_wrote_in_place_of_a_name_is_not_told_whole(change: dict[str, object]) -> None:
    op = {"type": "SetState", "key": "a", "value": 1, **change}
    _, problems = read_state_update(json.dumps({"ops": [op]}))
    assert len(problems) == 1 and len(problems[0]) < 500


def test_of_very_many_problems_a_model_is_told_the_first() -> None:
    beats = [{"type": "Actor", "speaker_id": f"nobody{n}", "purpose": "ReactToPlayer"} for n in range(2_000)]
    _, problems = read_response_plan(json.dumps({"role_actions": [], "beats": beats}), cast=["mira"])
    asked = repair_messages([], raw="", problems=problems, schema=None)[-1].content
    assert "nobody0" in asked and len(asked) < 5_000


def test_half_characters_and_endless_numbers_of_a_model_are_never_proposed() -> None:
    line = "Mira opened the old gate."
    for name in ("\\ud800", "\\u0041" * 3):
        who = '"kind": "entity", "entity_id": "gate", "entity_kind": "place"'
        item = f'[{{{who}, "name": "{name}", "quote": "{line}"}}]'
        assert len(read_extraction(item, [line], {}, minute=0)) == ("ud800" not in name)
    felt = '{"reason": "\\ud800", "trust": 0.1}'
    assert read_feels(felt, character_id="a", towards="b", said="") is None


def test_a_section_and_a_plan_have_a_bound() -> None:
    nodes = [{**NODE, "id": f"n{n}", "characters": []} for n in range(65)]
    reply = json.dumps({"nodes": nodes, "section_summary": "x"})
    assert read_section(reply, existing=(), characters=()) == (None, ["a section may have 64 nodes"])
    assert read_plan("One.\n\n" * 65) == ("", ["the plan falls into 65 sections, and 64 are the most"])
    assert read_plan("Word. " * 10_000)[1] == ["the plan is longer than 40000 letters"]


def test_a_plan_with_headings_falls_into_opening_and_beats() -> None:
    plan = """**Title:** Rain

    Opening Situation:
    You stand in the yard.
    It rains.

    Suggested Beats:
    - The gate: someone knocks.
    2. Mira lies.

    Possible Endings:
    You leave."""
    assert outline_sections(plan) == ["You stand in the yard. It rains.", "The gate: someone knocks.", "Mira lies."]


def test_a_plan_without_headings_falls_into_paragraphs() -> None:
    assert outline_sections("One\nline.\n\n \nTwo.") == ["One line.", "Two."]
    assert read_plan("```text\nA long enough plan of a story.\n```") == ("A long enough plan of a story.", [])
    assert read_plan(" ")[1]


def test_a_draft_is_opened_and_continued() -> None:
    opening, problems = read_opening(json.dumps(OPENING), characters=["mira"])
    assert problems == [] and opening is not None
    assert opening.nodes[0].as_node().transitions[0].to == "hall"
    section, problems = read_section(json.dumps(SECTION), existing=["yard", "hall"], characters=["mira"])
    assert problems == [] and section is not None
    assert section.transition_patches[0].ways()[0].to == "tower"
    graph = {**OPENING, "graph": {"start_node": "yard", "nodes": OPENING["nodes"]}}
    for key in ("nodes", "transition_patches", "section_summary", "start_node"):
        del graph[key]
    whole, problems = read_graph(json.dumps(graph), characters=["mira"])
    assert problems == [] and whole is not None and len(whole.graph.as_graph().nodes) == 2


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"start_node": "yard"}, "'start_node' is not allowed here"),
        ({"introduction": "x"}, "'introduction' is not allowed here"),
        ({"nodes": []}, "'nodes'"),
        ({"nodes": [{**NODE, "id": "hall"}]}, "'hall' exists already"),
        ({"nodes": [{**NODE, "id": "tower", "characters": ["ghost"]}]}, "'ghost', who is not in the cast"),
        ({"nodes": [{**NODE, "id": "tower", "transitions": [{"to": "moon"}]}]}, "leads to 'moon'"),
        ({"transition_patches": [{"node_id": "sea", "add_transitions": []}]}, "'sea', which does not exist"),
    ],
)
def test_a_section_that_breaks_the_rules_is_refused_by_name(change: dict[str, object], words: str) -> None:
    section, problems = read_section(json.dumps({**SECTION, **change}), existing=["yard", "hall"], characters=["mira"])
    assert section is None
    assert any(words in problem for problem in problems), problems


def test_an_opening_needs_its_start_node_and_sound_schemas() -> None:
    broken = {
        **OPENING,
        "start_node": "moon",
        "world_state_schema": {"fields": {"n": {"value_type": "int", "default": "x"}}},
    }
    _, problems = read_opening(json.dumps(broken), characters=["mira"])
    assert problems == ["the start node 'moon' is not among the nodes", "the default of 'n' is not of type int"]


def test_a_turn_is_planned_with_people_who_come_and_go() -> None:
    guard = {
        "session_character_id": "guard",
        "display_name": "Guard",
        "personality": "",
        "style": "",
        "system_prompt": "",
    }
    reply = {
        "role_actions": [
            {"type": "create_and_enter", **guard},
            {"type": "leave_scene", "session_character_id": "mira"},
        ],
        "beats": [
            {"type": "narrator", "purpose": "describe_result"},
            {"type": "Actor", "speaker_id": "guard", "purpose": "ReactToPlayer"},
        ],
    }
    plan, problems = read_response_plan(json.dumps(reply), cast=["mira"], story_characters=["mira"])
    assert problems == [] and plan is not None
    assert plan.beats == [
        NarratorBeat(purpose="DescribeResult"),
        ActorBeat(speaker_id="guard", purpose="ReactToPlayer"),
    ]


def test_a_plan_with_strangers_or_without_beats_is_refused() -> None:
    ghost = {"beats": [{"type": "Actor", "speaker_id": "ghost", "purpose": "AdvanceGoal"}]}
    assert "'ghost' cannot speak" in read_response_plan(json.dumps(ghost), cast=["mira"])[1][0]
    assert read_response_plan('{"beats": []}', cast=["mira"])[1] == ["the plan has no beats"]
    leaver = {"role_actions": [{"type": "leave_scene", "session_character_id": "x"}], "beats": ghost["beats"]}
    assert len(read_response_plan(json.dumps(leaver), cast=["mira"])[1]) == 2


@pytest.mark.parametrize("id", ["player", "narrator", "everyone"])
def test_nobody_comes_who_is_taken_for_somebody_else(id: str) -> None:
    """The dice look up what the player can do under `player`, before the variables of whoever is called so."""
    guest = {"type": "create_and_enter", "session_character_id": id, "display_name": "Hero", "personality": "bold"}
    plan = {"role_actions": [{**guest, "style": "", "system_prompt": ""}], "beats": [NARRATES]}
    assert read_response_plan(json.dumps(plan), cast=["mira"])[1] == [f"'{id}' is no id for a guest; choose a new id"]


def test_the_plan_that_stands_in() -> None:
    react = ActorBeat(speaker_id="mira", purpose="ReactToPlayer")
    assert fallback_plan(transitioned=False, cast=["mira"]) == ResponsePlan(beats=[react])
    assert fallback_plan(transitioned=True, cast=["mira"]).beats[0] == NarratorBeat(purpose="DescribeTransition")
    assert fallback_plan(transitioned=False, cast=[]).beats == [NarratorBeat(purpose="DescribeResult")]


def test_the_keeper_may_do_everything_but_move_the_story_on() -> None:
    ops = [{"type": "SetState", "key": "a", "value": 1}, {"type": "SetCurrentNode", "node_id": "x"}, {"type": "Fly"}]
    update, problems = read_state_update(json.dumps({"ops": ops}))
    assert update == ProposedUpdate(ops=[SetState(key="a", value=1)], because=[""])
    assert len(problems) == 2 and "not the keeper's" in problems[0]
    assert read_state_update('{"ops": 3}') == (None, ["'ops' is missing or is not a list"])


def test_replies_are_given_once_and_capped() -> None:
    texts = ["Go in.", "go in", "Wait.", "", 7, "Run!"]
    replies, problems = read_replies(json.dumps({"replies": [{"id": "x", "text": t} for t in texts]}), limit=2)
    assert problems == []
    assert [(reply.reply_id, reply.text) for reply in replies] == [("r1", "Go in."), ("r2", "Wait.")]
    assert read_replies('{"replies": [{}]}', limit=3)[1]


def properties_of(*role: Any) -> set[str]:
    schema: Any = output_schema(*role)
    return set(schema["properties"])


def test_roles_that_answer_in_json_have_a_schema_and_the_others_none() -> None:
    for role in ("planner", "actor", "narrator", "swift"):
        assert output_schema(role) is None
    assert "SetCurrentNode" not in json.dumps(output_schema("keeper"))
    assert properties_of("architect", "draft_continue") == set(SECTION)
    assert properties_of("architect", "draft_init") == set(OPENING)
    assert properties_of("director") == {"role_actions", "beats"}


def test_a_broken_reply_is_asked_for_again_with_the_error_the_shape_and_the_reply() -> None:
    asked = (Message(role="user", content="Plan."),)
    again = repair_messages(asked, raw="oops", problems=["'beats' is missing"], schema=output_schema("director"))
    assert [message.role for message in again] == ["user", "assistant", "user"]
    assert again[1].content == "oops"
    assert "'beats' is missing" in again[2].content and "role_actions" in again[2].content


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["ops", "beats", "replies", "nodes", "type", "text", "x"]), inner, max_size=3)
    ),
    max_leaves=10,
)


@examples(300)
@given(values.map(json.dumps) | st.text() | st.just("{" * 100_000) | st.just("[" * 100_000))
def test_no_reply_breaks_a_reader(text: str) -> None:
    assert (read_response_plan(text, cast=[])[0] is None) == bool(read_response_plan(text, cast=[])[1])
    read_state_update(text)
    read_replies(text, limit=3)
    read_opening(text, characters=[])
    read_section(text, existing=[], characters=[])
    read_graph(text, characters=[])
    outline_sections(text)
