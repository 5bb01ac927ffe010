"""Sections are joined to a graph whole, or refused by name."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from tests.growth import calls_of

from fabula.agents.replies.planner import outline_sections
from fabula.story.graph import Comparison, Graph, Node, Transition, graph_problems
from fabula.story.sections import Section, WaysOn, grown, joined, recent_nodes, section_problems


def node(id: str, *to: str) -> Node:
    return Node(id=id, title=id, scene=f"Scene {id}.", goal="Go on.", transitions=[Transition(to=one) for one in to])


def section(*nodes: Node, joints: dict[str, list[str]] | None = None) -> Section:
    ways = [WaysOn(node_id=id, ways=[Transition(to=to) for to in tos]) for id, tos in (joints or {}).items()]
    return Section(nodes=list(nodes), joints=ways, summary="It goes on.")


def test_a_section_is_added_at_the_end_and_joined_to_what_exists() -> None:
    graph = Graph(start_node="a", nodes=[node("a")])
    after = grown(graph, section(node("b"), joints={"a": ["b"]}))
    assert [(one.id, [way.to for way in one.transitions]) for one in after.nodes] == [("a", ["b"]), ("b", [])]
    assert graph.nodes[0].transitions == []


def test_a_way_that_is_there_already_is_not_added_again() -> None:
    after = joined([node("a", "b"), node("b")], section(node("c"), joints={"a": ["b", "c", "c"]}))
    assert [way.to for way in after[0].transitions] == ["b", "c"]


def test_very_many_ways_are_not_compared_with_each_other() -> None:
    ways = [Transition(to="b", condition=Comparison(key=f"k{n // 2}", op="eq", value=n // 2)) for n in range(400)]
    many = Section(nodes=[], joints=[WaysOn(node_id="a", ways=ways)], summary="")
    assert len(joined([node("a", "b"), node("b")], many)[0].transitions) == 201
    assert calls_of(lambda: joined([node("a", "b"), node("b")], many))["__eq__"] < 1_000


def test_the_same_target_under_another_condition_is_another_way() -> None:
    condition = Comparison(key="gate_open", op="eq", value=True)
    joint = WaysOn(node_id="a", ways=[Transition(to="b", condition=condition)])
    after = joined([node("a", "b"), node("b")], Section(nodes=[], joints=[joint], summary=""))
    assert len(after[0].transitions) == 2


def test_what_cannot_be_joined_is_named() -> None:
    problems = section_problems([node("a")], section(node("a"), node("b", "x"), node("b"), joints={"y": ["z"]}))
    assert problems == [
        "the node id 'a' exists already",
        "the node id 'b' is used twice",
        "'b' leads to 'x', which does not exist",
        "ways on are added to the node 'y', which does not exist",
        "'y' leads to 'z', which does not exist",
    ]


def test_the_next_section_sees_the_last_one_as_the_author_left_it() -> None:
    graph = Graph(start_node="a", nodes=[node("a"), node("b"), node("c")])
    assert [one.id for one in recent_nodes(graph, ["b", "gone"], at_least=2)] == ["b"]
    assert [one.id for one in recent_nodes(graph, ["gone"], at_least=2)] == ["b", "c"]


ids = st.sampled_from([f"n{number}" for number in range(8)])
nodes = st.lists(st.builds(lambda id, to: node(id, *to), ids, st.lists(ids, max_size=3)), max_size=5)
sections = st.builds(
    lambda made, joints: section(*made, joints=joints),
    nodes,
    st.dictionaries(ids, st.lists(ids, max_size=3), max_size=3),
)


@given(nodes, sections)
def test_joining_a_section_without_problems_keeps_a_playable_graph_playable(old: list[Node], new: Section) -> None:
    graph = Graph(start_node=old[0].id if old else "n0", nodes=old)
    if graph_problems(graph) or section_problems(old, new):
        return
    after = grown(graph, new)
    assert graph_problems(after) == []
    assert [one.id for one in after.nodes] == [one.id for one in [*old, *new.nodes]]
    for before, now in zip(old, after.nodes, strict=False):
        assert now.transitions[: len(before.transitions)] == before.transitions


@given(nodes, sections)
def test_a_section_that_would_break_the_graph_is_always_refused(old: list[Node], new: Section) -> None:
    graph = Graph(start_node=old[0].id if old else "n0", nodes=old)
    if not old or graph_problems(graph) or not graph_problems(grown(graph, new)):
        return
    assert section_problems(old, new)


lines = st.text(st.characters(codec="utf-8", exclude_characters="\r"), max_size=40)


@given(st.lists(lines, max_size=12).map("\n".join))
def test_every_plan_with_words_falls_into_sections_with_words(plan: str) -> None:
    sections = outline_sections(plan)
    assert all(one.strip() for one in sections)
    assert bool(sections) == bool(plan.strip())


@given(
    st.from_regex(r"[A-Z][a-z ]{5,30}\.", fullmatch=True),
    st.lists(st.from_regex(r"[A-Z][a-z ]{5,30}\.", fullmatch=True), min_size=1, max_size=8),
)
def test_the_opening_and_each_beat_make_a_section(opening: str, beats: list[str]) -> None:
    plan = f"Title:\nA tale\n\nOpening Situation:\n{opening}\n\nSuggested Beats:\n" + "\n".join(f"- {b}" for b in beats)
    assert outline_sections(plan) == [opening, *beats]
