"""The compiled story while it is built: containers and the few objects in them that point elsewhere.

Everything that points nowhere (text, commands, numbers, names of variables) is already the JSON value that it will be.
Names follow the reference's runtime: `c-0` is the first choice of a weave, `g-0` its first unnamed gather.
"""

from dataclasses import dataclass, field


@dataclass(slots=True, eq=False)
class Container:
    """A list of content, with named parts that are only reached by a divert."""

    name: str | None = None
    content: "list[Item]" = field(default_factory=list)
    named: "dict[str, Container]" = field(default_factory=dict)
    visits: bool = False
    turns: bool = False
    start_only: bool = False
    path: tuple[str, ...] = ()

    def add(self, item: "Item") -> None:
        self.content.append(item)

    def add_named(self, child: "Container") -> None:
        """A named container that flow steps into."""
        self.content.append(child)
        self.named[child.name or ""] = child

    def keep(self, child: "Container") -> None:
        """A named container that flow reaches only by a divert."""
        self.named[child.name or ""] = child

    def absorb(self, child: "Container") -> None:
        """Take in a child as it is, or only its content where nothing needs the child itself."""
        if child.named or child.name is not None:
            self.content.append(child)
        else:
            self.content.extend(child.content)

    def take_apart(self) -> None:
        """Lets go of all that is in here."""
        waiting = [self]
        while waiting:
            one = waiting.pop()
            waiting += [item for item in one.content if isinstance(item, Container)]
            waiting += one.named.values()
            one.content, one.named = [], {}

    @property
    def flags(self) -> int:
        counted = (1 if self.visits else 0) | (2 if self.turns else 0)
        return counted | (4 if self.start_only else 0) if counted else 0


@dataclass(slots=True, eq=False)
class Nop:
    """A point to come back to."""

    path: tuple[str, ...] = ()


@dataclass(slots=True, eq=False)
class Divert:
    """A jump: to a container or point, or to wherever a variable points."""

    target: Container | Nop | None = None
    variable: str | None = None
    external: str | None = None
    key: str = "->"
    conditional: bool = False
    arguments: int = 0
    path: tuple[str, ...] = ()


@dataclass(slots=True, eq=False)
class ChoicePoint:
    target: Container
    flags: int
    path: tuple[str, ...] = ()


@dataclass(slots=True, eq=False)
class TargetValue:
    """A place as a value: `-> knot` in an expression."""

    target: Container


@dataclass(slots=True, eq=False)
class ReadCount:
    target: Container
    path: tuple[str, ...] = ()


Json = str | int | float | bool | None | dict[str, "Json"] | list["Json"]
Plain = str | int | float | bool | dict[str, Json] | Nop | Divert | ChoicePoint | TargetValue | ReadCount
Item = Plain | Container
