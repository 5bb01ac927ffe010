"""The requests of the last minute in this process, by their names, and the turns that they began."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from dataclasses import dataclass
from typing import Final

from fabula.ports.plays import Turn

MOST_REMEMBERED: Final = 10_000
MOST_LETTERS: Final = 8 * 2**20
"""So many are remembered, and so many letters of what was asked for with them."""


@dataclass(frozen=True, kw_only=True)
class RecentRequest:
    """`asked` says what for, in so many `letters`; the turn is cancelled where none was begun."""

    until: float
    asked: str
    letters: int
    turn: asyncio.Future[Turn]


class RecentRequests:
    """Bounded by number, by size and by time: those that came first are forgotten first."""

    def __init__(self, *, most: int = MOST_REMEMBERED, most_letters: int = MOST_LETTERS) -> None:
        self._known: OrderedDict[str, RecentRequest] = OrderedDict()
        self._most, self._most_letters, self._letters = most, most_letters, 0

    def __len__(self) -> int:
        return len(self._known)

    def find(self, name: str, now: float) -> RecentRequest | None:
        found = self._known.get(name)
        return found if found is not None and found.until > now and not found.turn.cancelled() else None

    def keep(self, name: str, asked: str, *, letters: int, now: float, for_s: float) -> asyncio.Future[Turn]:
        self._forget(name)
        turn: asyncio.Future[Turn] = asyncio.get_running_loop().create_future()
        self._known[name] = RecentRequest(until=now + for_s, asked=asked, letters=letters, turn=turn)
        self._letters += letters
        while len(self._known) > self._most or self._letters > self._most_letters or self._is_over(now):
            self._forget(next(iter(self._known)))
        return turn

    def _is_over(self, now: float) -> bool:
        """Whether nobody can ask for the first one any more."""
        return bool(self._known) and next(iter(self._known.values())).until <= now

    def _forget(self, name: str) -> None:
        if (gone := self._known.pop(name, None)) is not None:
            self._letters -= gone.letters
