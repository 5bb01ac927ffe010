"""Mood and fading, both on story time: worked out from what was lived through, and never stored.

So they are what they were when somebody goes back, and another branch has its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

DAY: Final = 24 * 60
MOOD_HALF_LIFE: Final = 6 * 60
"""After so many minutes of the story something felt counts half as much for the mood."""
INERTIA: Final = 1.0
"""As much as one fresh feeling: nobody's mood turns whole at a word."""
LIFETIMES: Final = {1: 30 * DAY, 2: 120 * DAY, 3: 365 * DAY}
"""How long memories last by their importance; those that matter more never fade."""


def mood_of(felt: Iterable[tuple[int, float]], minute: int) -> float:
    """How somebody feels now, from -1 to 1, after what they felt when (story minute, valence)."""
    total, weights = 0.0, INERTIA
    for when, valence in felt:
        weight = 0.5 ** (max(0, minute - when) / MOOD_HALF_LIFE) * abs(valence)
        total, weights = total + weight * valence, weights + weight
    return round(total / weights, 3)


def fidelity_at(minute: int, *, remembered: int, importance: int, pinned: bool) -> float:
    """How well a memory is kept at a minute of the story, from 1 to 0; pinned ones never fade."""
    lifetime = LIFETIMES.get(importance)
    if pinned or lifetime is None:
        return 1.0
    return max(0.0, 1.0 - max(0, minute - remembered) / lifetime)
