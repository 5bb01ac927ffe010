"""Two hundred sudden deaths."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.functional.test_kills import kill_the_store

pytestmark = pytest.mark.torture


def test_two_hundred_kills_of_a_process_that_writes_through_the_store(tmp_path: Path) -> None:
    tally = kill_the_store(tmp_path, kills=200, seed=200)
    assert tally.kills == 200
    assert len(tally.acknowledged) > 200
    assert tally.lost == set()
