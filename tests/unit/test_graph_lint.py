"""Lint tells an author what would spoil a play."""

from __future__ import annotations

from typing import Any as Anything

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.mass import examples

from fabula.story.graph import MOST_WAYS_READ, All, Any, Comparison, Condition, Graph, Node, Not, Transition, holds
from fabula.story.lint import Ground, lint, never_holds
from fabula.story.schemas import SchemaField
from fabula.story.state import SetState, WorldState

GROUND = Ground(
    world={
        "gate": SchemaField(value_type="string", default="shut", enum_values=["shut", "open"]),
        "hour": SchemaField(value_type="int", default=6),
        "level": SchemaField(value_type="int", default=1, enum_values=[1, 2, 3]),
        "bag": SchemaField(value_type="array"),
        "lit": SchemaField(value_type="bool", default=False),
    },
    characters={"mira": {}},
)


def node(name: str, *ways: Transition, **more: Anything) -> Node:
    return Node(**{"id": name, "title": name, "scene": "", "goal": "", "transitions": list(ways), **more})


def to(target: str, condition: Condition | None = None, priority: int = 0) -> Transition:
    return Transition(to=target, condition=condition, priority=priority)


def when(key: str, op: Anything, value: Anything) -> Comparison:
    return Comparison(key=key, op=op, value=value)


def found(*nodes: Node) -> list[tuple[str, str]]:
    findings = lint(Graph(start_node=nodes[0].id, nodes=list(nodes)), GROUND)
    return [(finding.kind, finding.node_id) for finding in findings]


def test_a_sound_graph_has_no_findings() -> None:
    assert found(node("a", to("b", when("gate", "eq", "open")), characters=["mira"]), node("b")) == []


def test_more_ways_than_a_players_words_are_read_for_are_found() -> None:
    ways = [to("b", when("bag", "contains", number)) for number in range(MOST_WAYS_READ + 1)]
    assert found(node("a", *ways[1:]), node("b")) == []
    assert found(node("a", *ways), node("b")) == [("many_ways", "a")]


def test_unreachable_nodes_and_circles_without_an_ending_are_found() -> None:
    assert found(node("a", to("b")), node("b", to("a")), node("c")) == [
        ("dead_end", "a"),
        ("dead_end", "b"),
        ("unreachable", "c"),
    ]


def test_a_node_whose_only_way_can_never_open_is_a_dead_end() -> None:
    assert found(node("a", to("b", when("gate", "eq", "ajar"))), node("b")) == [
        ("dead_end", "a"),
        ("never_holds", "a"),
        ("unreachable", "b"),
    ]


def test_unknown_characters_and_unwritten_variables_are_named() -> None:
    stranger = Comparison(scope="character", character="ghost", key="mood", op="eq", value=1)
    findings = lint(
        Graph(
            start_node="a",
            nodes=[
                node("a", to("b", stranger), to("b", when("rain", "eq", True)), characters=["tom"]),
                node("b", to("c", when("snow", "eq", True)), on_enter_updates=[SetState(key="snow", value=True)]),
                node("c"),
            ],
        ),
        GROUND,
    )
    assert [finding.sentence for finding in findings] == [
        "node 'a' names the character 'tom', who does not exist",
        "node 'a' names the character 'ghost', who does not exist",
        "node 'a' reads the variable 'mood', which is neither declared nor ever written",
        "node 'a' reads the variable 'rain', which is neither declared nor ever written",
    ]


def test_a_way_behind_one_that_is_always_open_is_never_taken() -> None:
    assert found(node("a", to("b"), to("c", when("lit", "eq", True))), node("b"), node("c")) == [
        ("never_taken", "a"),
        ("unreachable", "c"),
    ]
    assert found(node("a", to("b"), to("c", when("lit", "eq", True), priority=1)), node("b"), node("c")) == []


@pytest.mark.parametrize(
    "condition",
    [
        when("gate", "eq", "ajar"),
        when("gate", "eq", 1),
        when("lit", "eq", "true"),
        when("lit", "gt", 0),
        when("gate", "gt", 1),
        when("hour", "gt", "six"),
        when("hour", "eq", 1.5),
        when("level", "gt", 3),
        when("level", "lte", 0),
        when("hour", "contains", 1),
        when("gate", "contains", "window"),
        All(all=[when("gate", "eq", "open"), when("gate", "eq", "shut")]),
        All(all=[when("lit", "eq", True), when("level", "gt", 9)]),
        Any(any=[when("level", "gt", 9), when("gate", "eq", "ajar")]),
        Any(any=[]),
        Not.model_validate({"not": {"all": []}}),
    ],
)
def test_impossible_conditions_are_seen(condition: Condition) -> None:
    assert never_holds(condition, GROUND)


values = st.sampled_from([1, 2, 3, 1.0, 1.5, True, False, "open", "shut", "op", None, ["x"]])
comparisons = st.builds(
    Comparison,
    key=st.sampled_from(["gate", "hour", "level", "bag", "lit", "free"]),
    op=st.sampled_from(["eq", "ne", "gt", "gte", "lt", "lte", "contains"]),
    value=values,
)
conditions = st.recursive(
    comparisons,
    lambda inner: (
        st.builds(lambda parts: All(all=parts), st.lists(inner, max_size=3))
        | st.builds(lambda parts: Any(any=parts), st.lists(inner, max_size=3))
    ),
    max_leaves=5,
)
states = st.fixed_dictionaries(
    {},
    optional={
        "gate": st.sampled_from(["shut", "open"]),
        "hour": st.integers(0, 4),
        "level": st.sampled_from([1, 2, 3]),
        "bag": st.lists(values, max_size=2) | st.none(),
        "lit": st.booleans(),
        "free": values,
    },
)


@examples(400)
@given(conditions, states)
def test_what_is_called_impossible_never_holds(condition: Condition, variables: dict[str, Anything]) -> None:
    if never_holds(condition, GROUND):
        assert not holds(condition, WorldState(current_node="a", custom=variables))


def test_a_scene_with_more_characters_than_it_holds_is_found() -> None:
    crowd = [f"c{n}" for n in range(51)]
    ground = Ground(characters={id: {} for id in crowd})
    graph = Graph(start_node="a", nodes=[node("a", characters=crowd)])
    assert [one.kind for one in lint(graph, ground)] == ["crowded"]
