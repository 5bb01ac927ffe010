"""Ink lists: sets of named items with numbers, and the definitions they come from.

An `InkList` never changes; every operation gives a new one. Items keep the order in which they were put in, because
LIST_RANDOM of the reference depends on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from fabula.ink.runtime.arithmetic import INT_MAX

Item = tuple[str | None, str]
"""The name of the list an item comes from (None when unknown), and its own name."""


def item_name(item: Item) -> str:
    """An item's full name.

    >>> item_name(("Colours", "red"))
    'Colours.red'
    """
    return f"{item[0] if item[0] is not None else '?'}.{item[1]}"


def parse_item(full_name: str) -> Item:
    """The item behind a full name.

    >>> parse_item("Colours.red")
    ('Colours', 'red')
    """
    origin, dot, name = full_name.partition(".")
    if not dot:
        return None, full_name
    return (None if origin == "?" else origin), name


class InkList:
    """A set of list items with their numbers.

    >>> colours = InkList({("Colours", "red"): 1, ("Colours", "blue"): 2})
    >>> str(colours), len(colours), ("Colours", "red") in colours
    ('red, blue', 2, True)
    """

    __slots__ = ("_initial_origins", "items")

    items: Mapping[Item, int]

    def __init__(self, items: Mapping[Item, int] | None = None, origins: Iterable[str] | None = None) -> None:
        self.items = items if items is not None else {}
        self._initial_origins = None if origins is None else tuple(origins)

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[Item]:
        return iter(self.items)

    def __contains__(self, item: object) -> bool:
        return item in self.items

    def __eq__(self, other: object) -> bool:
        return isinstance(other, InkList) and self.items.keys() == other.items.keys()

    def __hash__(self) -> int:
        return hash(frozenset(self.items))

    def __str__(self) -> str:
        return ", ".join(name for (_, name), _ in self.ordered())

    def __repr__(self) -> str:
        return f"InkList({', '.join(item_name(item) for item, _ in self.ordered())})"

    @property
    def origins(self) -> tuple[str, ...] | None:
        """The names of the definitions this list belongs to; an empty list remembers them."""
        if not self.items:
            return self._initial_origins
        return tuple(dict.fromkeys(origin for origin, _ in self.items if origin is not None))

    def ordered(self) -> list[tuple[Item, int]]:
        """Items by number, then by the name of their list."""
        return sorted(self.items.items(), key=_print_order)

    def max_item(self) -> tuple[Item, int] | None:
        """The first item with the greatest number."""
        return max(self.items.items(), key=lambda pair: pair[1], default=None)

    def min_item(self) -> tuple[Item, int] | None:
        """The first item with the smallest number."""
        return min(self.items.items(), key=lambda pair: pair[1], default=None)

    def max_value(self) -> int:
        """The greatest number, 0 when empty."""
        return max(self.items.values(), default=0)

    def min_value(self) -> int:
        """The smallest number, 0 when empty."""
        return min(self.items.values(), default=0)

    def union(self, other: InkList) -> InkList:
        """All items of both."""
        return InkList({**self.items, **other.items}, self.origins)

    def without(self, other: InkList) -> InkList:
        """Items of this list that the other does not have."""
        return InkList({item: number for item, number in self.items.items() if item not in other.items}, self.origins)

    def intersect(self, other: InkList) -> InkList:
        """Items of this list that the other has, too."""
        return InkList({item: number for item, number in self.items.items() if item in other.items})

    def contains(self, other: InkList) -> bool:
        """Whether every item of a non-empty other list is here."""
        return bool(self.items) and bool(other.items) and other.items.keys() <= self.items.keys()

    def greater(self, other: InkList) -> bool:
        """Whether the smallest here is above the greatest there."""
        if not self.items or not other.items:
            return bool(self.items)
        return self.min_value() > other.max_value()

    def greater_or_equal(self, other: InkList) -> bool:
        """Whether both ends here are at or above both ends there."""
        if not self.items or not other.items:
            return bool(self.items)
        return self.min_value() >= other.min_value() and self.max_value() >= other.max_value()

    def less(self, other: InkList) -> bool:
        """Whether the greatest here is below the smallest there."""
        if not self.items or not other.items:
            return bool(other.items)
        return self.max_value() < other.min_value()

    def less_or_equal(self, other: InkList) -> bool:
        """Whether both ends here are at or below both ends there."""
        if not self.items or not other.items:
            return bool(other.items)
        return self.max_value() <= other.max_value() and self.min_value() <= other.min_value()

    def max_as_list(self) -> InkList:
        """Only the greatest item."""
        return _single(self.max_item())

    def min_as_list(self) -> InkList:
        """Only the smallest item."""
        return _single(self.min_item())

    def sub_range(self, low: object, high: object) -> InkList:
        """Items between two bounds, each a number or a list."""
        if not self.items:
            return InkList()
        bottom, top = 0, INT_MAX
        if type(low) is int:
            bottom = low
        elif isinstance(low, InkList) and low.items:
            bottom = low.min_value()
        if type(high) is int:
            top = high
        elif isinstance(high, InkList) and high.items:
            top = high.max_value()
        return InkList({item: number for item, number in self.ordered() if bottom <= number <= top}, self.origins)


def _print_order(pair: tuple[Item, int]) -> tuple[int, str, str]:
    (origin, _), number = pair
    return number, (origin or "").casefold(), (origin or "").swapcase()


def _single(pair: tuple[Item, int] | None) -> InkList:
    return InkList() if pair is None else InkList({pair[0]: pair[1]})


@dataclass(frozen=True, kw_only=True, slots=True)
class ListDefinition:
    """A LIST as the author declared it: its items and their numbers."""

    name: str
    numbers: Mapping[str, int]
    by_number: Mapping[int, Item] = field(default_factory=dict)

    @staticmethod
    def of(name: str, numbers: Mapping[str, int]) -> ListDefinition:
        """Builds a definition with its look-up by number, where the first item with a number wins."""
        by_number: dict[int, Item] = {}
        for item, number in numbers.items():
            by_number.setdefault(number, (name, item))
        return ListDefinition(name=name, numbers=numbers, by_number=by_number)


class ListDefinitions:
    """All LISTs of a story."""

    __slots__ = ("_singles", "by_name")

    def __init__(self, definitions: Iterable[ListDefinition] = ()) -> None:
        self.by_name = {definition.name: definition for definition in definitions}
        self._singles: dict[str, InkList] = {}
        for definition in self.by_name.values():
            for name, number in definition.numbers.items():
                item: Item = (definition.name, name)
                single = InkList({item: number})
                self._singles[name] = single
                self._singles[item_name(item)] = single

    def single(self, name: str) -> InkList | None:
        """The one-item list that a bare or full item name stands for."""
        return self._singles.get(name)

    def knows(self, item: Item) -> bool:
        """Whether the item is declared."""
        definition = self.by_name.get(item[0] or "")
        return definition is not None and item[1] in definition.numbers

    def everything(self, ink_list: InkList) -> InkList:
        """All items of the lists that this one belongs to."""
        found: dict[Item, int] = {}
        for definition in self._origins(ink_list):
            for name, number in definition.numbers.items():
                found[(definition.name, name)] = number
        return InkList(found)

    def inverse(self, ink_list: InkList) -> InkList:
        """All items of its lists that it does not have."""
        return InkList({i: n for i, n in self.everything(ink_list).items.items() if i not in ink_list.items})

    def shifted(self, ink_list: InkList, targets: Iterable[tuple[Item, int]]) -> InkList:
        """Each item replaced by the one of its list with the given number; numbers without an item vanish."""
        found: dict[Item, int] = {}
        for (origin, _), number in targets:
            definition = self.by_name.get(origin or "")
            moved = definition.by_number.get(number) if definition is not None else None
            if moved is not None:
                found[moved] = number
        return InkList(found)

    def _origins(self, ink_list: InkList) -> list[ListDefinition]:
        return [self.by_name[name] for name in ink_list.origins or () if name in self.by_name]
