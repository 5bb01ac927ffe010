"""The story graph: nodes are scenes, transitions lead on when their condition holds."""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Final

from pydantic import Field, StringConstraints, field_validator

from fabula.story.calendars import TimeName
from fabula.story.conditions import (
    WEIGHT_OF_LOOKING,
    All,
    Any,
    Comparison,
    Condition,
    Not,
    holds,
    tests_of,
    weight_of,
)
from fabula.story.knowledge import SceneNote, piece_problems
from fabula.story.state import StateOp, WorldState
from fabula.story.values import Id, Sparse, Value

__all__ = [
    "All",
    "Any",
    "Comparison",
    "Condition",
    "Graph",
    "MeantBy",
    "Node",
    "Not",
    "Transition",
    "graph_problems",
    "holds",
    "open_transition",
    "tests_of",
]


MeantBy = Annotated[str, StringConstraints(min_length=1, max_length=120, strip_whitespace=True)]
"""A short phrase by which players mean a way: `you have my word`, `tell nobody`."""


class Transition(Sparse):
    """A way on to another node; without a condition it is always open. Higher priority is tried first.

    `means` are phrases by which players mean it, beside what its condition and the goal of its scene say.
    """

    optional = frozenset({"means"})
    to: Id
    condition: Condition | None = None
    priority: int = 0
    means: list[MeantBy] | None = Field(default=None, max_length=64)

    @field_validator("means", mode="after")
    @classmethod
    def _none_is_nothing(cls, means: list[str] | None) -> list[str] | None:
        """No phrases are the same as no word about them, and neither is written."""
        return means or None


MOST_WAYS: Final = 1_000
"""So many ways a new graph may have out of one scene."""
MOST_TESTS: Final = 2_000
"""So many comparisons the ways out of one scene of a new graph have together: every turn may look at all."""
MOST_WAYS_READ: Final = 100
"""So many of them, the first ones, are held against a player's words by rule."""


class Node(Sparse):
    """A scene: what is there, who is there, what it is for, and where it leads.

    `notes` tell of it what its description does not, each with who may know it. `difficulty` is one that the game
    system of the story names.

    The others matter where the story has a calendar: a turn here takes so many `minutes`, the `journey` here takes
    so many, it begins in a `phase` of the day, and nobody comes or goes by schedule where it `keeps_cast`.
    """

    optional = frozenset({"notes", "minutes", "journey", "phase", "keeps_cast", "difficulty"})
    id: Id
    title: str
    scene: str
    goal: str
    characters: list[Id] = []
    transitions: list[Transition] = []
    on_enter_updates: list[StateOp] = []
    notes: list[SceneNote] = Field(default=[], max_length=100)
    minutes: int | None = Field(default=None, ge=0, le=1440)
    journey: int | None = Field(default=None, ge=0, le=10_080)
    phase: TimeName | None = None
    keeps_cast: bool = False
    difficulty: str | None = Field(default=None, max_length=60)


class Graph(Value):
    """A whole story as nodes; it begins at `start_node`."""

    start_node: Id
    nodes: list[Node]

    def node(self, node_id: str) -> Node | None:
        return next((node for node in self.nodes if node.id == node_id), None)


def open_transition(node: Node, state: WorldState) -> Transition | None:
    """The first way on whose condition holds: by priority, then in the author's order."""
    ways = sorted(node.transitions, key=lambda way: -way.priority)
    return next((way for way in ways if holds(way.condition, state)), None)


def width_problems(graph: Graph) -> list[str]:
    """Which scenes of a new graph have too many ways on, or ways that ask too much, in sentences. What was stored with
    more of them is played."""
    problems = [
        f"node '{node.id}' has {len(node.transitions)} ways on, {MOST_WAYS} are the most"
        for node in graph.nodes
        if len(node.transitions) > MOST_WAYS
    ]
    asked = {node.id: _weight_of_ways(node) for node in graph.nodes}
    return problems + [
        f"the ways out of node '{id}' have {weight} comparisons, and {MOST_TESTS} are the most; `contains` counts as "
        f"{WEIGHT_OF_LOOKING}"
        for id, weight in asked.items()
        if weight > MOST_TESTS
    ]


def _weight_of_ways(node: Node) -> int:
    return sum(weight_of(test) for way in node.transitions for test in tests_of(way.condition))


def graph_problems(graph: Graph) -> list[str]:
    """What makes a graph unplayable, in sentences; empty when all is well."""
    if not graph.nodes:
        return ["the graph has no nodes"]
    known = Counter(node.id for node in graph.nodes)
    problems = [f"the node id '{id}' is used twice" for id, times in sorted(known.items()) if times > 1]
    if graph.start_node not in known:
        problems.append(f"the start node '{graph.start_node}' does not exist")
    for node in graph.nodes:
        for way in node.transitions:
            if way.to not in known:
                problems.append(f"node '{node.id}' leads to '{way.to}', which does not exist")
            problems += [
                f"a condition of node '{node.id}' has scope character but names none"
                for test in tests_of(way.condition)
                if test.scope == "character" and test.character is None
            ]
        problems += piece_problems(node.notes, f"a note of node '{node.id}'")
    return problems
