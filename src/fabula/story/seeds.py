"""Seeds that belong together: the same names give the same seed."""

from __future__ import annotations

import hashlib

FIRST_RANDOM_SEED = 2**31
"""Seeds from here on were drawn by lot: nobody can have asked a model with them before. Given seeds are smaller."""


def derived_seed(seed: int | str, name: str) -> int:
    """The seed of one thing among several; always a positive number of 31 bits."""
    return int.from_bytes(hashlib.sha256(f"{seed}:{name}".encode()).digest()[:4], "big") >> 1
