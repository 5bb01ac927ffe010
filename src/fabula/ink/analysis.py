"""What an author or the engine wants to know of a story before it is played.

Which knots can be reached from where, which text nobody will ever see, which variables are read and never set (or set
and never read), where the story ends, how many words it has, and every visible piece of text with its knot and line.
Everything errs on the side of "may happen": a place whose name is only mentioned as a value counts as reachable.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from fabula.ink.compiler.compile import CompileResult
from fabula.ink.compiler.symbols import FlowScope, Point, Symbols, collect
from fabula.ink.syntax.sources import Place, ProblemLog, Sources
from fabula.ink.syntax.tree import (
    Assignment,
    Call,
    Choice,
    ConstantDeclaration,
    Divert,
    DivertKind,
    FlowLevel,
    Gather,
    Node,
    Step,
    String,
    TagEnd,
    TagStart,
    Text,
    Tree,
    TunnelOnwards,
    Variable,
    VariableDeclaration,
    children,
    walk,
)

OPENING = ""


class SpanKind(StrEnum):
    """Where a piece of text shows: in the story, in a choice on offer, or by way of a value."""

    TEXT = "text"
    CHOICE = "choice"
    STRING = "string"


@dataclass(frozen=True, kw_only=True, slots=True)
class TextSpan:
    """A piece of text that a reader may see, with the line it stands on."""

    flow: str
    kind: SpanKind
    text: str
    file: str | None
    line: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Ending:
    """A `-> END` or `-> DONE`."""

    flow: str
    word: str
    file: str | None
    line: int


@dataclass(frozen=True, kw_only=True, slots=True)
class FlowReport:
    """A knot, function or stitch (`knot.stitch`); the text before the first knot has the empty name."""

    name: str
    is_function: bool
    file: str | None
    line: int
    words: int
    choices: int
    leads_to: tuple[str, ...]
    spans: tuple[TextSpan, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class VariableReport:
    """A global variable: how often the story reads and sets it, its declaration not counted."""

    name: str
    file: str | None
    line: int
    reads: int
    writes: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Analysis:
    """All of it. Flows are in the author's order, the opening first."""

    flows: tuple[FlowReport, ...]
    variables: tuple[VariableReport, ...]
    endings: tuple[Ending, ...]
    never_seen: tuple[TextSpan, ...]
    words: int
    choices: int

    def flow(self, name: str) -> FlowReport | None:
        return next((flow for flow in self.flows if flow.name == name), None)

    def reachable_from(self, name: str = OPENING) -> frozenset[str]:
        """Every flow that play may enter from this one, itself included."""
        leads_to = {flow.name: flow.leads_to for flow in self.flows}
        found: set[str] = set()
        waiting = [name] if name in leads_to else []
        while waiting:
            one = waiting.pop()
            if one not in found:
                found.add(one)
                waiting.extend(leads_to[one])
        return frozenset(found)

    @property
    def unreachable(self) -> tuple[str, ...]:
        """Flows that no play ever enters. A knot counts as entered when one of its stitches is."""
        reachable = self.reachable_from()
        entered = reachable | {name.split(".")[0] for name in reachable}
        return tuple(flow.name for flow in self.flows if flow.name not in entered)

    @property
    def read_but_never_set(self) -> tuple[str, ...]:
        return tuple(one.name for one in self.variables if one.reads and not one.writes)

    @property
    def set_but_never_read(self) -> tuple[str, ...]:
        return tuple(one.name for one in self.variables if not one.reads)


def analyse(result: CompileResult) -> Analysis:
    """Look at a compiled story, or at as much of a faulty one as was understood.

    >>> from fabula.ink.compiler import compile_ink
    >>> found = analyse(compile_ink("-> cellar\\n== cellar\\nDark.\\n-> END\\n== attic\\nDusty.\\n-> END\\n"))
    >>> sorted(found.reachable_from()), found.unreachable
    (['', 'cellar'], ('attic',))
    """
    return _Analyst(result).report()


class _Analyst:
    def __init__(self, result: CompileResult) -> None:
        self._tree = result.tree
        self._sources: Sources = result.sources
        self._symbols: Symbols = collect(result.tree, {}, ProblemLog())
        self._scopes = list(_scopes(self._symbols.story))
        self._owners = {id(point): scope for scope in self._scopes for point in scope.labels.values()}

    def report(self) -> Analysis:
        flows = tuple(self._flow(scope) for scope in self._scopes)
        unreachable = _unreached(flows)
        dead = {at for scope in self._scopes for at in _dead_text(self._body(scope))}
        never_seen: list[TextSpan] = []
        for scope, flow in zip(self._scopes, flows, strict=True):
            if flow.name in unreachable:
                never_seen.extend(flow.spans)
            else:
                spans = self._spans(scope, only=dead)
                never_seen.extend(span for span in spans if span.kind is SpanKind.TEXT)
        return Analysis(
            flows=flows,
            variables=self._variables(),
            endings=tuple(self._endings()),
            never_seen=tuple(never_seen),
            words=sum(flow.words for flow in flows),
            choices=sum(flow.choices for flow in flows),
        )

    def _body(self, scope: FlowScope) -> tuple[Node, ...]:
        return scope.flow.body if scope.flow else self._tree.body

    def _place(self, at: int) -> Place:
        return self._sources.place(at)

    def _flow(self, scope: FlowScope) -> FlowReport:
        spans = tuple(self._spans(scope))
        place = self._place(scope.at)
        return FlowReport(
            name=_name(scope),
            is_function=scope.is_function,
            file=place.file,
            line=place.line,
            words=sum(len(span.text.split()) for span in spans if span.kind is not SpanKind.STRING),
            choices=sum(1 for node in walk(*self._body(scope)) if isinstance(node, Choice)),
            leads_to=self._leads_to(scope),
            spans=spans,
        )

    # -- text -----------------------------------------------------------------------------------------------------

    def _spans(self, scope: FlowScope, only: set[int] | None = None) -> Iterator[TextSpan]:
        for kind, node in _visible(self._body(scope)):
            text = node.text.strip()
            if text and (only is None or node.at in only):
                place = self._place(node.at)
                yield TextSpan(flow=_name(scope), kind=kind, text=text, file=place.file, line=place.line)

    # -- ways -----------------------------------------------------------------------------------------------------

    def _leads_to(self, scope: FlowScope) -> tuple[str, ...]:
        found: dict[str, None] = {}
        for node in walk(*self._body(scope)):
            if isinstance(node, Divert):
                self._add_target(node.target, scope, found)
            elif isinstance(node, Call):
                self._add_target((node.name,), scope, found)
            elif isinstance(node, Variable) and node.name in self._symbols.constants:
                for part in walk(self._symbols.constants[node.name].value):
                    if isinstance(part, Divert):
                        self._add_target(part.target, self._symbols.story, found)
        if scope is self._symbols.story:
            self._add_first_values(found)
        if scope.level is FlowLevel.KNOT and not self._body(scope) and scope.flows:
            first = next(iter(scope.flows.values()))
            if not first.params:
                found[_name(first)] = None
        return tuple(found)

    def _add_first_values(self, found: dict[str, None]) -> None:
        """Variables get their first values before the story opens, wherever they are declared."""
        for variable in self._symbols.variables.values():
            for node in walk(variable):
                if isinstance(node, Divert):
                    self._add_target(node.target, self._symbols.story, found)

    def _add_target(self, path: tuple[str, ...], scope: FlowScope, found: dict[str, None]) -> None:
        target = self._symbols.resolve(path, scope) if path else None
        if isinstance(target, Point):
            target = self._owners[id(target)]
        if target is not None:
            found[_name(target)] = None

    def _endings(self) -> Iterator[Ending]:
        for scope in self._scopes:
            for node in walk(*self._body(scope)):
                if isinstance(node, Divert) and node.target in (("END",), ("DONE",)):
                    place = self._place(node.at)
                    yield Ending(flow=_name(scope), word=node.target[0], file=place.file, line=place.line)

    # -- variables ------------------------------------------------------------------------------------------------

    def _variables(self) -> tuple[VariableReport, ...]:
        reads: Counter[str] = Counter()
        writes: Counter[str] = Counter()
        for scope in self._scopes:
            local = {*scope.temporaries, *(parameter.name for parameter in scope.params)}
            for node in walk(*self._body(scope)):
                if isinstance(node, Variable | Step | Assignment | Divert | Call):
                    _count_use(node, local, reads, writes, self._symbols, scope)
        found = []
        for name, declaration in self._symbols.variables.items():
            place = self._place(declaration.at)
            found.append(
                VariableReport(name=name, file=place.file, line=place.line, reads=reads[name], writes=writes[name])
            )
        return tuple(found)


def _count_use(
    node: Variable | Step | Assignment | Divert | Call,
    local: set[str],
    reads: Counter[str],
    writes: Counter[str],
    symbols: Symbols,
    scope: FlowScope,
) -> None:
    if isinstance(node, Variable):
        if node.path[0] not in local:
            reads[node.path[0]] += 1
    elif isinstance(node, Step | Assignment):
        if node.name not in local:
            writes[node.name] += 1
    else:
        path = node.target if isinstance(node, Divert) else (node.name,)
        if path and path[0] not in local:
            reads[path[0]] += 1
        target = symbols.resolve(path, scope) if path else None
        if isinstance(target, FlowScope):
            for parameter, argument in zip(target.params, node.args, strict=False):
                if parameter.by_reference and isinstance(argument, Variable) and argument.name not in local:
                    writes[argument.name] += 1


def _scopes(story: FlowScope) -> Iterator[FlowScope]:
    yield story
    for knot in story.flows.values():
        yield knot
        yield from knot.flows.values()


def _name(scope: FlowScope) -> str:
    if scope.level is FlowLevel.STITCH and scope.parent is not None and scope.parent.name:
        return f"{scope.parent.name}.{scope.name}"
    return scope.name


def _unreached(flows: tuple[FlowReport, ...]) -> frozenset[str]:
    bare = Analysis(flows=flows, variables=(), endings=(), never_seen=(), words=0, choices=0)
    return frozenset(bare.unreachable)


def _visible(body: tuple[Node, ...]) -> Iterator[tuple[SpanKind, Text]]:
    """Every text a reader may see, in reading order; tags are not for the reader."""
    in_tag = False
    waiting: list[tuple[SpanKind, Tree]] = [(SpanKind.TEXT, node) for node in reversed(body)]
    while waiting:
        kind, node = waiting.pop()
        if isinstance(node, Text):
            if not in_tag:
                yield kind, node
        elif isinstance(node, TagStart | TagEnd):
            in_tag = isinstance(node, TagStart)
        elif isinstance(node, Choice):
            waiting.extend((SpanKind.TEXT, part) for part in reversed((*node.inner, *node.conditions)))
            waiting.extend((SpanKind.CHOICE, part) for part in reversed((*node.start, *node.only)))
        elif not isinstance(node, VariableDeclaration | ConstantDeclaration):
            inner = SpanKind.STRING if isinstance(node, String) else kind
            waiting.extend((inner, part) for part in reversed(children(node)))
        else:
            waiting.append((SpanKind.STRING, node.value))


def _dead_text(body: tuple[Node, ...]) -> Iterator[int]:
    """Positions of text that stands after a divert which never comes back, up to the next choice or gather."""
    gone = False
    for node in body:
        if isinstance(node, Choice | Gather):
            gone = isinstance(node, Choice) and any(_is_exit(part) for part in node.inner)
        elif gone:
            yield from (part.at for part in walk(node) if isinstance(part, Text))
        elif _is_exit(node):
            gone = True


def _is_exit(node: Node) -> bool:
    return isinstance(node, TunnelOnwards) or (isinstance(node, Divert) and node.kind is DivertKind.PLAIN)
