"""Seeds that belong together: the same names give the same seed."""

from __future__ import annotations

import hashlib


def derived_seed(seed: int | str, name: str) -> int:
    """The seed of one thing among several; always a positive number of 31 bits."""
    return int.from_bytes(hashlib.sha256(f"{seed}:{name}".encode()).digest()[:4], "big") >> 1
