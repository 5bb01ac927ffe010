"""The feeds of one process: the newest events of each topic, which followers read at their own pace."""

from __future__ import annotations

import asyncio
import secrets
from bisect import bisect_right
from collections import OrderedDict, deque
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Generic, TypeVar

from fabula.ports.feeds import FeedEntry

E = TypeVar("E")

KEPT_PER_TOPIC = 256
TOPICS_KEPT = 2048


@dataclass(kw_only=True, eq=False)
class _Topic(Generic[E]):
    """`dropped` is the number of the newest event that is no longer kept."""

    dropped: int
    events: deque[tuple[int, E]] = field(default_factory=deque)


class LocalFeeds(Generic[E]):
    """Events are numbered over all topics. An id is the number behind a word that is new in every process."""

    def __init__(self, *, kept_per_topic: int = KEPT_PER_TOPIC, topics_kept: int = TOPICS_KEPT) -> None:
        self._kept, self._most_topics = kept_per_topic, topics_kept
        self._epoch = secrets.token_hex(6)
        self._number = 0
        self._forgotten = 0
        self._topics: OrderedDict[str, _Topic[E]] = OrderedDict()
        # A dict keeps the order, and lets go of one among very many at once.
        self._waiting: dict[str, dict[asyncio.Future[None], None]] = {}
        self._closed = False

    def publish(self, topic: str, event: E) -> None:
        self._number += 1
        found = self._topics.setdefault(topic, _Topic(dropped=self._forgotten))
        self._topics.move_to_end(topic)
        found.events.append((self._number, event))
        if len(found.events) > self._kept:
            found.dropped = found.events.popleft()[0]
        if len(self._topics) > self._most_topics:
            _, oldest = self._topics.popitem(last=False)
            self._forgotten = max(self._forgotten, oldest.events[-1][0])
        self._wake(topic)

    async def follow(self, topic: str, after: str = "") -> AsyncGenerator[FeedEntry[E], None]:
        place = self._place(after)
        while not self._closed:
            if place is None or place < self._missed_up_to(topic):
                place = self._number
                yield FeedEntry(id=self._id(place), event=None)
                continue
            news = self._since(topic, place)
            if not news:
                await self._news_of(topic)
                continue
            place, event = news
            yield FeedEntry(id=self._id(place), event=event)

    def break_off(self) -> None:
        """Events of other processes may have been missed up to now."""
        self._number += 1
        self._forgotten = self._number
        for found in self._topics.values():
            found.dropped, found.events = self._number, deque()
        for topic in [*self._waiting]:
            self._wake(topic)

    async def close(self) -> None:
        self._closed = True
        for topic in [*self._waiting]:
            self._wake(topic)

    def _missed_up_to(self, topic: str) -> int:
        found = self._topics.get(topic)
        return self._forgotten if found is None else found.dropped

    def _since(self, topic: str, place: int) -> tuple[int, E] | None:
        found = self._topics.get(topic)
        if found is None:
            return None
        at = bisect_right(found.events, place, key=itemgetter(0))
        return found.events[at] if at < len(found.events) else None

    async def _news_of(self, topic: str) -> None:
        news = asyncio.get_running_loop().create_future()
        waiting = self._waiting.setdefault(topic, {})
        waiting[news] = None
        try:
            await news
        finally:
            waiting.pop(news, None)
            if not waiting and self._waiting.get(topic) is waiting:
                del self._waiting[topic]

    def _wake(self, topic: str) -> None:
        for follower in self._waiting.pop(topic, {}):
            if not follower.done():
                follower.set_result(None)

    def _id(self, number: int) -> str:
        return f"{self._epoch}.{number}"

    def _place(self, id: str) -> int | None:
        """The number in an id that this process gave."""
        epoch, _, number = id.partition(".")
        if epoch != self._epoch or not number.isdecimal() or len(number) > 18:
            return None
        return min(int(number), self._number)
