"""The architect's reply: a graph, or a section of one, checked before anything is built from it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from typing import Final, TypeVar

from pydantic import Field, TypeAdapter

from fabula.agents.replies.json_answers import fitted, json_in
from fabula.story.graph import Comparison, Graph, MeantBy, Node, Transition, graph_problems
from fabula.story.schemas import SchemaFields, schema_problems
from fabula.story.state import StateOp
from fabula.story.values import Id, Sparse, Value

MOST_NODES: Final = 64
"""Of one section; a few are asked for, and the whole graph is looked at again with every section."""


class ProposedTransition(Sparse):
    """A way on with one condition at most: not every editor can show the composite ones.

    `means` are phrases by which players mean it.
    """

    optional = frozenset({"means"})
    to: Id
    condition: Comparison | None = None
    means: list[MeantBy] | None = Field(default=None, max_length=64)


class ProposedNode(Value):
    id: Id
    title: str = Field(min_length=1)
    scene: str = Field(min_length=1)
    goal: str
    characters: list[Id] = []
    transitions: list[ProposedTransition] = []
    on_enter_updates: list[StateOp] = []

    def as_node(self) -> Node:
        return Node.model_validate(self.as_json())


class TransitionPatch(Value):
    """Ways on that are added to a node that exists."""

    node_id: Id
    add_transitions: list[ProposedTransition]

    def ways(self) -> list[Transition]:
        return [Transition(to=way.to, condition=way.condition, means=way.means) for way in self.add_transitions]


class SectionProposal(Value):
    """What continues a draft: new nodes, and how they are joined to the old ones."""

    nodes: list[ProposedNode] = Field(min_length=1)
    transition_patches: list[TransitionPatch] = []
    section_summary: str = Field(min_length=1)


class OpeningProposal(SectionProposal):
    """What begins a draft: the first section, and what the whole story stands on."""

    start_node: Id
    world_state_schema: SchemaFields
    player_state_schema: SchemaFields
    introduction: str = Field(min_length=1)


class ProposedGraph(Value):
    start_node: Id
    nodes: list[ProposedNode] = Field(min_length=1)

    def as_graph(self) -> Graph:
        return Graph(start_node=self.start_node, nodes=[node.as_node() for node in self.nodes])


class GraphProposal(Value):
    """A whole story in one reply."""

    graph: ProposedGraph
    world_state_schema: SchemaFields
    player_state_schema: SchemaFields
    introduction: str = Field(min_length=1)


Proposal = TypeVar("Proposal", OpeningProposal, SectionProposal, GraphProposal)


def read_graph(text: str, *, characters: Collection[str]) -> tuple[GraphProposal | None, list[str]]:
    """A whole graph (mode `graph`), and what is wrong with it."""
    proposal, problems = _read(text, TypeAdapter(GraphProposal))
    if proposal is None:
        return None, problems
    problems = graph_problems(proposal.graph.as_graph()) + _strangers(proposal.graph.nodes, characters)
    return _checked(proposal, problems + _schema_problems(proposal))


def read_opening(text: str, *, characters: Collection[str]) -> tuple[OpeningProposal | None, list[str]]:
    """The first section (mode `draft_init`), and what is wrong with it."""
    proposal, problems = _read(text, TypeAdapter(OpeningProposal))
    if proposal is None:
        return None, problems
    problems = _section_problems(proposal, existing=(), characters=characters)
    if proposal.start_node not in {node.id for node in proposal.nodes}:
        problems.append(f"the start node '{proposal.start_node}' is not among the nodes")
    return _checked(proposal, problems + _schema_problems(proposal))


def read_section(
    text: str, *, existing: Collection[str], characters: Collection[str]
) -> tuple[SectionProposal | None, list[str]]:
    """The next section (mode `draft_continue`), and what is wrong with it; `existing` are the ids of the graph."""
    proposal, problems = _read(text, TypeAdapter(SectionProposal))
    if proposal is None:
        return None, problems
    return _checked(proposal, _section_problems(proposal, existing=existing, characters=characters))


def _read(text: str, shape: TypeAdapter[Proposal]) -> tuple[Proposal | None, list[str]]:
    value, problems = json_in(text)
    if problems:
        return None, problems
    proposal, problems = fitted(value, shape)
    return proposal, problems


def _checked(proposal: Proposal, problems: list[str]) -> tuple[Proposal | None, list[str]]:
    return (None, problems) if problems else (proposal, [])


def _section_problems(
    proposal: SectionProposal, *, existing: Collection[str], characters: Collection[str]
) -> list[str]:
    if len(proposal.nodes) > MOST_NODES:
        return [f"a section may have {MOST_NODES} nodes"]
    ids = [node.id for node in proposal.nodes]
    known = {*existing, *ids}
    problems = [f"the node id '{one}' exists already" for one in ids if one in existing]
    problems += [f"the node id '{one}' is used twice" for one, times in sorted(Counter(ids).items()) if times > 1]
    for source, ways in _ways(proposal):
        if source not in known:
            problems.append(f"a transition patch names the node '{source}', which does not exist")
        problems += [f"'{source}' leads to '{way.to}', which does not exist" for way in ways if way.to not in known]
        problems += _nameless(source, ways)
    return problems + _strangers(proposal.nodes, characters)


def _ways(proposal: SectionProposal) -> Iterable[tuple[str, list[ProposedTransition]]]:
    yield from ((node.id, node.transitions) for node in proposal.nodes)
    yield from ((patch.node_id, patch.add_transitions) for patch in proposal.transition_patches)


def _nameless(source: str, ways: list[ProposedTransition]) -> list[str]:
    return [
        f"a condition of '{source}' has scope character but names none"
        for way in ways
        if way.condition is not None and way.condition.scope == "character" and way.condition.character is None
    ]


def _strangers(nodes: list[ProposedNode], characters: Collection[str]) -> list[str]:
    return [
        f"node '{node.id}' names the character '{character}', who is not in the cast"
        for node in nodes
        for character in node.characters
        if character not in characters
    ]


def _schema_problems(proposal: OpeningProposal | GraphProposal) -> list[str]:
    return schema_problems(proposal.world_state_schema.fields) + schema_problems(proposal.player_state_schema.fields)
