"""Names for places that survive an edit: by knot, stitch and label and by text, never by position.

Every place has up to three names, from the most particular to the most tolerant:

    exact     knot, the choices and labels around it, its own text, and what follows it
    strong    knot, the choices and labels around it, and its own text
    weak      knot and its own text

A name is used only where it is unique, in the story that was saved and in the edited one: so a place is found or not
found, but never confused with another.

A name may be as long as the line it stands for, and a knot has as many lines as its author likes. So a place is
compared only with those of its knot that begin alike, and what a piece of content adds to a name is worked out once.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from typing import Final
from weakref import proxy

from fabula.ink.runtime.content import (
    Assign,
    ChoicePoint,
    Command,
    Container,
    Divert,
    Literal,
    Native,
    Node,
    Op,
    ReadCountOf,
    ReadVariable,
    StoryContent,
    Text,
)
from fabula.ink.runtime.tokens import write_json, write_value
from fabula.ink.runtime.values import DivertTarget

_GENERATED: Final = re.compile(r"[cg]-[0-9]+|s[0-9]*|b|\$r[0-9]*|global decl")
_WEAVE_POINT: Final = re.compile(r"[cg]-[0-9]+")
_LONGEST_LINE: Final = 200
_SHORT_LINE: Final = 6
_ONCE_ONLY: Final = 16
_MANY_ALIKE: Final = 200
_LARGE_KNOT: Final = 500

Place = tuple[Container, int]
Names = tuple[str, str, str]
_KINDS: Final = ("choice", "position", "container")

_PLAIN, _VISIBLE, _NEWLINE, _JUMP, _LAST = range(5)
"""What a piece of content is to the line it stands in."""


def is_label(name: str | None) -> bool:
    """Whether the author gave this name, rather than the compiler.

    >>> is_label("the_garden"), is_label("c-0")
    (True, False)
    """
    return name is not None and not _GENERATED.fullmatch(name)


def knot_path(container: Container) -> str:
    """The knot or stitch a container belongs to; "" for what stands before the first knot."""
    line: list[Container] = []
    here: Container | None = container
    while here is not None and here.parent is not None:
        line.append(here)
        here = here.parent
    if not line or line[-1].index >= 0:
        return ""
    knot = line[-1]
    if len(line) > 1 and line[-2].index < 0 and is_label(line[-2].name):
        return line[-2].path
    return knot.path


def _knots_of(containers: Sequence[Container]) -> dict[Container, str]:
    """The knot or stitch of each container, parents before children: what is deep in one is where its parent is."""
    knots: dict[Container, str] = {}
    for container in containers:
        parent = container.parent
        is_deep = parent is not None and parent.parent is not None and parent.parent.parent is not None
        knots[container] = knots[parent] if parent is not None and is_deep else knot_path(container)
    return knots


class PlaceNames:
    """The names of all places of one story."""

    def __init__(self, content: StoryContent) -> None:
        # The story keeps its names: if they kept it as well, both would wait for the collector.
        self._content = proxy(content)
        self._containers = list(_all_containers(content.root))
        self._knots = _knots_of(self._containers)
        self._of_knot: dict[str, list[Container]] = {}
        for container, knot in self._knots.items():
            self._of_knot.setdefault(knot, []).append(container)
        self._steps: dict[int, tuple[str, int]] = {}
        self._choice_prints: dict[Place, str] = {}
        self._arounds: dict[Container, str] = {}
        self._prints: dict[Container, str] = {}
        for container in reversed(self._containers):
            self._prints[container] = self._print_container(container)
        self._choices: dict[Container, Place] = {}
        for container in self._containers:
            for index, node in enumerate(container.content):
                if isinstance(node, ChoicePoint) and node.target is not None:
                    self._choices[node.target] = (container, index)
        self._alike: dict[tuple[str, str], dict[str, list[Place]]] = {}
        self._tables: dict[tuple[str, str, str | None], dict[str, Place | None]] = {}
        self._unique: dict[tuple[str, Place], tuple[str, ...]] = {}
        self.written: dict[tuple[str, bool], str | None] = {}

    def knot(self, container: Container) -> str:
        """The knot or stitch of a container."""
        return self._knots[container]

    # Finding

    def unique_names(self, kind: str, place: Place) -> tuple[str, ...]:
        """The names that only this place has, most tolerant last; () when it cannot be told from others."""
        key = (kind, place)
        if key not in self._unique:
            table = self._table(kind, self._knots[place[0]], self._beginning(kind, place))
            self._unique[key] = tuple(name for name in self._names(kind, place) if table.get(name) == place)
        return self._unique[key]

    def find(self, kind: str, knot: str, names: tuple[str, ...]) -> Place | None:
        """The one place that has one of these names."""
        table = self._table(kind, knot, None)
        for name in names:
            place = table.get(name)
            if place is not None:
                return place
        return None

    def prepare(self) -> None:
        """Does beforehand what takes long in large knots, so that finding a name is quick from then on."""
        large = [knot for knot, parts in self._of_knot.items() if sum(len(one.content) for one in parts) > _LARGE_KNOT]
        for kind in _KINDS:
            for knot in large:
                for beginning, places in self._places_alike(kind, knot).items():
                    if len(places) > _MANY_ALIKE:
                        self._table(kind, knot, beginning)

    def _table(self, kind: str, knot: str, beginning: str | None) -> dict[str, Place | None]:
        """All names of one kind in a knot, of places that begin so (None: of all); a name of two leads to None."""
        key = (kind, knot, beginning)
        if key not in self._tables:
            table: dict[str, Place | None] = {}
            alike = self._places(kind, knot) if beginning is None else self._places_alike(kind, knot)[beginning]
            for place in alike:
                for name in self._names(kind, place):
                    table[name] = place if table.get(name, place) == place else None
            self._tables[key] = table
        return self._tables[key]

    def _places_alike(self, kind: str, knot: str) -> dict[str, list[Place]]:
        """The places of a knot by how they begin: only those of one beginning can have a name in common."""
        if (kind, knot) not in self._alike:
            alike: dict[str, list[Place]] = {}
            for place in self._places(kind, knot):
                alike.setdefault(self._beginning(kind, place), []).append(place)
            self._alike[(kind, knot)] = alike
        return self._alike[(kind, knot)]

    def _beginning(self, kind: str, place: Place) -> str:
        """What a place's own text begins with, short enough to be worked out for every place of a story."""
        return self._own(kind, place, _SHORT_LINE)[0]

    def _places(self, kind: str, knot: str) -> Iterator[Place]:
        for container in self._of_knot.get(knot, ()):
            if kind == "container":
                yield container, -1
                continue
            for index, node in enumerate(container.content):
                if kind == "position" or isinstance(node, ChoicePoint):
                    yield container, index

    def _names(self, kind: str, place: Place) -> Names:
        own, more = self._own(kind, place, _LONGEST_LINE)
        around = self._around(place[0])
        return _digest(kind, around, own, more), _digest(kind, around, own), _digest(kind, own)

    def _own(self, kind: str, place: Place, longest: int) -> tuple[str, str]:
        """A place's own text, from a line no more than its first pieces, and what follows it."""
        container, index = place
        if kind == "choice":
            return self._choice_names(container, index)
        if kind == "position":
            return self._position_names(container, index, longest)
        if container in self._choices:
            return self._choice_names(*self._choices[container])
        if is_label(container.name):
            return f"label {container.name}", ""
        if _WEAVE_POINT.fullmatch(container.name or ""):
            return self._line_print(container, 0, longest), self._prints[container]
        return f"part {container.name or ''} {self._prints[container]}", ""

    def _choice_names(self, container: Container, index: int) -> tuple[str, str]:
        node = container.content[index]
        assert isinstance(node, ChoicePoint)
        following = "" if node.target is None else self._prints[node.target]
        return self._choice_print(container, index), following

    def _position_names(self, container: Container, index: int, longest: int) -> tuple[str, str]:
        """A line is named by its text; a call, to which the story returns, by what it calls."""
        node = container.content[index]
        if isinstance(node, Divert) and (node.pushes is not None or node.op == Op.EXTERNAL):
            return f"call {self._print(node)}", self._line_print(container, index + 1, longest)
        return self._line_print(container, index, longest), f"{self._prints[container]} {index}"

    def _around(self, container: Container) -> str:
        """The labels and choices that a place is nested in."""
        if container not in self._arounds:
            self._arounds[container] = self._marks_around(container)
        return self._arounds[container]

    def _marks_around(self, container: Container) -> str:
        marks: list[str] = []
        knot = self._knots[container]
        here: Container | None = container.parent if container in self._choices else container
        while here is not None and here.parent is not None and here.path != knot:
            if is_label(here.name):
                marks.append(f"label {here.name}")
            elif here in self._choices:
                marks.append(self._choice_print(*self._choices[here]))
            here = here.parent
        return _digest(*marks)

    # Fingerprints

    def _choice_print(self, container: Container, index: int) -> str:
        """What makes a choice this choice: its text and its condition."""
        place = (container, index)
        if place not in self._choice_prints:
            self._choice_prints[place] = self._print_choice(container, index)
        return self._choice_prints[place]

    def _print_choice(self, container: Container, index: int) -> str:
        start = _choice_start(container, index)
        parts = [self._print(node) for node in container.content[start : index + 1]]
        inner = container.named.get("s")
        if inner is not None:
            parts.append(self._prints[inner])
        return _digest(*parts)

    def _line_print(self, container: Container, index: int, longest: int) -> str:
        """What the reader sees next from here: the line that follows, through diverts and out of containers."""
        parts: list[str] = []
        seen_text = False
        here: Container | None = container
        for _ in range(longest):
            while here is not None and index >= len(here.content):
                index = here.index + 1
                here = here.parent if index > 0 else None
            if here is None:
                break
            node = here.content[index]
            part, role = self._steps.get(id(node)) or self._step(here, index)
            index += 1
            if role == _NEWLINE and seen_text:
                break
            parts.append(part)
            if role == _LAST:
                break
            if role == _JUMP:
                assert isinstance(node, Divert)
                here, index = node.container, node.index
            elif role == _VISIBLE:
                seen_text = True
        return _digest(*parts)

    def _step(self, container: Container, index: int) -> tuple[str, int]:
        """What a piece of content adds to the line it stands in, and what it is to it."""
        node = container.content[index]
        if isinstance(node, Divert) and self._is_inner_jump(node):
            step = ("->", _JUMP)
        elif isinstance(node, ChoicePoint):
            step = (self._choice_print(container, index), _LAST)
        else:
            step = (self._print(node), _role(node))
        # By identity: all pieces live as long as the story does, and those that places share add the same everywhere.
        self._steps[id(node)] = step
        return step

    def _is_inner_jump(self, node: Divert) -> bool:
        if node.op != Op.DIVERT or node.conditional or node.pushes is not None or node.container is None:
            return False
        return self._target_name(node.container, node.index) == "."

    def _print_container(self, container: Container) -> str:
        parts = [self._print(node) for node in container.content]
        for name in sorted(container.named):
            child = container.named[name]
            if child.index < 0 and not is_label(name) and not _WEAVE_POINT.fullmatch(name):
                parts.append(f"{name} {self._prints[child]}")
        return _digest(*parts)

    def _print(self, node: Node) -> str:
        if isinstance(node, Container):
            return f"[{self._prints[node]}]"
        if isinstance(node, Text):
            return f"^{node.value}"
        if isinstance(node, (Command, Native)):
            return node.name
        if isinstance(node, Literal):
            return self._print_literal(node)
        if isinstance(node, Divert):
            return self._print_divert(node)
        if isinstance(node, ChoicePoint):
            return f"* {node.flags & ~_ONCE_ONLY}"
        if isinstance(node, ReadVariable):
            return f"VAR? {node.name}"
        if isinstance(node, ReadCountOf):
            return f"CNT? {'' if node.container is None else self._target_name(node.container, -1)}"
        if isinstance(node, Assign):
            return f"= {node.name} {node.is_global} {node.declares}"
        return "<>"

    def _print_literal(self, node: Literal) -> str:
        if isinstance(node.value, DivertTarget):
            place = self._content.place(node.value.path)
            return "^-> " + ("" if place is None else self._target_name(*place))
        return write_json(write_value(node.value))

    def _print_divert(self, node: Divert) -> str:
        target = node.target
        if node.op == Op.DIVERT:
            target = "" if node.container is None else self._target_name(node.container, node.index)
        return f"{node.key} {target} {node.conditional} {node.arguments}"

    def _target_name(self, container: Container, index: int) -> str:
        """A target as the author would name it; "." for one inside the weave."""
        if index <= 0 and is_label(container.name):
            return container.path if container.path == self._knots[container] else f"label {container.name}"
        return "."


def _choice_start(container: Container, index: int) -> int:
    """Where the evaluation of a choice's text and condition starts."""
    depth = 0
    for start in range(index - 1, -1, -1):
        op = container.content[start].op
        if op == Op.EVAL_END:
            depth += 1
        elif op == Op.EVAL_START:
            depth -= 1
            if depth <= 0:
                return start if depth == 0 else index
        elif depth == 0:
            return index
    return index


def _role(node: Node) -> int:
    if isinstance(node, Text):
        if node.is_newline:
            return _NEWLINE
        return _VISIBLE if node.is_visible else _PLAIN
    return _LAST if _ends_line(node) else _PLAIN


def _ends_line(node: Node) -> bool:
    if isinstance(node, Container):
        return any(isinstance(child, ChoicePoint) for child in node.content)
    if isinstance(node, Divert):
        return node.op != Op.EXTERNAL and not node.conditional and node.pushes is None
    return node.op in (Op.CHOICE, Op.DONE, Op.END, Op.POP_FUNCTION, Op.POP_TUNNEL)


def _all_containers(root: Container) -> Iterator[Container]:
    """Every container, parents before children."""
    todo = [root]
    while todo:
        container = todo.pop()
        yield container
        children = {id(node): node for node in container.content if isinstance(node, Container)}
        children |= {id(child): child for child in container.named.values()}
        todo.extend(children.values())


def _digest(*parts: str) -> str:
    text = "\0".join(parts)
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=5).hexdigest()
