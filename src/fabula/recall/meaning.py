"""Likeness of meaning: static word vectors over a window of a scene, and the known words that are near to a question's.

Vectors are of telling words without names: with them, texts would be alike by who is named. They are kept as bytes, one
per number, behind their length. Numpy is loaded at the first use.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Any

from fabula.ports.embedder import Vector
from fabula.recall.ranking import INHERITED, LENT

LEAST_NEAR = 0.25
MOST_NEAR = 12
_SCALE = struct.Struct("<f")


def packed(vector: Vector, weight: float) -> bytes:
    """A vector as it is kept: each number in a byte. `weight` is what the text counts beside others in a window."""
    import numpy

    values = numpy.asarray(vector, dtype=numpy.float32)
    largest = float(numpy.abs(values).max()) if len(vector) else 0.0
    if not largest:
        return b""
    numbers: bytes = numpy.rint(values * (127 / largest)).astype(numpy.int8).tobytes()
    return _SCALE.pack(weight * largest / 127) + numbers


def window_likeness(
    scenes: Sequence[int], vectors: Sequence[bytes], answers: Sequence[bool], question: Vector
) -> list[float]:
    """How like each candidate is to a question, seen together with its neighbours in the scene; `scenes` has the number
    of each one's scene."""
    import numpy

    if not any(question):
        return []
    own = _unpacked(vectors, len(question))
    of_scene = numpy.array(scenes)
    asked = numpy.array(answers, dtype=bool)
    window = own.copy()
    for step, share in LENT.items():
        if step == 0 or abs(step) >= len(scenes):
            continue
        to, source = (slice(step, None), slice(None, -step)) if step > 0 else (slice(None, step), slice(-step, None))
        shares = numpy.where(of_scene[to] == of_scene[source], share, 0.0).astype(numpy.float32)
        if step == 1:
            shares = numpy.where(asked[to], INHERITED, shares).astype(numpy.float32)
        window[to] += shares[:, None] * own[source]
    lengths = numpy.linalg.norm(window, axis=1)
    lengths[lengths == 0] = 1.0
    found: list[float] = ((window @ numpy.asarray(question, dtype=numpy.float32)) / lengths).tolist()
    return found


def _unpacked(vectors: Sequence[bytes], width: int) -> Any:
    """Kept vectors as rows of a matrix, all at once; one that is missing, or of another embedder, is zero."""
    import numpy

    size = width + _SCALE.size
    nothing = bytes(size)
    joined = b"".join(data if len(data) == size else nothing for data in vectors)
    rows = numpy.frombuffer(joined, dtype=numpy.int8).reshape(len(vectors), size)
    scales = numpy.ascontiguousarray(rows[:, : _SCALE.size]).view("<f4")
    return rows[:, _SCALE.size :].astype(numpy.float32) * scales


def near_words(terms: Mapping[str, Vector], known: Sequence[str], vectors: Any) -> dict[str, dict[str, float]]:
    """For each term of a question the known stems nearest to it; `vectors` are those of `known`, of length one."""
    import numpy

    if not terms or not len(known):
        return {}
    asked = numpy.asarray(list(terms.values()), dtype=numpy.float32)
    found: dict[str, dict[str, float]] = {}
    for term, row in zip(terms, asked @ vectors.T, strict=True):
        best = numpy.flatnonzero(row > LEAST_NEAR)
        best = best[numpy.argsort(-row[best], kind="stable")][: MOST_NEAR + 1]
        found[term] = {known[at]: float(row[at]) for at in best.tolist() if known[at] != term}
    return found
