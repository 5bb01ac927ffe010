"""How much a game may send: a bucket that fills steadily, so that short bursts pass and floods do not.

Frames are counted for each connection, and for each token, which may have many. What the store has to write for them is
counted for each token, too: a frame of a few bytes may be written for a thousand NPCs.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Final

from fabula.ports.actors import Actor
from fabula.ports.throttle import Throttle

FRAMES_PER_SECOND = 60
FRAME_BYTES = 32 * 1024
"""What is larger counts as several frames."""
COMPLAINT_EVERY_S = 1.0
TOKEN_FRAMES_PER_SECOND: Final = 300
MOST_FRAMES_AT_ONCE: Final = 600
TOKEN_FRAME_BYTES: Final = 8 * 1024
ENTRIES_PER_SECOND: Final = 200
MOST_ENTRIES_AT_ONCE: Final = 2_000
"""All of a thousand NPCs may notice something, and soon something else."""
ENTRY_BYTES: Final = 4 * 1024
"""What is larger counts as several entries."""
ENTRIES_OF_BOUNDARIES: Final = 20
"""Making the words of boundaries ready to be looked for takes far longer than writing something down."""
RESUMES_PER_SECOND: Final = 2
"""An earlier connection may have left two hundred turns. All games of a token may come back at once, as after a cut."""
_REMEMBERED_TOKENS: Final = 1024


class Pace:
    """Counts frames. Of a flood, one frame a second is answered with a complaint; the others are passed over."""

    def __init__(
        self, monotonic: Callable[[], float], *, per_second: int = FRAMES_PER_SECOND, at_once: int | None = None
    ) -> None:
        self._monotonic, self._rate = monotonic, float(per_second)
        self._most = self._rate if at_once is None else float(at_once)
        self._left, self._at = self._most, monotonic()
        self._complaints = Throttle(monotonic, 1, every_s=COMPLAINT_EVERY_S)

    def allows(self, size: int = 0) -> bool:
        """Whether one more frame of so many bytes may be read now."""
        return self.takes(1 + size // FRAME_BYTES)

    def takes(self, cost: int) -> bool:
        """Whether so many of what is counted may come now."""
        now = self._monotonic()
        self._left = min(self._most, self._left + (now - self._at) * self._rate)
        self._at = now
        if self._left < cost:
            return False
        self._left -= cost
        return True

    def complains(self) -> bool:
        """Whether it is time to say that there are too many."""
        return self._complaints.allows()


class TokenPaces:
    """How much comes from the games of each token, over all of its connections. Nobody counts for the operator and for
    admins. What is larger than `bytes_each` counts as several."""

    def __init__(self, monotonic: Callable[[], float], *, per_second: int, at_once: int, bytes_each: int) -> None:
        self._monotonic = monotonic
        self._per_second, self._at_once, self._bytes_each = per_second, at_once, bytes_each
        self._paces: OrderedDict[str, Pace] = OrderedDict()

    def allows(self, actor: Actor, count: int, size: int) -> bool:
        """Whether so many, each of so many bytes, may come from this caller now."""
        if actor.token_id is None or actor.may_act_as("admin"):
            return True
        pace = self._paces.pop(actor.token_id, None) or Pace(
            self._monotonic, per_second=self._per_second, at_once=self._at_once
        )
        self._paces[actor.token_id] = pace
        if len(self._paces) > _REMEMBERED_TOKENS:
            self._paces.popitem(last=False)
        return pace.takes(count * (1 + size // self._bytes_each))


class GamePaces:
    """What is counted for the games of each token: frames that are read, entries that are written for them, and
    earlier connections that they resume. `most_open` is how many connections each may have."""

    def __init__(self, monotonic: Callable[[], float], *, most_open: int) -> None:
        self.frames = TokenPaces(
            monotonic, per_second=TOKEN_FRAMES_PER_SECOND, at_once=MOST_FRAMES_AT_ONCE, bytes_each=TOKEN_FRAME_BYTES
        )
        self.entries = TokenPaces(
            monotonic, per_second=ENTRIES_PER_SECOND, at_once=MOST_ENTRIES_AT_ONCE, bytes_each=ENTRY_BYTES
        )
        self.resumes = TokenPaces(
            monotonic, per_second=RESUMES_PER_SECOND, at_once=most_open, bytes_each=TOKEN_FRAME_BYTES
        )
