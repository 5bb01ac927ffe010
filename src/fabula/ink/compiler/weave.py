"""The weave: choices and gathers of any depth become containers, and what is left loose is led to the next gather.

1. Statements are arranged by depth: a deeper choice or gather, with what follows it, is a weave inside the weave.
2. A choice keeps what follows it; a gather becomes the container that everything after it goes into.
3. Loose ends (choices and gathers that lead nowhere) wait for the next gather of their level. What is still loose at
   the end goes up to the weave around; but out of a conditional or an alternative no choice may leak.
"""

from dataclasses import dataclass, field

from fabula.ink.compiler.content import ContentWriter
from fabula.ink.compiler.objects import ChoicePoint, Container, Divert, TargetValue
from fabula.ink.compiler.symbols import FlowScope, Point, Symbols
from fabula.ink.syntax.sources import ProblemLog
from fabula.ink.syntax.tree import (
    Choice,
    ConstantDeclaration,
    DivertKind,
    DivertTarget,
    FlowLevel,
    Gather,
    Include,
    ListDeclaration,
    Node,
    Text,
    Todo,
    Tree,
    TunnelOnwards,
    VariableDeclaration,
    children,
)
from fabula.ink.syntax.tree import (
    Divert as DivertNode,
)

MAX_WEAVES = 50
MAX_WEAVE_POINTS = 100_000
_MAX_CHAINED_GATHERS = 50
_LOOSE_END = "Apparent loose end exists where the flow runs out. Do you need a '-> DONE' statement, choice or divert?"
_NESTED_LOOSE_END = "Choices nested in conditionals or sequences need to explicitly divert afterwards."


@dataclass(frozen=True, slots=True)
class Nested:
    """A part of a weave that stands deeper."""

    nodes: tuple[Node, ...]
    base: int


Piece = Node | Nested


@dataclass(slots=True, eq=False)
class _LooseEnd:
    point: Point
    following: "list[Piece]"


@dataclass(slots=True, eq=False)
class _Weave:
    """One level of a weave while it is written."""

    pieces: "list[Piece]"
    outer: "_Weave | None"
    sealed: bool
    root: Container = field(default_factory=Container)
    current: Container = field(default_factory=Container)
    previous: Point | None = None
    fills_previous: bool = False
    choice_in_section: bool = False
    gathers: int = 0
    choices: int = 0
    loose: dict[int, _LooseEnd] = field(default_factory=dict)

    def leave_loose(self, end: _LooseEnd) -> None:
        self.loose[id(end.point)] = end

    def forget(self, point: Point) -> None:
        self.loose.pop(id(point), None)

    def is_inside_logic(self) -> bool:
        weave: _Weave | None = self
        while weave is not None:
            if weave.sealed:
                return True
            weave = weave.outer
        return False

    def beyond_logic(self) -> "_Weave | None":
        """The nearest weave outside of the conditional or alternative that this one stands in."""
        weave: _Weave | None = self
        while weave is not None and not weave.sealed:
            weave = weave.outer
        return weave.outer if weave is not None else None


class WeaveWriter(ContentWriter):
    """Writes whole flows."""

    def __init__(self, symbols: Symbols, log: ProblemLog, *, count_all_visits: bool) -> None:
        super().__init__(symbols, log)
        self._count_all_visits = count_all_visits
        self._weave: _Weave | None = None
        self._depth = 0
        self._chained = 0
        self._points = 0

    # -- flows ----------------------------------------------------------------------------------------------------

    def flow(self, scope: FlowScope, nodes: tuple[Node, ...]) -> None:
        """A knot, stitch or story into its container."""
        self.scope = scope
        container = scope.container
        container.visits = container.visits or (self._count_all_visits and scope.level is not FlowLevel.STORY)
        for parameter in reversed(scope.params):
            container.add({"temp=": parameter.name})
        pieces: list[Piece] = []
        loose: list[_LooseEnd] = []
        if nodes:
            weave = self._written(arranged(nodes, 0), sealed=False)
            pieces, loose = weave.pieces, list(weave.loose.values())
            container.absorb(weave.root)
        elif scope.level is FlowLevel.KNOT and scope.flows:
            first = next(iter(scope.flows.values()))
            if not first.params:
                container.add(Divert(target=first.container))
        if nodes and scope.level is not FlowLevel.STORY and not scope.is_function:
            self._check_end(scope, pieces, loose)
        for stitch in scope.flows.values():
            self.flow(stitch, stitch.flow.body if stitch.flow else ())
            container.keep(stitch.container)

    def sealed_weave(self, nodes: tuple[Node, ...]) -> Container:
        if not nodes:
            return Container()
        return self._written(arranged(nodes, first_depth(nodes)), sealed=True).root

    # -- one weave ------------------------------------------------------------------------------------------------

    def _written(self, pieces: list[Piece], *, sealed: bool) -> _Weave:
        weave = _Weave(pieces=pieces, outer=self._weave, sealed=sealed)
        weave.current = weave.root
        outer, self._weave = self._weave, weave
        chained = self._chained
        self._depth += 1
        self._points += 1
        if self._depth <= MAX_WEAVES:
            for index, piece in enumerate(pieces):
                self._piece(weave, piece, index)
        else:
            self._report_depth(pieces)
        self._depth -= 1
        self._weave, self._chained = outer, chained
        self._hand_up(weave)
        if weave.loose and weave.is_inside_logic():
            self._check_nested_end(weave)
        return weave

    def _report_depth(self, pieces: list[Piece]) -> None:
        for piece in pieces:
            if not isinstance(piece, Nested):
                self.log.error(
                    piece.at,
                    f"This is nested too deeply (more than {MAX_WEAVES} levels)",
                )
                return

    def _piece(self, weave: _Weave, piece: Piece, index: int) -> None:
        if self._points > MAX_WEAVE_POINTS:
            self._report_size(piece)
        elif isinstance(piece, Gather):
            self._gather(weave, piece, index)
        elif isinstance(piece, Choice):
            self._choice(weave, piece, index)
        elif isinstance(piece, Nested):
            self._nested(weave, piece)
        else:
            into = weave.previous.container if weave.fills_previous and weave.previous else weave.current
            self.node(piece, into)

    def _report_size(self, piece: Piece) -> None:
        if self._points == MAX_WEAVE_POINTS + 1:
            self._points += 1
            self.log.error(
                _position(piece), f"The story is too large (more than {MAX_WEAVE_POINTS} choices, gathers and branches)"
            )

    def _nested(self, weave: _Weave, piece: Nested) -> None:
        into = weave.previous.container if weave.fills_previous and weave.previous else weave.current
        inner = self._written(arranged(piece.nodes, piece.base), sealed=False)
        into.absorb(inner.root)
        if weave.previous is not None:
            weave.forget(weave.previous)
            weave.fills_previous = False

    def _point(self, node: Choice | Gather) -> Point:
        self._points += 1
        known = self.symbols.points.get(node.at)
        point = known or Point(node=node, container=Container(start_only=True))
        point.container.visits = point.container.visits or self._count_all_visits
        return point

    def _gather(self, weave: _Weave, node: Gather, index: int) -> None:
        point = self._point(node)
        container = point.container
        if node.label is None:
            container.name = f"g-{weave.gathers}"
            weave.gathers += 1
        self._place_gather(weave, container)
        weave.choice_in_section = False
        for end in weave.loose.values():
            earlier = end.point.node
            if not (isinstance(earlier, Gather) and earlier.depth == node.depth):
                end.point.container.add(Divert(target=container))
        weave.loose = {}
        weave.current = container
        self._become_previous(weave, point, index)

    def _place_gather(self, weave: _Weave, container: Container) -> None:
        """After choices a gather is only led to; else flow walks into it, and so each stands inside the one before.

        A very long row of gathers would stand too deep to be written down: then flow is led on instead.
        """
        if weave.choice_in_section:
            weave.root.keep(container)
        elif self._chained < _MAX_CHAINED_GATHERS:
            self._chained += 1
            weave.current.add_named(container)
        else:
            weave.current.add(Divert(target=container))
            weave.root.keep(container)

    def _choice(self, weave: _Weave, node: Choice, index: int) -> None:
        if weave.previous is not None and isinstance(weave.previous.node, Gather):
            weave.forget(weave.previous)
        point = self._point(node)
        outer = self._choice_containers(node, point)
        weave.current.absorb(outer)
        point.container.name = f"c-{weave.choices}"
        weave.current.keep(point.container)
        weave.choices += 1
        weave.choice_in_section = True
        self._become_previous(weave, point, index)
        weave.fills_previous = True

    def _become_previous(self, weave: _Weave, point: Point, index: int) -> None:
        weave.fills_previous = False
        weave.previous = point
        following: list[Piece] = []
        for later in range(index + 1, len(weave.pieces)):
            piece = weave.pieces[later]
            if isinstance(piece, Choice | Gather | Nested):
                break
            following.append(piece)
        weave.leave_loose(_LooseEnd(point=point, following=following))

    # -- one choice -----------------------------------------------------------------------------------------------

    def _choice_containers(self, node: Choice, point: Point) -> Container:
        """The offer, which is returned, and what happens when it is taken, in the point's own container.

        The text before the bracket is written once and visited twice: `$r` remembers where to go back to.
        """
        outer = Container()
        chosen = point.container
        chosen.visits = chosen.visits or not node.sticky
        if node.start or node.only or node.conditions:
            outer.add("ev")
        if node.start:
            self._start_content(node, outer, chosen)
        if node.only:
            outer.add("str")
            self.content(node.only, outer)
            outer.add("/str")
        for index, condition in enumerate(node.conditions):
            self.condition(condition, outer)
            if index:
                outer.add("&&")
        if node.start or node.only or node.conditions:
            outer.add("/ev")
        outer.add(ChoicePoint(target=chosen, flags=_flags(node)))
        self.content(node.inner, chosen)
        return outer

    def _start_content(self, node: Choice, outer: Container, chosen: Container) -> None:
        first, second, start = (
            Container(name="$r1"),
            Container(name="$r2"),
            Container(name="s"),
        )
        outer.content.extend((TargetValue(target=first), {"temp=": "$r"}, "str", Divert(target=start)))
        outer.add_named(first)
        outer.add("/str")
        self.content(node.start, start)
        start.add(Divert(variable="$r"))
        outer.keep(start)
        chosen.content.extend(
            (
                "ev",
                TargetValue(target=second),
                "/ev",
                {"temp=": "$r"},
                Divert(target=start),
            )
        )
        chosen.add_named(second)

    # -- loose ends -----------------------------------------------------------------------------------------------

    def _hand_up(self, weave: _Weave) -> None:
        inner = None if weave.sealed else weave.outer
        outer = weave.beyond_logic()
        kept: dict[int, _LooseEnd] = {}
        for key, end in weave.loose.items():
            is_choice = isinstance(end.point.node, Choice)
            receiver = inner if is_choice else inner or outer
            if receiver is not None:
                receiver.leave_loose(end)
            else:
                kept[key] = end
        weave.loose = kept

    def _check_nested_end(self, weave: _Weave) -> None:
        if isinstance(_last(weave.pieces), Todo):
            return
        for end in weave.loose.values():
            ending = _where_it_runs_out(end)
            if ending is not None:
                self.log.error(_position(ending), _NESTED_LOOSE_END)

    def _check_end(self, scope: FlowScope, pieces: list[Piece], loose: list[_LooseEnd]) -> None:
        if isinstance(_last(pieces), Todo):
            return
        endings: list[Piece | None] = []
        if loose:
            endings = [_where_it_runs_out(end) for end in loose]
        elif not any(isinstance(piece, Choice | Gather) for piece in pieces):
            endings = [_runs_out(pieces, pieces[0])]
        for ending in endings:
            if ending is not None:
                self.log.warning(_position(ending), self._loose_end_message(scope, ending))

    def _loose_end_message(self, scope: FlowScope, ending: Piece) -> str:
        message = _LOOSE_END
        if scope.flows:
            first = next(iter(scope.flows))
            message += f" Note that if you intend to enter '{first}' next, you need to divert to it explicitly."
        if isinstance(ending, DivertNode) and ending.kind is DivertKind.TUNNEL:
            message += f" When final tunnel to '{ending.name} ->' returns it won't have anywhere to go."
        return message


def arranged(nodes: tuple[Node, ...], base: int) -> list[Piece]:
    """The statements of one level; runs of deeper ones become nested pieces, included files too."""
    pieces: list[Piece] = []
    index = 0
    while index < len(nodes):
        node = nodes[index]
        if isinstance(node, Choice | Gather) and node.depth - 1 > base:
            end = index + 1
            while end < len(nodes) and not _ends_nesting(nodes[end], base):
                end += 1
            pieces.append(Nested(nodes=nodes[index:end], base=node.depth - 1))
            index = end
            continue
        if isinstance(node, Include):
            if node.body:
                pieces.append(Nested(nodes=node.body, base=0))
            if not node.is_empty:
                pieces.append(Text(at=node.at, text="\n"))
        else:
            pieces.append(node)
        index += 1
    return pieces


def _ends_nesting(node: Node, base: int) -> bool:
    return isinstance(node, Choice | Gather) and node.depth - 1 <= base


def first_depth(nodes: tuple[Node, ...]) -> int:
    for node in nodes:
        if isinstance(node, Choice | Gather):
            return node.depth - 1
    return 0


def _flags(node: Choice) -> int:
    return (
        (1 if node.conditions else 0)
        | (2 if node.start else 0)
        | (4 if node.only else 0)
        | (8 if node.fallback else 0)
        | (0 if node.sticky else 16)
    )


def _is_declaration(piece: Piece) -> bool:
    return isinstance(piece, VariableDeclaration | ConstantDeclaration | ListDeclaration)


def _last(pieces: list[Piece]) -> Node | None:
    """The last piece that says something."""
    for piece in reversed(pieces):
        if isinstance(piece, Nested):
            return _last(arranged(piece.nodes, piece.base))
        if not _is_declaration(piece) and not (isinstance(piece, Text) and piece.text == "\n"):
            return piece
    return None


def _where_it_runs_out(end: _LooseEnd) -> Piece | None:
    node = end.point.node
    own: list[Piece] = [*node.start, *node.only, *node.inner] if isinstance(node, Choice) else []
    return _runs_out([*own, *end.following], node)


def _runs_out(pieces: list[Piece], default: Piece) -> Piece | None:
    """The last piece of a flow that never leaves, or None where it does leave."""
    ending = default
    for piece in pieces:
        if _is_declaration(piece):
            continue
        if _leaves(piece):
            return None
        ending = piece
    return None if isinstance(ending, Todo) else ending


def _leaves(piece: Piece) -> bool:
    """A divert that does not come back, somewhere inside."""
    waiting: list[Tree] = list(piece.nodes) if isinstance(piece, Nested) else [piece]
    while waiting:
        node = waiting.pop()
        if isinstance(node, TunnelOnwards):
            return True
        if isinstance(node, DivertNode) and node.kind is DivertKind.PLAIN:
            return True
        if not isinstance(node, DivertTarget):
            waiting.extend(children(node))
    return False


def _position(piece: Piece) -> int:
    return piece.nodes[0].at if isinstance(piece, Nested) else piece.at
