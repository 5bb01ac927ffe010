"""The understudy plays every role: what a newcomer reads must answer, move on, and end."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.mass import examples
from tests.unit.understudy_walk import Walk, asked

from fabula.language.english import to_listener, to_second_person
from fabula.language.words import names_said, stems, words_of
from fabula.story import graph as graphs
from fabula.story.contexts import (
    ActorContext,
    ArchitectContext,
    CastMember,
    KeeperContext,
    Lore,
    LoreNote,
    NarratorContext,
    PlannerContext,
    PlayerCard,
    ProgressionHint,
    ReplyerContext,
    StateView,
    SwiftContext,
)
from fabula.story.graph import Comparison, Graph, Node, Transition, graph_problems
from fabula.story.schemas import SchemaField, SchemaFields, schema_problems
from fabula.story.state import MemoryEntry, StateUpdate
from fabula.understudy.reading.reader import read_line
from fabula.understudy.reading.scenes import scene_text
from fabula.understudy.sections import outline
from fabula.understudy.utterance import read

MARA = CastMember(id="mara", name="Mara", personality="A gruff harbour master who hides a debt.", style="Dry.")
TAM = CastMember(id="tam", name="Tam", personality="Shy and nervous, a ferry boy.", style="Stammers.")
LORE = Lore(
    base=[LoreNote(title="The lighthouse", content="The lighthouse was built by a widow. Its lamp never went out.")],
    matched=[LoreNote(title="Captain Vell", content="Captain Vell drowned on the reef with nine men.")],
)
PIER = Node(
    id="pier",
    title="The Pier at Dusk",
    scene="A wooden pier runs out into grey water. Rain drips from the ropes, and a lantern swings above the hut.",
    goal="Convince Mara to hand over the key.",
    characters=["mara"],
    transitions=[Transition(to="stairs", condition=Comparison(key="has_key", op="eq", value=True))],
)
CONCEPT = "A bell rings at night although the tower burned down. The player arrives as the new postmaster."


def moment(words: str, **more: Any) -> dict[str, Any]:
    said = MemoryEntry(speaker_id="player", speaker_name="Robin", kind="player_input", text=words)
    told = MemoryEntry(speaker_id="n", speaker_name="Narrator", kind="narration", text="You came ashore.")
    return {
        "lore": LORE,
        "player": PlayerCard(name="Robin", description="A traveller."),
        "current_cast": [MARA],
        "current_node": PIER,
        "world_state": StateView(custom={"has_key": False}, player_state={}),
        "shared_history": [told, said],
        **more,
    }


def spoken(words: str, actor: CastMember = MARA, seed: int = 1) -> str:
    text = asked(ActorContext(**moment(words), actor=actor, purpose="react_to_player"), seed)
    assert re.fullmatch(r"(<(thought|action|dialogue)>[^<>]+</\2>)+", text)
    found = re.search(r"<dialogue>(.*?)</dialogue>", text)
    assert found is not None
    return found[1]


WAT = CastMember(
    id="wat", name="Wat Penhale", personality="A shy and gloomy carter, the older one.", style="Few words."
)


def about_wat(words: str) -> set[str]:
    """What is said of Wat, by whatever seed, when somebody else is spoken to."""
    context = ActorContext(**moment(words, absent_cast=[WAT]), actor=MARA, purpose="react_to_player")
    return {text for seed in range(12) if "Wat" in (text := asked(context, seed))}


def test_a_name_is_no_part_of_another_word() -> None:
    """Rough stems make `wat` of water: whoever asks for water does not speak of Wat."""
    for words in ("You are right to ask for water.", "What of the water?", "Where is the water?", "Who waters it?"):
        assert about_wat(words) == set(), words


def test_a_name_is_known_whole_and_with_what_is_added_to_it() -> None:
    for words in (
        "Who is Wat?",
        "Who is Wat Penhale?",
        "What do you know of Wat’s cart?",
        "Tell me about the Penhales.",
    ):
        assert about_wat(words), words
    assert names_said("Wat Penhale", words_of("Ask Wat's brother, the other of the Penhales.")) == {"wat", "penhale"}
    assert names_said("Wat Penhale", words_of("Watch the watery wats-in-law wait.")) == {"wat"}
    assert names_said("The Miller", words_of("The mill, the milling.")) == frozenset()


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("", "silence"),
        ("...", "silence"),
        ("Hello there!", "greeting"),
        ("Who are you?", "question"),
        ("where is the key", "question"),
        ("I open the door", "deed"),
        ("open the door", "deed"),
        ("*nods slowly*", "deed"),
        ('I smile. "Good evening."', "greeting"),
        ("Give me the key.", "request"),
        ("Tell me about the captain", "request"),
        ("I want to help you.", "speech"),
        ("Thank you, Mara.", "thanks"),
        ("Goodbye.", "farewell"),
        ("Do it or else!", "threat"),
        ("I draw my knife.", "threat"),
        ("Let's go.", "ready"),
        ("I'm ready", "ready"),
        ("Yes, of course.", "agreement"),
        ("No.", "refusal"),
    ],
)
def test_the_players_words_are_read_for_what_they_are(words: str, kind: str) -> None:
    assert read(words).kind == kind


def test_words_are_turned_to_the_one_who_hears_them() -> None:
    assert to_second_person("I take my hat from you", "Mara") == "you take your hat from Mara"
    assert to_listener("I trust you") == "you trust me"
    assert to_listener("I am looking for my brother") == "you are looking for your brother"
    assert stems("lighting the lamps") == stems("light a lamp")


def test_a_question_is_answered_from_lore() -> None:
    assert "drowned on the reef" in spoken("Who was Captain Vell?")
    assert "widow" in spoken("Why is there a lighthouse?")


def test_a_character_says_who_it_is_without_its_secret() -> None:
    answer = spoken("Who are you?")
    assert "Mara" in answer and "harbour master" in answer and "debt" not in answer


def test_a_character_says_where_one_is() -> None:
    assert "pier" in spoken("Where am I?").lower()


def test_who_speaks_of_themselves_says_me() -> None:
    answers = {spoken("What should I do?", seed=seed) for seed in range(5)}
    assert all("Convince me to hand over the key." in answer for answer in answers)


@pytest.mark.parametrize(
    ("words", "travels"), [("I cast a fireball at the inn.", False), ("I cast a net.", False), ("I cast off.", True)]
)
def test_who_casts_something_does_not_travel(words: str, travels: bool) -> None:
    understood = read_line(words, scene_text(PIER, {"pier": PIER}, [], []))
    assert any(act.kind == "go" for act in understood.intents) is travels


def test_a_deed_is_told_as_its_result() -> None:
    text = asked(NarratorContext(**moment("I tie the ropes"), purpose="describe_result"))
    assert text.startswith("You tie the ropes.")


def test_a_new_scene_is_told_whole_and_then_not_again() -> None:
    first = asked(NarratorContext(**moment("I look around"), purpose="describe_scene"))
    assert PIER.scene in first
    told = MemoryEntry(speaker_id="n", speaker_name="Narrator", kind="narration", text=first)
    again = asked(NarratorContext(**moment("I wait", shared_history=[told]), purpose="describe_scene"))
    assert PIER.scene not in again and again.strip()


def keeper(words: str, turns: int = 0, node: Node = PIER, **more: Any) -> list[dict[str, Any]]:
    hints = [ProgressionHint(to=way.to, condition=way.condition) for way in node.transitions]
    context = KeeperContext(
        **moment(words, current_node=node, **more),
        phase="after_player_input",
        progression_hints=hints,
        player_input=words,
        turns_in_scene=turns,
        world_fields={"has_key": SchemaField(value_type="bool", default=False)},
    )
    answer = asked(context)
    StateUpdate.model_validate_json(answer)
    ops: list[dict[str, Any]] = json.loads(answer)["ops"]
    return ops


OPENED = [{"type": "SetState", "key": "has_key", "value": True}]


@pytest.mark.parametrize("words", ["Give me the key, Mara.", "I take the key.", "I talk her into giving me the key."])
def test_words_that_fulfil_a_hint_open_the_way(words: str) -> None:
    assert keeper(words) == OPENED


@pytest.mark.parametrize(
    "words",
    ["Where is the key?", "I don't want the key.", "Hello.", "...", "Nice weather.", "No.", "Let's go.", "I'm ready."],
)
def test_other_words_open_nothing(words: str) -> None:
    assert keeper(words) == []


def test_no_patience_opens_a_way_that_nobody_meant() -> None:
    assert keeper("Nice weather.", turns=30) == []


def test_of_several_ways_the_one_that_was_spoken_of_opens() -> None:
    node = PIER.model_copy(
        update={
            "goal": "Keep the lamp lit, or let it go dark.",
            "transitions": [
                Transition(to="end_lit", condition=Comparison(key="lamp", op="eq", value="lit")),
                Transition(to="end_dark", condition=Comparison(key="lamp", op="eq", value="dark")),
            ],
        }
    )
    assert keeper("We let it go dark.", node=node) == [{"type": "SetState", "key": "lamp", "value": "dark"}]


def test_counts_grow_one_by_one() -> None:
    way = Transition(to="on", condition=Comparison(key="trust", op="gte", value=3, scope="character", character="mara"))
    node = PIER.model_copy(update={"goal": "Win Mara's trust.", "transitions": [way]})
    grown = {"type": "SetCharacterState", "character": "mara", "key": "trust", "value": 1}
    assert keeper("You can trust me.", node=node) == [grown]
    assert keeper("You can trust me.", node=node, turns=30) == [grown]
    assert keeper("You can trust me.", node=node, current_cast=[TAM]) == []


def test_suggested_replies_are_different_and_not_what_was_just_said() -> None:
    said = json.loads(asked(ReplyerContext(**moment("I look around."), reply_limit=5)))["replies"]
    texts = [reply["text"] for reply in said]
    assert len(set(texts)) == len(texts) == 5
    assert len({reply["id"] for reply in said}) == 5
    following = moment(texts[0])
    again = json.loads(asked(ReplyerContext(**following, reply_limit=5)))["replies"]
    assert texts[0] not in [reply["text"] for reply in again]


def test_one_call_writes_the_whole_turn() -> None:
    hints = [ProgressionHint(to=way.to, condition=way.condition) for way in PIER.transitions]
    words = "Give me the key, Mara."
    text = asked(SwiftContext(**moment(words), progression_hints=hints, player_input=words))
    assert '<dialogue who="mara">' in text
    update = re.search(r"<update>(.*)</update>", text)
    assert update is not None and json.loads(update[1]) == {"ops": OPENED}


def planned() -> tuple[str, list[str]]:
    plan = asked(PlannerContext(story_concept=CONCEPT, lore=LORE, available_characters=[MARA, TAM]))
    return plan, outline(plan)


def drafted() -> tuple[Graph, dict[str, SchemaField]]:
    """A story planned and built section by section, as the generation loop does it."""
    plan, parts = planned()
    shared: dict[str, Any] = {
        "story_concept": CONCEPT,
        "planned_story": plan,
        "lore": LORE,
        "available_characters": [MARA, TAM],
        "total_sections": len(parts),
    }
    first = json.loads(asked(ArchitectContext(**shared, mode="draft_init", current_section=parts[0])))
    fields = SchemaFields.model_validate(first["world_state_schema"]).fields
    assert schema_problems(fields) == []
    nodes = {node["id"]: node for node in first["nodes"]}
    for index, part in enumerate(parts[1:], 1):
        known = [Node.model_validate(node) for node in nodes.values()]
        more: dict[str, Any] = {
            "current_section": part,
            "section_index": index,
            "graph_nodes": known,
            "world_fields": fields,
        }
        step = ArchitectContext(**shared, **more, mode="draft_continue")
        section = json.loads(asked(step))
        assert set(section) == {"nodes", "transition_patches", "section_summary"}
        for patch in section["transition_patches"]:
            nodes[patch["node_id"]]["transitions"] += patch["add_transitions"]
        assert not nodes.keys() & {node["id"] for node in section["nodes"]}
        nodes |= {node["id"]: node for node in section["nodes"]}
    return Graph.model_validate({"start_node": first["start_node"], "nodes": list(nodes.values())}), fields


def built_at_once() -> tuple[Graph, dict[str, SchemaField]]:
    plan, _ = planned()
    context = ArchitectContext(
        mode="graph", story_concept=CONCEPT, planned_story=plan, lore=LORE, available_characters=[MARA, TAM]
    )
    answer = json.loads(asked(context))
    return Graph.model_validate(answer["graph"]), SchemaFields.model_validate(answer["world_state_schema"]).fields


def reachable(graph: Graph) -> set[str]:
    seen, todo = set(), [graph.start_node]
    while todo:
        node = graph.node(todo.pop())
        assert node is not None
        if node.id not in seen:
            seen.add(node.id)
            todo += [way.to for way in node.transitions]
    return seen


@pytest.mark.parametrize("story", [drafted, built_at_once], ids=["section by section", "at once"])
def test_a_built_story_is_whole(story: object) -> None:
    assert callable(story)
    graph, fields = story()
    assert graph_problems(graph) == []
    assert reachable(graph) == {node.id for node in graph.nodes}
    assert sum(not node.transitions for node in graph.nodes) == 2
    used = {test.key for node in graph.nodes for way in node.transitions for test in graphs.tests_of(way.condition)}
    assert used == set(fields)
    assert {name for node in graph.nodes for name in node.characters} <= {"mara", "tam"}


@pytest.mark.parametrize("choice", [0, 1])
def test_a_built_story_can_be_played_to_each_of_its_endings(choice: int) -> None:
    graph, fields = drafted()
    walk = Walk(graph=graph, cast={"mara": MARA, "tam": TAM}, lore=LORE, fields=fields)
    for _ in range(40):
        ways = walk.node.transitions
        walk.turn((ways[choice].means or [""])[0] if len(ways) > 1 else f"I {walk.node.goal.lower()}")
        if walk.ended:
            assert walk.node.id == ways[choice].to
            return
    raise AssertionError("the story never ended")


@pytest.mark.parametrize("words", ["Nice weather.", "Let's dance.", "I eat a plum.", "..."])
def test_a_built_story_goes_nowhere_by_words_that_mean_no_way(words: str) -> None:
    graph, fields = drafted()
    walk = Walk(graph=graph, cast={"mara": MARA, "tam": TAM}, lore=LORE, fields=fields)
    for _ in range(12):
        walk.turn(words)
    assert walk.node.id == graph.start_node


TURNS = [
    "Hello.", "Who are you?", "What happened here?", "I look around.", "Why does nobody speak of it?", "I sit down.",
    "I want to help you.", "...", "Tell me about the captain.", "Thank you.",
]  # fmt: skip


@pytest.mark.parametrize("seed", range(3))
def test_lines_do_not_come_again_from_turn_to_turn_and_never_speak_of_the_stage(seed: int) -> None:
    stay = PIER.model_copy(
        update={"transitions": [Transition(to="pier", condition=Comparison(key="x", op="gt", value=9))]}
    )
    walk = Walk(graph=Graph(start_node="pier", nodes=[stay]), cast={"mara": MARA}, lore=LORE, seed=seed)
    walk.state = walk.state.model_copy(update={"custom": {}})
    for words in TURNS:
        before = len(walk.lines)
        walk.turn(words)
        spoken_now = [line for line in walk.lines[before:] if not line.startswith(("\n>", "("))]
        earlier = "\n".join(walk.lines[max(0, before - 6) : before])
        assert all(line not in earlier for line in spoken_now), spoken_now
    everything = "\n".join(walk.lines)
    assert not re.search(r"\b(player|node|goal|scene|AI|model|sorry|apolog\w+|None)\b", everything)
    assert "{" not in everything and "  " not in everything


@given(st.text(max_size=200), st.text(max_size=200), st.text(max_size=80), st.integers(0, 5))
@examples(60)
def test_any_words_of_author_or_player_are_played(words: str, scene: str, goal: str, turns: int) -> None:
    node = PIER.model_copy(update={"scene": scene, "goal": goal})
    actor = MARA.model_copy(update={"personality": goal, "style": scene})
    seen = moment(words, current_node=node, current_cast=[actor, TAM])
    hints = [ProgressionHint(to=way.to, condition=way.condition) for way in node.transitions]
    for purpose in ("describe_scene", "describe_transition", "describe_result"):
        assert asked(NarratorContext(**seen, purpose=purpose)).strip()
    text = asked(ActorContext(**seen, actor=actor, purpose="react_to_player"))
    assert re.fullmatch(r"(<(thought|action|dialogue)>[^<>]+</\2>)+", text)
    asked(SwiftContext(**seen, progression_hints=hints, player_input=words, turns_in_scene=turns))
    assert len(json.loads(asked(ReplyerContext(**seen, reply_limit=3)))["replies"]) == 3
    plan = asked(PlannerContext(story_concept=words, available_characters=[actor]))
    assert len(outline(plan)) >= 3
    asked(ArchitectContext(mode="graph", story_concept=scene, planned_story=plan, available_characters=[actor]))


@given(st.text(max_size=120), st.integers(0, 99))
def test_the_same_moment_is_told_in_the_same_words(words: str, seed: int) -> None:
    context = ActorContext(**moment(words), actor=MARA, purpose="react_to_player")
    assert asked(context, seed) == asked(context, seed)
