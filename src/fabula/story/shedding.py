"""Load shedding: when what follows turns is late, what matters least is left out or done later.

The order is lore, npc, conflict, memory; no work of the kinds npc and conflict follows turns yet. World changes are
never shed: the next prompts are wrong without them.
Pure: the lag is measured elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, kw_only=True)
class Shedding:
    """From which lag of its queue on a kind is shed, and how.

    What is left out is made when it is needed; what is delayed is done when the queue is likely to have caught up.
    """

    from_lag_s: float
    how: Literal["skip", "delay"]


SHED: Mapping[str, Shedding] = {
    "lore": Shedding(from_lag_s=15.0, how="skip"),
    "npc": Shedding(from_lag_s=30.0, how="delay"),
    "conflict": Shedding(from_lag_s=60.0, how="delay"),
    "memory": Shedding(from_lag_s=120.0, how="delay"),
}
"""By kind of follower, in the order in which they are shed. A kind that is not here is never shed."""

SHORTEST_DELAY_S, LONGEST_DELAY_S = 30.0, 300.0


@dataclass(frozen=True, kw_only=True)
class Shed:
    """What becomes of a follower under load: nothing is done, or it is due so much later."""

    how: Literal["skip", "delay"]
    delay_s: float = 0.0


def shed(kind: str, lag_s: float) -> Shed | None:
    """What becomes of a follower of this kind while its queue is so late; None when it is done as always."""
    rule = SHED.get(kind)
    if rule is None or lag_s < rule.from_lag_s:
        return None
    if rule.how == "skip":
        return Shed(how="skip")
    return Shed(how="delay", delay_s=min(LONGEST_DELAY_S, max(SHORTEST_DELAY_S, 2 * lag_s)))
