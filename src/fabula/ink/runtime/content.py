"""The compiled story in memory: containers, and the small instructions inside them.

Built once by `loader`, never changed afterwards, and shared by every fork of a story. Every instruction has an `op`,
the number under which `commands` keeps what to do; places are resolved to direct references when the story is read.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum, auto
from typing import Any, Final

from fabula.ink.runtime.lists import ListDefinitions
from fabula.ink.runtime.values import Value, VariablePointer


class Op(IntEnum):
    """Every kind of instruction."""

    CONTAINER = 0
    TEXT = auto()
    GLUE = auto()
    LITERAL = auto()
    POINTER = auto()
    DIVERT = auto()
    VARIABLE_DIVERT = auto()
    EXTERNAL = auto()
    CHOICE = auto()
    READ_VARIABLE = auto()
    READ_COUNT_OF = auto()
    ASSIGN = auto()
    NATIVE = auto()
    EVAL_START = auto()
    EVAL_OUTPUT = auto()
    EVAL_END = auto()
    DUPLICATE = auto()
    POP = auto()
    POP_FUNCTION = auto()
    POP_TUNNEL = auto()
    BEGIN_STRING = auto()
    END_STRING = auto()
    NO_OP = auto()
    CHOICE_COUNT = auto()
    TURNS = auto()
    TURNS_SINCE = auto()
    READ_COUNT = auto()
    RANDOM = auto()
    SEED_RANDOM = auto()
    VISIT_INDEX = auto()
    SHUFFLE_INDEX = auto()
    START_THREAD = auto()
    DONE = auto()
    END = auto()
    LIST_FROM_INT = auto()
    LIST_RANGE = auto()
    LIST_RANDOM = auto()
    BEGIN_TAG = auto()
    END_TAG = auto()


COMMAND_NAMES: Final = {
    "ev": Op.EVAL_START,
    "out": Op.EVAL_OUTPUT,
    "/ev": Op.EVAL_END,
    "du": Op.DUPLICATE,
    "pop": Op.POP,
    "~ret": Op.POP_FUNCTION,
    "->->": Op.POP_TUNNEL,
    "str": Op.BEGIN_STRING,
    "/str": Op.END_STRING,
    "nop": Op.NO_OP,
    "choiceCnt": Op.CHOICE_COUNT,
    "turn": Op.TURNS,
    "turns": Op.TURNS_SINCE,
    "readc": Op.READ_COUNT,
    "rnd": Op.RANDOM,
    "srnd": Op.SEED_RANDOM,
    "visit": Op.VISIT_INDEX,
    "seq": Op.SHUFFLE_INDEX,
    "thread": Op.START_THREAD,
    "done": Op.DONE,
    "end": Op.END,
    "listInt": Op.LIST_FROM_INT,
    "range": Op.LIST_RANGE,
    "lrnd": Op.LIST_RANDOM,
    "#": Op.BEGIN_TAG,
    "/#": Op.END_TAG,
}


class Node:
    """One instruction."""

    __slots__ = ("op",)

    op: int


class Container(Node):
    """A list of instructions with named parts; knots, stitches, choices, gathers and branches are containers."""

    __slots__ = (
        "content",
        "count_at_start_only",
        "count_turns",
        "count_visits",
        "index",
        "lineage_cache",
        "name",
        "named",
        "parent",
        "path",
    )

    def __init__(self) -> None:
        self.op = Op.CONTAINER
        self.content: list[Node] = []
        self.named: dict[str, Container] = {}
        self.name: str | None = None
        self.parent: Container | None = None
        self.index = -1
        self.path = ""
        self.count_visits = False
        self.count_turns = False
        self.count_at_start_only = False
        self.lineage_cache: frozenset[Container] | None = None

    def __repr__(self) -> str:
        return f"Container({self.path!r})"

    def lineage(self) -> frozenset[Container]:
        """This container and everything around it."""
        if self.lineage_cache is None:
            found = []
            container: Container | None = self
            while container is not None:
                found.append(container)
                container = container.parent
            self.lineage_cache = frozenset(found)
        return self.lineage_cache


class Text(Node):
    """A piece of text, with what the output stream wants to know about it worked out once."""

    __slots__ = ("is_newline", "is_visible", "parts", "value")

    def __init__(self, value: str) -> None:
        self.op = Op.TEXT
        self.value = value
        self.is_newline = value == "\n"
        self.is_visible = not self.is_newline and bool(value.strip(" \t"))
        self.parts = _split_edges(value)

    def __repr__(self) -> str:
        return f"Text({self.value!r})"


def _split_edges(value: str) -> tuple[Text, ...]:
    """Newlines among the white space at both ends become pieces of their own; () when there are none."""
    if "\n" not in value or value == "\n":
        return ()
    head = len(value) - len(value.lstrip(" \t\n"))
    tail = len(value.rstrip(" \t\n"))
    head_first, head_last = value.find("\n", 0, head), value.rfind("\n", 0, head)
    tail_first, tail_last = value.find("\n", tail), value.rfind("\n", tail)
    if head == len(value):
        tail_first, tail_last = head_first, head_last
    if head_first == -1 and tail_last == -1:
        return ()
    pieces: list[str] = []
    if head_first != -1:
        pieces += [value[:head_first], "\n"]
    inner_end = tail_first if tail_last != -1 else len(value)
    pieces.append(value[head_last + 1 : inner_end])
    if tail_last != -1 and tail_first > head_last:
        pieces += ["\n", value[tail_last + 1 :]]
    return tuple(Text(piece) for piece in pieces if piece)


NEWLINE: Final = Text("\n")


class Glue(Node):
    """`<>`: no line break here."""

    __slots__ = ()

    def __init__(self) -> None:
        self.op = Op.GLUE


class Command(Node):
    """An instruction that has nothing but its kind."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.op = COMMAND_NAMES[name]
        self.name = name

    def __repr__(self) -> str:
        return f"Command({self.name!r})"


class Literal(Node):
    """A constant value."""

    __slots__ = ("value",)

    def __init__(self, value: Value) -> None:
        self.op = Op.POINTER if isinstance(value, VariablePointer) and value.frame == -1 else Op.LITERAL
        self.value = value


class Native(Node):
    """A call of a built-in function or operator."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.op = Op.NATIVE
        self.name = name


class FrameKind(IntEnum):
    """Why something was put on the call stack; the numbers are those of the save format."""

    TUNNEL = 0
    FUNCTION = 1
    FUNCTION_FROM_HOST = 2


_PUSHES: Final = {"f()": FrameKind.FUNCTION, "->t->": FrameKind.TUNNEL}


class Divert(Node):
    """Goes somewhere: to a resolved place, to a place held by a variable, or out to a host function."""

    __slots__ = ("arguments", "conditional", "container", "index", "key", "pushes", "target")

    def __init__(self, key: str, target: str, *, variable: bool, conditional: bool, arguments: int) -> None:
        self.op = Op.EXTERNAL if key == "x()" else Op.VARIABLE_DIVERT if variable else Op.DIVERT
        self.key = key
        self.target = target
        self.conditional = conditional
        self.arguments = arguments
        self.pushes = _PUSHES.get(key)
        self.container: Container | None = None
        self.index = 0


class ChoicePoint(Node):
    """Where a choice may be offered."""

    __slots__ = (
        "flags",
        "has_choice_only_content",
        "has_condition",
        "has_start_content",
        "is_fallback",
        "once_only",
        "path",
        "target",
        "target_path",
    )

    def __init__(self, target_path: str, flags: int) -> None:
        self.op = Op.CHOICE
        self.target_path = target_path
        self.flags = flags
        self.has_condition = bool(flags & 1)
        self.has_start_content = bool(flags & 2)
        self.has_choice_only_content = bool(flags & 4)
        self.is_fallback = bool(flags & 8)
        self.once_only = bool(flags & 16)
        self.target: Container | None = None
        self.path = ""


class ReadVariable(Node):
    """Puts a variable's value on the evaluation stack."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.op = Op.READ_VARIABLE
        self.name = name


class ReadCountOf(Node):
    """Puts the number of visits of a container on the evaluation stack."""

    __slots__ = ("container", "target")

    def __init__(self, target: str) -> None:
        self.op = Op.READ_COUNT_OF
        self.target = target
        self.container: Container | None = None


class Assign(Node):
    """Takes a value off the evaluation stack into a variable."""

    __slots__ = ("declares", "is_global", "name")

    def __init__(self, name: str, *, is_global: bool, declares: bool) -> None:
        self.op = Op.ASSIGN
        self.name = name
        self.is_global = is_global
        self.declares = declares


@dataclass(slots=True, weakref_slot=True)
class StoryContent:
    """A whole compiled story: read once, then only looked at."""

    root: Container
    lists: ListDefinitions
    externals: frozenset[str]
    digest: str
    places: dict[str, tuple[Container, int] | None] = field(default_factory=dict)
    names: Any = None
    """The story's place names, kept here by `edited` once they are needed."""

    def __del__(self) -> None:
        # Whoever plays the story, or looks at it, holds this. Its containers lead to each other in circles: those of
        # large stories would come to gigabytes before the collector looks, and it would keep everybody waiting.
        _take_apart(self.root)

    def place(self, path: str) -> tuple[Container, int] | None:
        """The container and index a path leads to; index -1 is the container itself. None when it leads nowhere."""
        if path not in self.places:
            if len(self.places) > 50_000:
                self.places.clear()
            self.places[path] = find_place(self.root, path)
        return self.places[path]

    def container(self, path: str) -> Container | None:
        """The container at a path, whether the path ends with its name or with its index."""
        place = self.place(path)
        if place is None:
            return None
        found = resolve(*place)
        return found if isinstance(found, Container) else None


def _take_apart(root: Container) -> None:
    waiting = [root]
    while waiting:
        one = waiting.pop()
        waiting += [node for node in one.content if isinstance(node, Container)]
        waiting += one.named.values()
        one.content, one.named, one.parent, one.lineage_cache = [], {}, None, None


def find_place(start: Container, path: str) -> tuple[Container, int] | None:
    """Follows an absolute path, or a relative one as seen from a container."""
    steps = path.lstrip(".").split(".") if path.strip(".") else []
    here: Container = start
    for number, step in enumerate(steps):
        last = number == len(steps) - 1
        following: Node | None
        if step.isascii() and step.isdigit():
            index = int(step) if len(step) < 10 else -1
            following = here.content[index] if 0 <= index < len(here.content) else None
            if last:
                return None if following is None else (here, index)
        elif step == "^":
            following = here.parent
        else:
            following = here.named.get(step)
        if not isinstance(following, Container):
            return None
        here = following
    return here, -1


def resolve(container: Container, index: int) -> Node | None:
    """What a pointer points at: an instruction, or the container itself; None past its end."""
    if index < 0 or not container.content:
        return container
    return container.content[index] if index < len(container.content) else None


def pointer_path(container: Container, index: int) -> str:
    """The path of what a pointer points at."""
    if index < 0:
        return container.path
    found = resolve(container, index)
    if isinstance(found, Container):
        return found.path
    return f"{container.path}.{index}" if container.path else str(index)
