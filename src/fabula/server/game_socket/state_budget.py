"""How much the states of NPCs weigh in memory: a game sends one for each, and all of them stay as long as it does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Final

from fabula.ports.actors import Actor

HEAVIEST: Final = 64 * 1024 * 1024
_PER_OBJECT: Final = 1_000
_PER_VALUE: Final = 60


def weight_of(frame: str | bytes) -> int:
    """About how many bytes of memory the values of a frame take; far more than it has itself if they are small."""
    text = frame if isinstance(frame, str) else frame.decode("utf-8", "replace")
    return len(text) + _PER_VALUE * text.count(",") + _PER_OBJECT * text.count("{")


class StateBudget:
    """What the states of each token's games weigh together, over all of its connections."""

    def __init__(self, *, heaviest: int = HEAVIEST) -> None:
        self._heaviest = heaviest
        self._held: Counter[str] = Counter()

    def add(self, owner: str, weight: int) -> bool:
        """Whether so much more may be held; then it is."""
        if weight > 0 and self._held[owner] + weight > self._heaviest:
            return False
        self._held[owner] += weight
        if not self._held[owner]:
            del self._held[owner]
        return True


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
