"""Building: a section is joined to the graph that exists; what cannot be joined is told in sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from fabula.story.graph import Graph, Node, Transition
from fabula.story.values import Id, Value


class WaysOn(Value):
    """Ways on that are added to a node."""

    node_id: Id
    ways: list[Transition]


class Section(Value):
    """A part of a story: new nodes, and how they are joined to those that exist."""

    nodes: list[Node]
    joints: list[WaysOn] = []
    summary: str


def section_problems(nodes: list[Node], section: Section) -> list[str]:
    """Why a section cannot be joined to the nodes that exist; empty when it can."""
    existing = {node.id for node in nodes}
    counted = Counter(node.id for node in section.nodes)
    problems = [f"the node id '{id}' exists already" for id in counted if id in existing]
    problems += [f"the node id '{id}' is used twice" for id, count in counted.items() if count > 1]
    known = existing | counted.keys()
    for source, ways in _ways(section):
        if source not in known:
            problems.append(f"ways on are added to the node '{source}', which does not exist")
        problems += [f"'{source}' leads to '{way.to}', which does not exist" for way in ways if way.to not in known]
    return problems


def _ways(section: Section) -> Iterator[tuple[str, list[Transition]]]:
    yield from ((node.id, node.transitions) for node in section.nodes)
    yield from ((joint.node_id, joint.ways) for joint in section.joints)


def joined(nodes: list[Node], section: Section) -> list[Node]:
    """The nodes with the section at their end; a way that a node has already is not added again."""
    added: dict[str, list[Transition]] = {}
    for joint in section.joints:
        added.setdefault(joint.node_id, []).extend(joint.ways)
    return [_with_ways(node, added.get(node.id, [])) for node in [*nodes, *section.nodes]]


def _with_ways(node: Node, added: list[Transition]) -> Node:
    # By their words: comparing the values with each other grows with the square of how many there are.
    known = {way.model_dump_json() for way in node.transitions} if added else set()
    new = {words: way for way in added if (words := way.model_dump_json()) not in known}
    return node.model_copy(update={"transitions": [*node.transitions, *new.values()]}) if new else node


def grown(graph: Graph, section: Section) -> Graph:
    """The graph with the section joined to it; it begins where it began."""
    return graph.model_copy(update={"nodes": joined(graph.nodes, section)})


def recent_nodes(graph: Graph, recent_ids: list[str], *, at_least: int) -> list[Node]:
    """The nodes of the last section as they are now; when an author replaced them all, the last few nodes."""
    wanted = set(recent_ids)
    return [node for node in graph.nodes if node.id in wanted] or graph.nodes[-at_least:]
