"""Lint: what an author would want to know about a graph before anyone plays it.

A graph may be played with findings; `graph.graph_problems` tells what makes it unplayable.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, assert_never

from fabula.language.vocabulary import normal
from fabula.story.changes import MOST_PRESENT
from fabula.story.graph import MOST_WAYS_READ, All, Any, Comparison, Condition, Graph, Node, Not, Transition, tests_of
from fabula.story.schemas import SchemaField, fits
from fabula.story.state import (
    AddActiveCharacter,
    RemoveActiveCharacter,
    RemoveCharacterState,
    SetActiveCharacters,
    SetCharacterState,
    SetPlayerState,
    SetState,
    StateOp,
)
from fabula.story.values import same_json

FindingKind = Literal[
    "unreachable",
    "dead_end",
    "unknown_character",
    "crowded",
    "never_written",
    "never_holds",
    "never_taken",
    "means_twice",
    "many_ways",
]
Fields = Mapping[str, SchemaField]


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One thing to look at, in a sentence."""

    kind: FindingKind
    node_id: str
    sentence: str


@dataclass(frozen=True, kw_only=True)
class Ground:
    """What a graph stands on: the variables that are declared, and who exists."""

    world: Fields = field(default_factory=dict)
    player: Fields = field(default_factory=dict)
    characters: Mapping[str, Fields] = field(default_factory=dict)

    def fields_for(self, test: Comparison) -> Fields:
        match test.scope:
            case "global":
                return self.world
            case "player":
                return self.player
            case "character":
                return self.characters.get(test.character or "", {})


def lint(graph: Graph, ground: Ground) -> list[Finding]:
    """Everything found, in the order of the nodes."""
    ways = {node.id: _usable_ways(node, ground) for node in graph.nodes}
    onward = {node_id: [way.to for way in found] for node_id, found in ways.items()}
    reached = _reach([graph.start_node], onward)
    finishing = _reach([node.id for node in graph.nodes if not node.transitions], _reversed(onward))
    written = {place for node in graph.nodes for op in node.on_enter_updates for place in _written(op)}
    findings: list[Finding] = []
    for node in graph.nodes:
        if node.id not in reached:
            findings.append(_finding("unreachable", node, "cannot be reached from the start"))
        elif node.id not in finishing:
            findings.append(_finding("dead_end", node, "leads to no ending"))
        findings += _unknown_characters(node, ground)
        if len(set(node.characters)) > MOST_PRESENT:
            what = f"names more than {MOST_PRESENT} characters: the others find no room in its scene"
            findings.append(_finding("crowded", node, what))
        findings += _condition_findings(node, ground, written)
        findings += _meant_twice(node)
        if len(node.transitions) > MOST_WAYS_READ:
            what = (
                f"has {len(node.transitions)} ways on: a player's words are read for the first {MOST_WAYS_READ} alone"
            )
            findings.append(_finding("many_ways", node, what))
    return findings


def _finding(kind: FindingKind, node: Node, what: str) -> Finding:
    return Finding(kind=kind, node_id=node.id, sentence=f"node '{node.id}' {what}")


def _usable_ways(node: Node, ground: Ground) -> list[Transition]:
    """The ways on that may open: not those that never hold, nor those behind one that is always open."""
    usable = []
    for way in sorted(node.transitions, key=lambda way: -way.priority):
        if never_holds(way.condition, ground):
            continue
        usable.append(way)
        if way.condition is None:
            break
    return usable


def _reach(starts: Iterable[str], onward: Mapping[str, Iterable[str]]) -> set[str]:
    seen: set[str] = set()
    waiting = list(starts)
    while waiting:
        here = waiting.pop()
        if here not in seen:
            seen.add(here)
            waiting.extend(onward.get(here, ()))
    return seen


def _reversed(onward: Mapping[str, Iterable[str]]) -> dict[str, list[str]]:
    back: dict[str, list[str]] = {}
    for source, targets in onward.items():
        for target in targets:
            back.setdefault(target, []).append(source)
    return back


def _unknown_characters(node: Node, ground: Ground) -> Iterator[Finding]:
    tests = [test for way in node.transitions for test in tests_of(way.condition)]
    named = [*node.characters, *(test.character for test in tests if test.character)]
    named += [character for op in node.on_enter_updates for character in _characters_of(op)]
    for character in dict.fromkeys(named):
        if character not in ground.characters:
            yield _finding("unknown_character", node, f"names the character '{character}', who does not exist")


def _meant_twice(node: Node) -> Iterator[Finding]:
    """Two ways that the same phrase means: a player who says it can only be asked which."""
    ways_by_phrase: dict[str, list[str]] = {}
    for way in node.transitions:
        for phrase in {normal(text).strip() for text in way.means or ()}:
            ways_by_phrase.setdefault(phrase, []).append(way.to)
    for phrase, ways in sorted(ways_by_phrase.items()):
        if len(ways) > 1:
            yield _finding("means_twice", node, f"has more than one way that “{phrase}” means")


def _characters_of(op: StateOp) -> list[str]:
    match op:
        case SetActiveCharacters():
            return list(op.characters)
        case AddActiveCharacter() | RemoveActiveCharacter() | SetCharacterState() | RemoveCharacterState():
            return [op.character]
        case _:
            return []


def _written(op: StateOp) -> list[tuple[str, str, str]]:
    match op:
        case SetState():
            return [("global", "", op.key)]
        case SetPlayerState():
            return [("player", "", op.key)]
        case SetCharacterState():
            return [("character", op.character, op.key)]
        case _:
            return []


def _condition_findings(node: Node, ground: Ground, written: set[tuple[str, str, str]]) -> Iterator[Finding]:
    usable = {id(way) for way in _usable_ways(node, ground)}
    for way in node.transitions:
        for test in tests_of(way.condition):
            place = (test.scope, test.character or "", test.key)
            if place not in written and test.key not in ground.fields_for(test):
                what = f"reads the variable '{test.key}', which is neither declared nor ever written"
                yield _finding("never_written", node, what)
        if never_holds(way.condition, ground):
            yield _finding("never_holds", node, f"has a condition that can never hold on its way to '{way.to}'")
        elif id(way) not in usable:
            yield _finding("never_taken", node, f"never leads to '{way.to}': a way before it is always open")


def never_holds(condition: Condition | None, ground: Ground) -> bool:
    """Whether a condition is impossible by what the schemas allow; False when that cannot be told."""
    match condition:
        case None:
            return False
        case Comparison():
            return _impossible(condition, ground.fields_for(condition).get(condition.key))
        case All():
            return any(never_holds(part, ground) for part in condition.all) or _contradict(condition.all)
        case Any():
            return all(never_holds(part, ground) for part in condition.any)
        case Not():
            return isinstance(condition.not_, All) and not condition.not_.all
        case _:
            assert_never(condition)


def _contradict(parts: list[Condition]) -> bool:
    """Whether one variable would have to equal two different values."""
    wanted = [part for part in parts if isinstance(part, Comparison) and part.op == "eq"]
    return any(
        (one.scope, one.character, one.key) == (other.scope, other.character, other.key)
        and not same_json(one.value, other.value)
        for place, one in enumerate(wanted)
        for other in wanted[place + 1 :]
    )


def _impossible(test: Comparison, declared: SchemaField | None) -> bool:
    if test.op in ("gt", "gte", "lt", "lte") and not fits(test.value, "float"):
        return True
    if declared is None:
        return False
    match test.op:
        case "eq":
            return not _may_equal(test, declared)
        case "ne":
            values = declared.enum_values
            return values is not None and all(same_json(value, test.value) for value in values)
        case "contains":
            return _never_contains(test, declared)
        case "gt" | "gte" | "lt" | "lte":
            return _never_ordered(test, declared)


def _may_equal(test: Comparison, declared: SchemaField) -> bool:
    if test.value is None:
        return declared.default is None
    if declared.enum_values is not None:
        return any(same_json(value, test.value) for value in declared.enum_values)
    if declared.value_type == "int" and isinstance(test.value, float):
        return test.value.is_integer()
    return fits(test.value, declared.value_type)


def _never_contains(test: Comparison, declared: SchemaField) -> bool:
    if declared.value_type == "array":
        return False
    if declared.value_type not in ("string", "object") or not isinstance(test.value, str):
        return True
    values = declared.enum_values
    return values is not None and not any(isinstance(value, str) and test.value in value for value in values)


_ORDERS: Mapping[str, Callable[[float, float], bool]] = {
    "gt": lambda left, right: left > right,
    "gte": lambda left, right: left >= right,
    "lt": lambda left, right: left < right,
    "lte": lambda left, right: left <= right,
}


def _never_ordered(test: Comparison, declared: SchemaField) -> bool:
    if declared.value_type not in ("int", "float"):
        return True
    if declared.enum_values is None or not isinstance(test.value, (int, float)):
        return False
    numbers = [value for value in declared.enum_values if isinstance(value, (int, float))]
    return not any(_ORDERS[test.op](value, test.value) for value in numbers)
