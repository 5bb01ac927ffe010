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
HEARD_KEPT = 16_000_000
"""About the bytes of memory that the events of other processes take here, of all topics together. Ours are small, but
others may have written them."""


@dataclass(kw_only=True, eq=False)
class _Topic(Generic[E]):
    """`dropped` is the number of the newest event that is no longer kept. With each event stands what it weighs; those
    of this process weigh nothing."""

    dropped: int
    events: deque[tuple[int, E, int]] = field(default_factory=deque)


class LocalFeeds(Generic[E]):
    """Events are numbered over all topics. An id is the number behind a word that is new in every process."""

    def __init__(
        self,
        *,
        kept_per_topic: int = KEPT_PER_TOPIC,
        topics_kept: int = TOPICS_KEPT,
        heard_kept: int = HEARD_KEPT,
    ) -> None:
        self._kept, self._most_topics, self._most_heard = kept_per_topic, topics_kept, heard_kept
        self._heard = 0
        self._epoch = secrets.token_hex(6)
        self._number = 0
        self._forgotten = 0
        self._topics: OrderedDict[str, _Topic[E]] = OrderedDict()
        # A dict keeps the order, and lets go of one among very many at once.
        self._waiting: dict[str, dict[asyncio.Future[None], None]] = {}
        self._closed = False

    def publish(self, topic: str, event: E) -> None:
        self._keep(topic, event, weighs=0)

    def expects(self, topic: str) -> bool:
        """Whether somebody here follows a topic, or did so lately and may come back."""
        return topic in self._topics or topic in self._waiting

    def hear(self, topic: str, event: E, *, weighs: int) -> None:
        """An event of another process on a topic that is expected, with about the bytes that it takes here."""
        self._keep(topic, event, weighs=weighs)

    def pass_over(self) -> None:
        """An event of another process was not kept: who comes back to a topic that is no longer known reads anew."""
        self._number += 1
        self._forgotten = self._number

    def _keep(self, topic: str, event: E, *, weighs: int) -> None:
        self._number += 1
        found = self._known(topic)
        found.events.append((self._number, event, weighs))
        self._heard += weighs
        while len(found.events) > self._kept:
            self._drop_first(found)
        while self._heard > self._most_heard:
            # The topic itself is the newest, and loses what it has only when nothing else is left.
            first = next(iter(self._topics.values()))
            if first is found:
                self._drop_first(found)
            else:
                self._forget_oldest()
        self._wake(topic)

    def _known(self, topic: str) -> _Topic[E]:
        """A topic, which is the newest now; another one may be forgotten for it."""
        found = self._topics.setdefault(topic, _Topic(dropped=self._forgotten))
        self._topics.move_to_end(topic)
        if len(self._topics) > self._most_topics:
            self._forget_oldest()
        return found

    def _forget_oldest(self) -> None:
        _, oldest = self._topics.popitem(last=False)
        while oldest.events:
            self._drop_first(oldest)
        self._forgotten = max(self._forgotten, oldest.dropped)

    def _drop_first(self, topic: _Topic[E]) -> None:
        topic.dropped, _, weighs = topic.events.popleft()
        self._heard -= weighs

    async def follow(self, topic: str, after: str = "") -> AsyncGenerator[FeedEntry[E], None]:
        place = self._place(after)
        self._known(topic)
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
        self._heard = 0
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
        return found.events[at][:2] if at < len(found.events) else None

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
