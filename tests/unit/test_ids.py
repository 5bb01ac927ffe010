"""Ids of the real world: each is new and greater than the one before, whichever thread asks for it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from ulid import ULID

from fabula.adapters.world import UlidIds, ulid_text

THREADS, EACH = 4, 2_000


@pytest.fixture
def hasty_threads() -> Iterator[None]:
    """Threads take turns as often as they can, so that what is not guarded goes wrong soon."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def test_ids_are_unique_and_grow_on_every_thread(hasty_threads: None) -> None:
    ids, start = UlidIds(), Barrier(THREADS)

    def make() -> list[str]:
        start.wait()
        return [ids.new("turn") for _ in range(EACH)]

    with ThreadPoolExecutor(THREADS) as pool:
        made = [each.result() for each in [pool.submit(make) for _ in range(THREADS)]]
    assert all(one == sorted(one) for one in made)
    assert len({id for one in made for id in one}) == THREADS * EACH


def test_ids_are_written_as_every_reader_of_ulids_reads_them() -> None:
    numbers = [0, 1, 31, 1 << 79, (1 << 128) - 1, 0x0123456789ABCDEF0123456789ABCDEF]
    assert [ulid_text(number) for number in numbers] == [str(ULID.from_int(number)) for number in numbers]
    made = UlidIds().new("turn")
    assert str(ULID.from_str(made.removeprefix("turn_"))) == made.removeprefix("turn_")
