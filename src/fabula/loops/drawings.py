"""The loops by name: what each is for, its graph, and its picture. LangGraph is loaded when a graph is asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

Edge = tuple[str, str]

START: Final = "__start__"
END: Final = "__end__"


@dataclass(frozen=True, kw_only=True)
class Loop:
    """A loop. `graph` builds it for a saver, or for none; `before` are steps that are taken before its first node, and
    again when it is resumed; `after` is what follows it as work of its own."""

    sentence: str
    graph: Callable[[Any], Any]
    before: tuple[str, ...] = ()
    after: tuple[Edge, ...] = ()


def _scene(saver: Any) -> Any:
    from fabula.loops.scene.graph import scene_graph

    return scene_graph(saver)


def _conversation(saver: Any) -> Any:
    from fabula.loops.conversations.graph import compiled_conversation

    return compiled_conversation(saver)


def _story(saver: Any) -> Any:
    from fabula.loops.story.graph import compiled_story

    return compiled_story(saver)


def _knots(saver: Any, *, talks: bool) -> Any:
    from fabula.loops.ink.graph import compiled_knots

    return compiled_knots(saver, talks=talks)


def _building(saver: Any) -> Any:
    from fabula.loops.building.graph import compiled_building

    return compiled_building(saver)


def _generation(saver: Any) -> Any:
    from fabula.loops.generation.graph import compiled_generation

    return compiled_generation(saver)


LOOPS: Final[Mapping[str, Loop]] = {
    "scene": Loop(
        sentence="A turn of a play in scenes. What is told becomes canon after the turn that ends the scene.",
        graph=_scene,
        before=("load_context",),
        after=(("persist_turn_artifacts", "canonize"),),
    ),
    "conversation": Loop(
        sentence="A turn of a conversation with some of the cast. It waits for the player at `player_turn`.",
        graph=_conversation,
    ),
    "story": Loop(sentence="A free play from scene to scene; it sleeps while one is played.", graph=_story),
    "ink_talk": Loop(
        sentence="A turn of an Ink story in which the player talks with a character.", graph=partial(_knots, talks=True)
    ),
    "ink": Loop(sentence="Any other turn of an Ink story.", graph=partial(_knots, talks=False)),
    "world_building": Loop(sentence="A turn in which an author says something about a world.", graph=_building),
    "generation": Loop(sentence="A section of a story that is built from a concept.", graph=_generation),
}


def nodes_of(loop: Loop) -> list[str]:
    """The nodes at which a loop can be resumed, as its graph has them."""
    return [name for name in loop.graph(None).nodes if name != START]


def drawing(name: str) -> str:
    """A loop as a Mermaid flowchart. What is dashed is work of its own, after the loop."""
    loop = LOOPS[name]
    names, edges, later = _steps(loop)
    numbers = {step: f"n{number}" for number, step in enumerate(names)}
    lines = ["flowchart TD", *(f"    {numbers[step]}{_shape(step)}" for step in names)]
    lines += [f"    {numbers[one]} --> {numbers[other]}" for one, other in edges]
    lines += [f"    {numbers[one]} -.-> {numbers[other]}" for one, other in later]
    return "\n".join(lines) + "\n"


def _shape(step: str) -> str:
    return {START: "((start))", END: "((end))"}.get(step, f"[{step}]")


def _steps(loop: Loop) -> tuple[list[str], list[Edge], tuple[Edge, ...]]:
    """All steps in the order in which they are first reached, the ways between them, and what follows later."""
    inner = _edges(loop.graph(None))
    edges: list[Edge] = []
    here = START
    for step in loop.before:
        edges.append((here, step))
        here = step
    edges += [(here if one == START else one, other) for one, other in inner]
    later = loop.after
    names = list(dict.fromkeys([START, *(step for edge in (*edges, *later) for step in edge if step != END), END]))
    return names, edges, later


def _edges(graph: Any) -> list[Edge]:
    if hasattr(graph, "builder"):
        drawn = graph.get_graph().edges
        # LangGraph lists branches in the order of a set.
        return _walked(sorted((edge.source, edge.target) for edge in drawn))
    return _of_channels(graph)


def _walked(edges: list[Edge]) -> list[Edge]:
    """The same edges, those of the steps that are reached first before the others."""
    found: list[Edge] = []
    waiting, seen = [START], {START}
    while waiting:
        here = waiting.pop(0)
        for edge in (one for one in edges if one[0] == here):
            found.append(edge)
            if edge[1] not in seen:
                seen.add(edge[1])
                waiting.append(edge[1])
    return found


def _of_channels(graph: Any) -> list[Edge]:
    """The ways of a graph that was built of nodes and channels, which LangGraph cannot draw."""
    readers = {channel: name for name, node in graph.nodes.items() for channel in node.triggers}
    edges = [(START, readers[channel]) for channel in graph.input_channels if channel in readers]
    for name, node in graph.nodes.items():
        written = [entry.channel for writer in node.writers for entry in writer.writes if entry.channel in readers]
        edges += [(name, readers[channel]) for channel in written] or [(name, END)]
    return edges
