"""A hundred thousand interleavings of everything that can happen to an NPC."""

from __future__ import annotations

import pytest
from tests.floor_world import live_one_life

LIVES = 100_000
SHARES = 20


@pytest.mark.torture
@pytest.mark.parametrize("share", range(SHARES))
def test_no_interleaving_of_many_breaks_a_promise(share: int) -> None:
    for seed in range(10_000 + share * LIVES // SHARES, 10_000 + (share + 1) * LIVES // SHARES):
        try:
            live_one_life(seed)
        except AssertionError as broken:
            raise AssertionError(f"seed {seed}: {broken}") from broken
