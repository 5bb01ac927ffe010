"""Every name of a story and where it means what: flows, labels, variables, constants, lists, externals."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import TypeVar

from fabula.ink.compiler.objects import Container
from fabula.ink.syntax.sources import ProblemLog
from fabula.ink.syntax.tree import (
    Assignment,
    Choice,
    ConstantDeclaration,
    DivertTarget,
    Expression,
    ExternalDeclaration,
    Flow,
    FlowLevel,
    Gather,
    ListDeclaration,
    ListItem,
    Number,
    Parameter,
    StoryTree,
    String,
    Text,
    Tree,
    VariableDeclaration,
    walk,
)

Value = TypeVar("Value")

_MAX_SUGGESTIONS = 40
_MAX_NAMES_COMPARED = 2_000


@dataclass(slots=True, eq=False)
class Point:
    """A choice or gather: a place in a weave that can be named and diverted to."""

    node: Choice | Gather
    container: Container


@dataclass(slots=True, eq=False)
class FlowScope:
    """A story, knot or stitch with the names that it holds."""

    name: str
    level: FlowLevel
    parent: "FlowScope | None"
    flow: Flow | None
    container: Container
    labels: dict[str, Point] = field(default_factory=dict)
    flows: "dict[str, FlowScope]" = field(default_factory=dict)
    temporaries: dict[str, int] = field(default_factory=dict)

    def take_apart(self) -> None:
        """Lets go of what is in here."""
        self.container.take_apart()
        flows, self.flows, self.labels = self.flows, {}, {}
        for inner in flows.values():
            inner.take_apart()

    @property
    def params(self) -> tuple[Parameter, ...]:
        return self.flow.params if self.flow else ()

    @property
    def is_function(self) -> bool:
        return self.flow is not None and self.flow.is_function

    @property
    def at(self) -> int:
        return self.flow.at if self.flow else 0


Target = Point | FlowScope


@dataclass(slots=True, eq=False)
class Symbols:
    """All names of one story."""

    story: FlowScope
    points: dict[int, Point] = field(default_factory=dict)
    variables: dict[str, VariableDeclaration | ListDeclaration] = field(default_factory=dict)
    declared_in: dict[str, FlowScope] = field(default_factory=dict)
    constants: dict[str, ConstantDeclaration] = field(default_factory=dict)
    lists: dict[str, ListDeclaration] = field(default_factory=dict)
    list_items: dict[str, list[tuple[str, ListItem]]] = field(default_factory=dict)
    externals: dict[str, frozenset[int]] = field(default_factory=dict)
    _suggestions: int = 0

    def __del__(self) -> None:
        # Inner flows lead back to outer ones, and diverts to where they stand: a large story is many such circles,
        # which would wait for the collector. Whoever looks at a flow holds this.
        self.story.take_apart()

    # -- looking up -----------------------------------------------------------------------------------------------

    def resolve(self, path: tuple[str, ...], scope: FlowScope) -> Target | None:
        """The place that a path means, seen from a flow: here first, then further out."""
        found = _resolve_first(path[0], scope)
        for name in path[1:]:
            if not isinstance(found, FlowScope):
                return None
            found = _child(found, name)
        return found

    def variable_kind(self, name: str, scope: FlowScope) -> str | None:
        """`argument`, `temporary` or `global`, or None where no variable has this name."""
        if any(parameter.name == name for parameter in scope.params):
            return "argument"
        if scope is not self.story and name in scope.temporaries:
            return "temporary"
        return "global" if name in self.variables or name in self.story.temporaries else None

    def list_item(self, path: tuple[str, ...]) -> tuple[str, ListItem] | None:
        """The list and item that `item` or `list.item` names."""
        if len(path) > 2:
            return None
        found = self.list_items.get(path[-1], [])
        if len(path) == 2:
            found = [one for one in found if one[0] == path[0]]
        return found[0] if found else None

    def is_ambiguous(self, item: str) -> bool:
        return len({name for name, _ in self.list_items.get(item, [])}) > 1

    # -- near names -----------------------------------------------------------------------------------------------

    def near_target(self, name: str, scope: FlowScope) -> str:
        names = set(self.story.flows)
        for flow in self.story.flows.values():
            names.update(f"{flow.name}.{stitch}" for stitch in flow.flows)
        outer: FlowScope | None = scope
        while outer:
            names.update(outer.labels)
            names.update(outer.flows)
            outer = outer.parent
        return self._near(name, names)

    def near_variable(self, name: str, scope: FlowScope) -> str:
        names = {
            *self.variables,
            *self.constants,
            *self.list_items,
            *scope.temporaries,
            *scope.labels,
        }
        names.update(parameter.name for parameter in scope.params)
        names.update(self.story.flows)
        return self._near(name, names)

    def near_function(self, name: str, builtins: frozenset[str]) -> str:
        names = {flow.name for flow in self.story.flows.values() if flow.is_function}
        return self._near(name, names | set(self.externals) | builtins)

    def _near(self, name: str, names: set[str]) -> str:
        """`. Did you mean 'x'?`, or nothing; a story full of mistakes gets only so many guesses."""
        self._suggestions += 1
        if self._suggestions > _MAX_SUGGESTIONS or len(name) > 100:
            return ""
        close = sorted(one for one in names if abs(len(one) - len(name)) <= 3 and one != name)[:_MAX_NAMES_COMPARED]
        lowered = {one.lower(): one for one in close}
        found = get_close_matches(name.lower(), lowered, n=1, cutoff=0.7)
        return f". Did you mean '{lowered[found[0]]}'?" if found else ""


def _resolve_first(name: str, scope: FlowScope) -> Target | None:
    outer: FlowScope | None = scope
    while outer is not None:
        if name in outer.labels:
            return outer.labels[name]
        if name == outer.name:
            return outer
        if name in outer.flows:
            return outer.flows[name]
        if outer.level is FlowLevel.KNOT:
            deep = _label_in_stitches(outer, name)
            if deep is not None:
                return deep
        outer = outer.parent
    return None


def _child(flow: FlowScope, name: str) -> Target | None:
    """`flow.name`: a stitch, a label, or a label in one of the knot's stitches."""
    if name in flow.flows:
        return flow.flows[name]
    return flow.labels.get(name) or _label_in_stitches(flow, name)


def _label_in_stitches(flow: FlowScope, name: str) -> Point | None:
    for stitch in flow.flows.values():
        if name in stitch.labels:
            return stitch.labels[name]
    return None


def collect(tree: StoryTree, externals: Mapping[str, frozenset[int]], log: ProblemLog) -> Symbols:
    """Every name of the story. A name that is given twice is a problem here."""
    story = FlowScope(name="", level=FlowLevel.STORY, parent=None, flow=None, container=Container())
    symbols = Symbols(story=story)
    _collect_names(symbols, story, tree.body, log)
    for flow in tree.flows:
        _collect_flow(symbols, story, flow, log)
    for name, counts in externals.items():
        if name not in story.flows:
            symbols.externals.setdefault(name, counts)
    return symbols


def _collect_flow(symbols: Symbols, parent: FlowScope, flow: Flow, log: ProblemLog) -> None:
    scope = FlowScope(
        name=flow.name,
        level=flow.level,
        parent=parent,
        flow=flow,
        container=Container(name=flow.name),
    )
    if flow.name in parent.flows:
        owner = f"'{parent.name}'" if parent.name else "The story"
        log.error(flow.at, f"{owner} already contains a flow named '{flow.name}'")
    else:
        parent.flows[flow.name] = scope
    _collect_names(symbols, scope, flow.body, log)
    for stitch in flow.stitches:
        _collect_flow(symbols, scope, stitch, log)


def _collect_names(symbols: Symbols, scope: FlowScope, body: tuple[Tree, ...], log: ProblemLog) -> None:
    for node in walk(*body):
        if isinstance(node, Choice | Gather):
            if node.label is not None:
                _collect_label(symbols, scope, node, node.label, log)
        elif isinstance(node, Assignment):
            if node.temporary:
                _once(scope.temporaries, node.name, node.at, node.at, log)
        elif isinstance(node, VariableDeclaration):
            _once(symbols.variables, node.name, node, node.at, log)
            symbols.declared_in.setdefault(node.name, scope)
        elif isinstance(node, ConstantDeclaration):
            _collect_constant(symbols, node, log)
        elif isinstance(node, ListDeclaration):
            _collect_list(symbols, node, log)
        elif isinstance(node, ExternalDeclaration):
            if node.name in symbols.externals:
                log.error(node.at, f"Duplicate EXTERNAL definition of '{node.name}'")
            symbols.externals[node.name] = frozenset((len(node.params),))


def _once(names: dict[str, Value], name: str, value: Value, at: int, log: ProblemLog) -> None:
    if name in names:
        log.error(at, f"found declaration variable '{name}' that was already declared")
    else:
        names[name] = value


def _collect_label(
    symbols: Symbols,
    scope: FlowScope,
    node: Choice | Gather,
    label: str,
    log: ProblemLog,
) -> None:
    name = label if isinstance(node, Gather) else None
    point = Point(node=node, container=Container(name=name, start_only=True))
    symbols.points[node.at] = point
    if label in scope.labels:
        kind = type(scope.labels[label].node).__name__.lower()
        log.error(
            node.at,
            f"A {kind} with the same label name '{label}' already exists in this context",
        )
    else:
        scope.labels[label] = point


def _collect_constant(symbols: Symbols, node: ConstantDeclaration, log: ProblemLog) -> None:
    earlier = symbols.constants.get(node.name)
    if earlier is not None and not _same_constant(earlier.value, node.value):
        log.error(
            node.at,
            f"CONST '{node.name}' has been redefined with a different value. Multiple definitions of the same CONST "
            "are valid so long as they contain the same value.",
        )
    symbols.constants.setdefault(node.name, node)


def _same_constant(one: Expression, other: Expression) -> bool:
    if isinstance(one, Number) and isinstance(other, Number):
        return type(one.value) is type(other.value) and one.value == other.value
    if isinstance(one, DivertTarget) and isinstance(other, DivertTarget):
        return one.divert.target == other.divert.target
    if isinstance(one, String) and isinstance(other, String):
        first, second = one.parts[0], other.parts[0]
        return isinstance(first, Text) and isinstance(second, Text) and first.text == second.text
    return False


def _collect_list(symbols: Symbols, node: ListDeclaration, log: ProblemLog) -> None:
    _once(symbols.variables, node.name, node, node.at, log)
    symbols.lists.setdefault(node.name, node)
    names: set[str] = set()
    for item in node.items:
        if item.name in names:
            log.error(
                item.at,
                f"List '{node.name}' contains duplicate items called '{item.name}'",
            )
            continue
        names.add(item.name)
        symbols.list_items.setdefault(item.name, []).append((node.name, item))


def names_given(tree: StoryTree) -> Iterator[tuple[str, int]]:
    """Every name that a story gives to anything, with its place."""
    for flow in tree.parts:
        yield flow.name, flow.at
        yield from ((parameter.name, parameter.at) for parameter in flow.params)
    for node in walk(*tree.nodes):
        match node:
            case Choice(label=str(label)) | Gather(label=str(label)):
                yield label, node.at
            case VariableDeclaration() | ConstantDeclaration() | Assignment(temporary=True):
                yield node.name, node.at
            case ListDeclaration():
                yield node.name, node.at
                yield from ((item.name, item.at) for item in node.items)
            case _:
                pass
