"""Covers in the sizes that pages show, kept by the content of the picture: the same bytes give the same thumbnail."""

from __future__ import annotations

import asyncio
from typing import Final

from cachetools import LRUCache

from fabula.formats.images import fit_within
from fabula.ports.threads import run_in_thread

SIDES: Final = (96, 320, 960)
MOST_KEPT_BYTES: Final = 16 * 1024 * 1024


class SizedCovers:
    """Thumbnails that were asked for lately. `one_at_a_time`: a picture takes far more memory than its bytes."""

    def __init__(self) -> None:
        self.one_at_a_time = asyncio.Lock()
        self._kept: LRUCache[tuple[str, int], bytes] = LRUCache(MOST_KEPT_BYTES, getsizeof=len)

    def kept(self, blob: str, side: int) -> bytes | None:
        """The thumbnail of a picture, if it was made lately."""
        return self._kept.get((blob, side))

    async def make(self, blob: str, data: bytes, side: int) -> bytes | None:
        """The thumbnail of a picture; None where the picture does not decode."""
        async with self.one_at_a_time:
            if (made := self.kept(blob, side)) is not None:
                return made
            small = await run_in_thread(fit_within, data, side)
        if small is not None and len(small) <= MOST_KEPT_BYTES:
            self._kept[(blob, side)] = small
        return small
