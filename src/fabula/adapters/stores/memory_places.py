"""Which places of a large past may answer a question: reckoned from the postings of its words alone.

1. Each word lends of what it is worth to the places around it, as the ranking does later, and counts the less
   the more often it is said there.
2. The best places are taken with those around them, as stretches: a memory is understood among its neighbours.

Where memories belong to turns, a turn is one spot, whatever number of memories it left; else each place is one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

PLACES = 1024
"""So many memories of one owner a turn may leave."""
LENT = {0: 1.0, 1: 0.5, -1: 0.4, 2: 0.25, -2: 0.2, 3: 0.1, -3: 0.1}
LENT_BY_TURNS = {0: 1.0, 1: 0.4, -1: 0.3}
SATURATION = 1.5
RARE_SHARE = 8
"""A word that lends to fewer than one in so many spots is weighed there alone; others everywhere, which is quicker."""
LEAST_SHARE = 0.7
"""What a spot is worth at least of what the best one is; others do not come to mind before it."""


@dataclass(frozen=True, kw_only=True)
class Stretch:
    """Places of one space, both ends included."""

    space: int
    first: int
    last: int


def read_places(text: str | None) -> Any:
    """Places that were read as one text: as rows of their own they would cost three times as much."""
    import numpy

    return numpy.fromstring(text or "", dtype=numpy.int64, sep=",")


def concatenated(newer: Any, older: Any) -> Any:
    import numpy

    return numpy.concatenate((newer, older))


@dataclass(frozen=True, kw_only=True)
class Spots:
    """The spots of one space that are worth something, each with its worth."""

    space: int
    numbers: Any
    worth: Any


def weigh_spots(space: int, places: Sequence[Any], rarities: Sequence[float], *, by_turns: bool) -> Spots | None:
    """What each spot of a space is worth, by where each stem stands and how rare it is; None where none does."""
    import numpy

    spots = [numpy.unique(own // PLACES) if by_turns else own for own in places]
    if not any(map(len, spots)):
        return None
    lent = LENT_BY_TURNS if by_turns else LENT
    reach = max(lent)
    # Arrays over all spots between the first and the last one: some are empty, and none has to be looked for.
    start = min(int(own.min()) for own in spots if len(own)) - reach
    size = max(int(own.max()) for own in spots if len(own)) - start + reach + 1
    worth, said = numpy.zeros(size, dtype=numpy.float32), numpy.zeros(size, dtype=numpy.float32)
    for own, rarity in zip(spots, rarities, strict=True):
        if len(own):
            reached = [own + (step - start) for step in lent]
            for places_lent, share in zip(reached, lent.values(), strict=True):
                said[places_lent] += share
            # A rare word counts only where it lends something. A spot that is reached from several places is written
            # several times, with the same number.
            is_rare = len(own) * len(lent) * RARE_SHARE < size
            touched = numpy.concatenate(reached) if is_rare else slice(None)
            counts = said[touched]
            worth[touched] = worth[touched] + rarity * counts / (counts + SATURATION)
            said[touched] = 0
    found = numpy.flatnonzero(worth)
    return Spots(space=space, numbers=found + start, worth=worth[found])


def best_spots(spots: Sequence[Spots], most: int) -> list[tuple[int, int]]:
    """The best (space, spot); of equal ones those of the newest space, and there the newest."""
    import numpy

    if not spots:
        return []
    worth = numpy.concatenate([one.worth for one in spots])
    numbers = numpy.concatenate([one.numbers for one in spots])
    order = numpy.concatenate([numpy.full(len(one.numbers), at) for at, one in enumerate(spots)])
    kept = numpy.flatnonzero(worth >= LEAST_SHARE * worth.max())
    worth, numbers, order = worth[kept], numbers[kept], order[kept]
    if len(worth) > most:
        # All that are as good as the last one: which of them are taken must not depend on how they were parted.
        kept = numpy.flatnonzero(worth >= numpy.partition(worth, -most)[-most])
        worth, numbers, order = worth[kept], numbers[kept], order[kept]
    best = numpy.lexsort((-numbers, -order, -worth))[:most].tolist()
    return [(spots[order[at]].space, int(numbers[at])) for at in best]


def stretches_around(best: Sequence[tuple[int, int]], *, by_turns: bool, around: int) -> list[Stretch]:
    """Spots with so many around them; those that meet are one stretch. Of too many the best ones are taken."""
    found: list[Stretch] = []
    for space in dict.fromkeys(space for space, _ in best):
        first = last = None
        for spot in sorted(spot for number, spot in best if number == space):
            if last is not None and first is not None and spot - around <= last + 1:
                last = spot + around
                continue
            if first is not None and last is not None:
                found.append(_stretch(space, first, last, by_turns))
            first, last = spot - around, spot + around
        if first is not None and last is not None:
            found.append(_stretch(space, first, last, by_turns))
    return found


def _stretch(space: int, first: int, last: int, by_turns: bool) -> Stretch:
    if by_turns:
        return Stretch(space=space, first=first * PLACES, last=(last + 1) * PLACES - 1)
    return Stretch(space=space, first=first, last=last)
