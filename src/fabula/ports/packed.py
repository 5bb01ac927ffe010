"""Bytes that are kept packed, and how they are unpacked: with a bound, whoever packed them."""

from __future__ import annotations

import zlib

MOST_GROWTH = 1_032
"""So many times as long as it is packed is a text at most: zlib packs no better."""


def pack_bytes(raw: bytes) -> bytes:
    return zlib.compress(raw, 1)


def unpack_bytes(packed: bytes, *, most: int) -> bytes | None:
    """What was packed; None where that is damaged or longer than `most`, of which no more than that is unpacked.

    A thousandth of a text of blanks is left when it is packed: a row of a megabyte could fill the memory.
    """
    unpacking = zlib.decompressobj()
    try:
        # One byte more than is wanted, by which a text that goes on is told from one that ends here.
        raw = unpacking.decompress(packed, most + 1)
    except zlib.error:
        return None
    return raw if unpacking.eof and len(raw) <= most else None
