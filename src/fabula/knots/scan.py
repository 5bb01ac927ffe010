"""The scan of a story's source for AI knots: the talks it names, what it asks for, and its tags, with their places."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from fabula.ink import CompileResult, Problem, Severity
from fabula.ink.compiler.symbols import FlowScope, Point, Symbols, Target, collect, names_given
from fabula.ink.syntax.sources import ProblemLog
from fabula.ink.syntax.tree import (
    Call,
    Divert,
    DivertKind,
    DivertTarget,
    Expression,
    Flow,
    Node,
    TagEnd,
    TagStart,
    Text,
    Tree,
    walk,
)
from fabula.knots.names import ASKED, TALKS


@dataclass(frozen=True, kw_only=True)
class Named:
    """A place that a talk names, by its whole name; only a knot or stitch that is there has a `flow`."""

    name: str
    at: int
    flow: Flow | None


@dataclass(frozen=True, kw_only=True)
class TalkCall:
    """An `agent` or `continue` and the flow it stands in; whom a variable holds is not known."""

    word: str
    at: int
    within: str
    kind: DivertKind
    character: Named | None
    goal: Named | None

    @property
    def named(self) -> tuple[Named, ...]:
        return tuple(one for one in (self.character, self.goal) if one is not None)


@dataclass(frozen=True, kw_only=True)
class Tag:
    """A tag whose whole text is written in the source."""

    at: int
    text: str


@dataclass(frozen=True, kw_only=True)
class Scan:
    """`calls` are calls by the names of AI knots. `as_characters` are the ways from a flow to another one that it
    names as a character and never otherwise."""

    result: CompileResult
    talks: tuple[TalkCall, ...]
    calls: tuple[Call, ...]
    tags: tuple[Tag, ...]
    as_characters: frozenset[tuple[str, str]]

    def problem(self, severity: Severity, at: int, message: str) -> Problem:
        place = self.result.sources.place(at)
        return Problem(severity=severity, message=message, file=place.file, line=place.line, column=place.column)


def scan_story(result: CompileResult) -> Scan:
    """Reads the author's own source; words that the story defines itself are not ours."""
    scanner = _Scanner(result)
    for scope in scanner.scopes:
        scanner.scan(scope)
    return Scan(
        result=result,
        talks=tuple(scanner.talks),
        calls=tuple(scanner.calls),
        tags=tuple(scanner.tags),
        as_characters=frozenset(scanner.as_characters),
    )


class _Scanner:
    def __init__(self, result: CompileResult) -> None:
        self._body = result.tree.body
        self._symbols: Symbols = collect(result.tree, {}, ProblemLog())
        self.scopes = list(_scopes(self._symbols.story))
        self._talks = TALKS.keys() - {name for name, _ in names_given(result.tree)}
        self._words = self._talks | (ASKED - self._symbols.story.flows.keys())
        self._by_name = {_name(scope): scope for scope in self.scopes}
        self._owners = {id(point): scope for scope in self.scopes for point in scope.labels.values()}
        self.talks: list[TalkCall] = []
        self.calls: list[Call] = []
        self.tags: list[Tag] = []
        self.as_characters: list[tuple[str, str]] = []

    def scan(self, scope: FlowScope) -> None:
        nodes = list(walk(*self._body_of(scope)))
        talks = [self._talk(node, scope) for node in nodes if isinstance(node, Divert) and node.name in self._talks]
        self.talks += talks
        self.calls += [node for node in nodes if isinstance(node, Call) and node.name in self._words]
        self.tags += _tags(nodes)
        if talks:
            self.as_characters += self._only_as_characters(scope, nodes, talks)

    def _body_of(self, scope: FlowScope) -> tuple[Node, ...]:
        return scope.flow.body if scope.flow else self._body

    def _talk(self, node: Divert, scope: FlowScope) -> TalkCall:
        named = [self._named(argument, scope) for argument in node.args]
        whom = [None, *named] if node.name == "continue" else named
        character, goal, *_ = (*whom, None, None)
        return TalkCall(
            word=node.name,
            at=node.at,
            within=_name(scope),
            kind=node.kind,
            character=character,
            goal=goal,
        )

    def _named(self, argument: Expression, scope: FlowScope) -> Named | None:
        if not isinstance(argument, DivertTarget):
            return None
        path = argument.divert.target
        target = self._symbols.resolve(path, scope) if path else None
        if target is None:
            return Named(name=".".join(path), at=argument.at, flow=None)
        flow = target.flow if isinstance(target, FlowScope) else None
        return Named(name=self._whole_name(target), at=argument.at, flow=flow)

    def _whole_name(self, target: Target) -> str:
        if isinstance(target, Point):
            return ".".join(filter(None, (_name(self._owners[id(target)]), target.node.label)))
        return _name(target)

    def _only_as_characters(
        self, scope: FlowScope, nodes: list[Tree], talks: list[TalkCall]
    ) -> Iterator[tuple[str, str]]:
        """Ways that are mentioned as often as they are characters."""
        mentioned: Counter[int] = Counter()
        for node in nodes:
            if isinstance(node, Divert) and node.target:
                mentioned[id(self._symbols.resolve(node.target, scope))] += 1
        spoken = Counter(talk.character.name for talk in talks if talk.character and talk.character.flow)
        for name, count in spoken.items():
            if mentioned[id(self._by_name[name])] == count:
                yield _name(scope), name


def _scopes(story: FlowScope) -> Iterator[FlowScope]:
    yield story
    for knot in story.flows.values():
        yield knot
        yield from knot.flows.values()


def _name(scope: FlowScope) -> str:
    return f"{scope.parent.name}.{scope.name}" if scope.parent and scope.parent.name else scope.name


def _tags(nodes: Iterable[Tree]) -> Iterator[Tag]:
    """The tags among nodes in reading order; one that is put together while the story runs is left out."""
    start, text = -1, ""
    for node in nodes:
        if isinstance(node, TagStart):
            start, text = node.at, ""
        elif start >= 0 and isinstance(node, Text):
            text += node.text
        elif start >= 0:
            if isinstance(node, TagEnd):
                yield Tag(at=start, text=text.strip())
            start = -1
