"""How much the states of NPCs weigh in memory, and the events that wait for them.

A game sends a state for each NPC, and all of them stay as long as it does. An event stays until its turn is over.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Final

from fabula.ports.actors import Actor

HEAVIEST: Final = 64 * 1024 * 1024
_PER_OBJECT: Final = 1_000
_PER_WIDE_LETTER: Final = 4
_PER_VALUE: Final = 60


def weight_of(frame: str | bytes) -> int:
    """About how many bytes of memory the values of a frame take; far more than it has itself if they are small."""
    text = frame if isinstance(frame, str) else frame.decode("utf-8", "replace")
    letter = 1 if text.isascii() and "\\u" not in text else _PER_WIDE_LETTER
    return letter * len(text) + _PER_VALUE * text.count(",") + _PER_OBJECT * text.count("{")


class StateBudget:
    """What the states, or the events, of each token's games weigh together, over all of its connections."""

    def __init__(self, *, heaviest: int = HEAVIEST) -> None:
        self._heaviest = heaviest
        self._held: Counter[str] = Counter()

    def add(self, owner: str, weight: int) -> bool:
        """Whether so much more may be held; then it is."""
        if weight > 0 and not self.has_room(owner, weight):
            return False
        self.change(owner, weight)
        return True

    def has_room(self, owner: str, weight: int) -> bool:
        return self._held[owner] + weight <= self._heaviest

    def change(self, owner: str, by: int) -> None:
        """So much more is held, or less."""
        self._held[owner] += by
        if not self._held[owner]:
            del self._held[owner]


class HeldStates:
    """The states that one connection holds: the last one of each NPC. `actor` says whose connection it is by now."""

    def __init__(self, budget: StateBudget, actor: Callable[[], Actor | None]) -> None:
        self._budget, self._actor = budget, actor
        self._weights: dict[str, int] = {}

    def take(self, agent_id: str, weight: int) -> bool:
        """Whether an NPC's new state may take the place of its last one; then it does."""
        if not self._budget.add(self._owner(), weight - self._weights.get(agent_id, 0)):
            return False
        self._weights[agent_id] = weight
        return True

    def let_go(self) -> None:
        """The connection is gone, and its states with it."""
        self._budget.add(self._owner(), -sum(self._weights.values()))
        self._weights.clear()

    def _owner(self) -> str:
        actor = self._actor()
        return "" if actor is None or actor.token_id is None else actor.token_id


class WaitingEvents:
    """The events that wait for the NPCs of one connection, among those of its token. Nobody counts for the operator."""

    def __init__(self, budget: StateBudget, actor: Actor) -> None:
        self._budget, self._owner = budget, actor.token_id

    def has_room(self, weight: int) -> bool:
        return self._owner is None or self._budget.has_room(self._owner, weight)

    def change(self, by: int) -> None:
        if self._owner is not None:
            self._budget.change(self._owner, by)
