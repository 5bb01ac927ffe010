"""The tree of a play's turns as a shape: what of it one may see, its outline with runs drawn together, and its leaves.

A tree may have tens of thousands of turns, so a place in it is a plain tuple, and everything here passes over the turns
once. An outline has what one looks for in a tree, each turn by itself: where lines begin, fork and end, and what was
marked. What lies between is a run, of which only the ends and the length are told.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from fabula.story.values import Value


class TurnPlace(NamedTuple):
    """A turn, as far as its tree needs it."""

    turn_id: str
    parent_id: str | None
    session_id: str
    kind: str
    status: str


class Placed(Protocol):
    """Anything that has a place in a tree of turns."""

    @property
    def turn_id(self) -> str: ...

    @property
    def parent_id(self) -> str | None: ...

    @property
    def session_id(self) -> str: ...


class TurnRun(Value):
    """Turns in a row that nobody forked from, marked or stands at; `parent_id` is the turn above the first."""

    first_turn_id: str
    last_turn_id: str
    count: int
    parent_id: str | None


@dataclass(frozen=True, kw_only=True)
class Outline:
    """Turns by themselves and runs of others. `left_out` counts those of both that were too far away to be shown."""

    turn_ids: Sequence[str]
    runs: Sequence[TurnRun]
    left_out: int


class TurnTree:
    """Turns by what is above and below them; children stand in the order in which the turns were given."""

    def __init__(self, turns: Iterable[Placed]) -> None:
        self.parents: dict[str, str | None] = {turn.turn_id: turn.parent_id for turn in turns}
        self.children: dict[str, list[str]] = {turn_id: [] for turn_id in self.parents}
        self.roots: list[str] = []
        for turn_id, parent_id in self.parents.items():
            beside = None if parent_id is None else self.children.get(parent_id)
            (self.roots if beside is None else beside).append(turn_id)
        self._break_circles()

    def downwards(self) -> list[str]:
        """Every turn, each after the one above it."""
        return self._below(self.roots)

    def _below(self, turn_ids: Sequence[str]) -> list[str]:
        found = list(turn_ids)
        for turn_id in found:
            found += self.children[turn_id]
        return found

    def _break_circles(self) -> None:
        """Where a damaged tree leads round in a circle, the first turn of it has nothing above it: walks would not
        end."""
        found = set(self.downwards())
        for turn_id, parent_id in self.parents.items():
            if turn_id not in found and parent_id is not None:
                self.parents[turn_id] = None
                self.children[parent_id].remove(turn_id)
                self.roots.append(turn_id)
                found.update(self._below([turn_id]))


def reached(turns: Sequence[Placed], sessions: Collection[str], ends: Iterable[str]) -> frozenset[str]:
    """The turns that some sessions played or stand at, and all that led there.

    A tree is shared with whoever forked from it, so it may hold turns that are none of the caller's business.
    """
    parents = {turn.turn_id: turn.parent_id for turn in turns}
    found: set[str] = set()
    for start in [*(turn.turn_id for turn in turns if turn.session_id in sessions), *ends]:
        step: str | None = start
        while step in parents and step not in found:
            found.add(step)
            step = parents[step]
    return frozenset(found)


def outline(tree: TurnTree, *, marked: Collection[str], collapse: bool, around: str, limit: int) -> Outline:
    """The tree in at most `limit` items, those nearest to a turn; `marked` turns are never part of a run."""
    items = _items(tree, marked if collapse else tree.parents)
    near = _nearest(items, _item_of(tree, items, around), limit)
    kept = [item for item in items if item.last_turn_id in near]
    return Outline(
        turn_ids=[item.last_turn_id for item in kept if item.is_turn],
        runs=[item.as_run() for item in kept if not item.is_turn],
        left_out=len(items) - len(kept),
    )


def newest_leaves(tree: TurnTree) -> Mapping[str, str]:
    """For each turn the newest end of a line that goes through it: names of turns grow with time."""
    leaves: dict[str, str] = {}
    for turn_id in reversed(tree.downwards()):
        leaves[turn_id] = max((leaves[below] for below in tree.children[turn_id]), default=turn_id)
    return leaves


@dataclass(frozen=True, kw_only=True)
class _Item:
    """A turn by itself, or a run."""

    first_turn_id: str
    last_turn_id: str
    count: int
    parent_id: str | None
    is_turn: bool

    def as_run(self) -> TurnRun:
        return TurnRun(
            first_turn_id=self.first_turn_id,
            last_turn_id=self.last_turn_id,
            count=self.count,
            parent_id=self.parent_id,
        )


def _items(tree: TurnTree, marked: Collection[str]) -> list[_Item]:
    """All turns in items, each after the item above it."""

    def stands_apart(turn_id: str) -> bool:
        above = tree.parents[turn_id]
        if above is None or above not in tree.children:
            return True
        return len(tree.children[turn_id]) != 1 or len(tree.children[above]) != 1 or turn_id in marked

    items: list[_Item] = []
    waiting = list(reversed(tree.roots))
    while waiting:
        first = last = waiting.pop()
        count, is_turn = 1, stands_apart(first)
        while not is_turn and not stands_apart(tree.children[last][0]):
            last, count = tree.children[last][0], count + 1
        above = tree.parents[first]
        # A run of one saves nothing, and hides what was said there.
        is_turn = is_turn or count == 1
        items.append(_Item(first_turn_id=first, last_turn_id=last, count=count, parent_id=above, is_turn=is_turn))
        waiting += reversed(tree.children[last])
    return items


def _item_of(tree: TurnTree, items: Sequence[_Item], turn_id: str) -> str:
    """The last turn of the item that a turn belongs to: what is inside a run has one turn below it."""
    ends = {item.last_turn_id for item in items}
    while turn_id not in ends:
        turn_id = tree.children[turn_id][0]
    return turn_id


def _nearest(items: Sequence[_Item], start: str, limit: int) -> frozenset[str]:
    """The last turns of the items that are the fewest steps away from one of them."""
    above = {item.last_turn_id: item.parent_id for item in items}
    below: dict[str | None, list[str]] = {}
    for item in items:
        below.setdefault(item.parent_id, []).append(item.last_turn_id)
    found, waiting = {start}, deque([start])
    while waiting and len(found) < limit:
        at = waiting.popleft()
        for near in (above[at], *below.get(at, ())):
            if near in above and near not in found and len(found) < limit:
                found.add(near)
                waiting.append(near)
    return frozenset(found)
