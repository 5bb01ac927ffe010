"""The reference's random numbers: the subtractive generator of .NET's seeded System.Random.

Stories that call SEED_RANDOM, and every shuffle, depend on this exact sequence.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from fabula.ink.runtime.arithmetic import INT_MAX, INT_MIN, int32

_SEED_BASE = 161803398


def random_numbers(seed: int) -> Iterator[int]:
    """The endless sequence that `new System.Random(seed).Next()` gives.

    >>> numbers = random_numbers(0)
    >>> next(numbers), next(numbers)
    (1559595546, 1755192844)
    """
    table = list(_seeded_table(seed))
    slow, fast = 0, 21
    while True:
        slow = slow + 1 if slow < 55 else 1
        fast = fast + 1 if fast < 55 else 1
        number = int32(table[slow] - table[fast])
        if number == INT_MAX:
            number -= 1
        if number < 0:
            number = int32(number + INT_MAX)
        table[slow] = number
        yield number


@lru_cache(maxsize=256)
def first_random(seed: int) -> int:
    """The first number of the sequence for a seed.

    >>> first_random(0)
    1559595546
    """
    return next(random_numbers(seed))


@lru_cache(maxsize=256)
def _seeded_table(seed: int) -> tuple[int, ...]:
    spread = INT_MAX if seed == INT_MIN else abs(seed)
    table = [0] * 56
    previous = _SEED_BASE - spread
    table[55] = previous
    current = 1
    for step in range(1, 55):
        slot = (21 * step) % 55
        table[slot] = current
        current = int32(previous - current)
        if current < 0:
            current = int32(current + INT_MAX)
        previous = table[slot]
    for _ in range(4):
        _stir(table)
    return tuple(table)


def _stir(table: list[int]) -> None:
    for slot in range(1, 56):
        other = slot + 30
        if other >= 55:
            other -= 55
        mixed = int32(table[slot] - table[1 + other])
        table[slot] = int32(mixed + INT_MAX) if mixed < 0 else mixed
