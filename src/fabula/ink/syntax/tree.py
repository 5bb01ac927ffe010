"""The syntax tree of an Ink story: frozen values, each with the position (`at`) where it begins."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum, IntFlag, StrEnum
from typing import assert_never


class FlowLevel(IntEnum):
    """How deep a named flow stands: the story itself, a knot in it, a stitch in a knot."""

    STORY = 0
    KNOT = 1
    STITCH = 2


class DivertKind(StrEnum):
    PLAIN = "divert"
    TUNNEL = "tunnel"
    THREAD = "thread"


class SequenceKind(IntFlag):
    STOPPING = 1
    CYCLE = 2
    SHUFFLE = 4
    ONCE = 8


# -- expressions --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True, slots=True)
class Number:
    at: int
    value: int | float | bool


@dataclass(frozen=True, kw_only=True, slots=True)
class String:
    at: int
    parts: "tuple[Node, ...]"


@dataclass(frozen=True, kw_only=True, slots=True)
class Variable:
    """A name in an expression: a variable, a constant, a list item, or a place whose visits are counted."""

    at: int
    path: tuple[str, ...]

    @property
    def name(self) -> str:
        return ".".join(self.path)


@dataclass(frozen=True, kw_only=True, slots=True)
class DivertTarget:
    at: int
    divert: "Divert"


@dataclass(frozen=True, kw_only=True, slots=True)
class Call:
    at: int
    name: str
    args: "tuple[Expression, ...]"


@dataclass(frozen=True, kw_only=True, slots=True)
class Unary:
    at: int
    operator: str
    inner: "Expression"


@dataclass(frozen=True, kw_only=True, slots=True)
class Binary:
    at: int
    operator: str
    left: "Expression"
    right: "Expression"


@dataclass(frozen=True, kw_only=True, slots=True)
class ListLiteral:
    at: int
    items: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """`x++`, `x--`, `x += 2`, `x -= 2`: only on a line of its own."""

    at: int
    name: str
    increase: bool
    amount: "Expression | None"


Expression = Number | String | Variable | DivertTarget | Call | Unary | Binary | ListLiteral | Step


# -- content ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True, slots=True)
class Text:
    at: int
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Glue:
    at: int


@dataclass(frozen=True, kw_only=True, slots=True)
class TagStart:
    at: int


@dataclass(frozen=True, kw_only=True, slots=True)
class TagEnd:
    at: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Divert:
    """`-> target(args)`; an empty target is the bare arrow of a fallback choice."""

    at: int
    target: tuple[str, ...]
    args: tuple[Expression, ...] = ()
    kind: DivertKind = DivertKind.PLAIN

    @property
    def name(self) -> str:
        return ".".join(self.target)


@dataclass(frozen=True, kw_only=True, slots=True)
class TunnelOnwards:
    at: int
    after: Divert | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Output:
    """`{expression}`: its value is printed."""

    at: int
    value: Expression


@dataclass(frozen=True, kw_only=True, slots=True)
class Branch:
    """One way through a conditional: `own` is its condition, or the value that a switch compares with."""

    at: int
    own: Expression | None
    body: "tuple[Node, ...]"
    is_true: bool = False
    is_else: bool = False
    matches: bool = False
    inline: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Conditional:
    at: int
    condition: Expression | None
    branches: tuple[Branch, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Sequence:
    at: int
    kind: SequenceKind
    elements: "tuple[tuple[Node, ...], ...]"


# -- statements ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True, slots=True)
class Choice:
    """`* start [only] inner`: start shows in the choice and after it, only in the choice alone, inner after it."""

    at: int
    depth: int
    label: str | None
    sticky: bool
    fallback: bool
    conditions: tuple[Expression, ...]
    start: "tuple[Node, ...]"
    only: "tuple[Node, ...]"
    inner: "tuple[Node, ...]"


@dataclass(frozen=True, kw_only=True, slots=True)
class Gather:
    at: int
    depth: int
    label: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Assignment:
    at: int
    name: str
    value: Expression
    temporary: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Evaluation:
    """A logic line that only does something: `~ f()` or `~ x++`."""

    at: int
    action: Call | Step


@dataclass(frozen=True, kw_only=True, slots=True)
class Return:
    at: int
    value: Expression | None


@dataclass(frozen=True, kw_only=True, slots=True)
class VariableDeclaration:
    at: int
    name: str
    value: Expression


@dataclass(frozen=True, kw_only=True, slots=True)
class ConstantDeclaration:
    at: int
    name: str
    value: Expression


@dataclass(frozen=True, kw_only=True, slots=True)
class ListItem:
    at: int
    name: str
    value: int
    initial: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class ListDeclaration:
    at: int
    name: str
    items: tuple[ListItem, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class ExternalDeclaration:
    at: int
    name: str
    params: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Todo:
    at: int
    message: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Include:
    """An `INCLUDE` line; `body` is what the file holds outside of its knots, once it is loaded.

    A file that holds nothing `is_empty`.
    """

    at: int
    file: str
    body: "tuple[Node, ...]" = ()
    is_empty: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Parameter:
    at: int
    name: str
    by_reference: bool
    is_divert: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Flow:
    """A knot, a function or a stitch. `body` holds everything but the stitches."""

    at: int
    name: str
    level: FlowLevel
    is_function: bool
    params: tuple[Parameter, ...]
    body: "tuple[Node, ...]"
    stitches: "tuple[Flow, ...]"


Node = (
    Text
    | Glue
    | TagStart
    | TagEnd
    | Divert
    | TunnelOnwards
    | Output
    | Conditional
    | Sequence
    | Choice
    | Gather
    | Assignment
    | Evaluation
    | Return
    | VariableDeclaration
    | ConstantDeclaration
    | ListDeclaration
    | ExternalDeclaration
    | Todo
    | Include
)
Tree = Node | Expression


@dataclass(frozen=True, kw_only=True, slots=True)
class StoryTree:
    """A whole story: what stands before the first knot, and the knots of all its files."""

    body: tuple[Node, ...]
    flows: tuple[Flow, ...]

    @property
    def parts(self) -> tuple[Flow, ...]:
        """The knots and functions, each followed by its stitches."""
        return tuple(part for flow in self.flows for part in (flow, *flow.stitches))

    @property
    def nodes(self) -> tuple[Node, ...]:
        """Everything that is written, in reading order."""
        return (*self.body, *(node for part in self.parts for node in part.body))


_LEAVES = frozenset((Text, Glue, TagStart, TagEnd, Number, Variable, Gather))


def children(node: Tree) -> tuple[Tree, ...]:
    """What stands directly inside a node, in reading order."""
    match node:
        case (
            Text()
            | Glue()
            | TagStart()
            | TagEnd()
            | Number()
            | Variable()
            | ListLiteral()
            | Gather()
            | ListDeclaration()
            | ExternalDeclaration()
            | Todo()
        ):
            return ()
        case String(parts=parts):
            return parts
        case DivertTarget(divert=divert):
            return (divert,)
        case Call(args=args) | Divert(args=args):
            return args
        case Unary(inner=inner):
            return (inner,)
        case Binary(left=left, right=right):
            return (left, right)
        case Step(amount=value) | TunnelOnwards(after=value) | Return(value=value):
            return () if value is None else (value,)
        case Output(value=value) | Assignment(value=value):
            return (value,)
        case VariableDeclaration(value=value) | ConstantDeclaration(value=value):
            return (value,)
        case Evaluation(action=action):
            return (action,)
        case Conditional(condition=condition, branches=branches):
            return (
                *_some(condition),
                *(part for one in branches for part in (*_some(one.own), *one.body)),
            )
        case Sequence(elements=elements):
            return tuple(part for element in elements for part in element)
        case Choice(conditions=conditions, start=start, only=only, inner=inner):
            return (*start, *only, *inner, *conditions)
        case Include(body=body):
            return body
        case _:
            assert_never(node)


def _some(value: Expression | None) -> tuple[Expression, ...]:
    return () if value is None else (value,)


def walk(*nodes: Tree) -> Iterator[Tree]:
    """Every node in and under the given ones, in reading order, without the Python stack."""
    stack: list[Tree] = list(reversed(nodes))
    while stack:
        node = stack.pop()
        yield node
        if type(node) not in _LEAVES:
            stack.extend(reversed(children(node)))
