"""The requests of the last minute in this process, by their names, and the turns that they began."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from dataclasses import dataclass
from typing import Final

from fabula.ports.plays import Turn

MOST_REMEMBERED: Final = 10_000


@dataclass(frozen=True, kw_only=True)
class RecentRequest:
    """`asked` says what for; the turn is cancelled where none was begun."""

    until: float
    asked: str
    turn: asyncio.Future[Turn]


class RecentRequests:
    """Bounded: those that came first are forgotten first."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, RecentRequest] = OrderedDict()

    def find(self, name: str, now: float) -> RecentRequest | None:
        found = self._known.get(name)
        return found if found is not None and found.until > now and not found.turn.cancelled() else None

    def keep(self, name: str, asked: str, until: float) -> asyncio.Future[Turn]:
        turn: asyncio.Future[Turn] = asyncio.get_running_loop().create_future()
        self._known[name] = RecentRequest(until=until, asked=asked, turn=turn)
        self._known.move_to_end(name)
        while len(self._known) > MOST_REMEMBERED:
            self._known.popitem(last=False)
        return turn
