"""How often one agent asks its model in one turn: a bound beside deadline and budget, whatever a loop does."""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

from fabula.ports.models import CallOrigin, ModelRefused

MOST_TURNS: Final = 5_000
"""So many turns are counted at once; those that were begun first are forgotten first."""


class TurnCalls:
    """Counts the calls of each agent in each turn, as far as this process makes them. 0 sets no limit."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._made: OrderedDict[tuple[str, str], int] = OrderedDict()

    def count(self, origin: CallOrigin) -> None:
        """Counts a call; raises ModelRefused for one too many."""
        if origin.turn_id is None or not self._most:
            return
        key = (origin.turn_id, origin.agent)
        made = self._made.get(key, 0) + 1
        if made > self._most:
            raise ModelRefused(
                f"The {origin.agent} has asked its model {self._most} times in this turn and may not ask again. "
                "Raise agent_calls_per_turn, or use a model that answers in the asked shape."
            )
        self._made[key] = made
        if len(self._made) > MOST_TURNS:
            self._made.popitem(last=False)
