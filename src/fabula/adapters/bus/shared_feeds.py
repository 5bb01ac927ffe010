"""Feeds that cross processes: what is published is heard here at once, and goes to the others over a channel.

1. `publish` gives the event to the followers in this process, and to one task that sends all that waits in one go, at
   once or, where many events come, twenty times a second.
2. From the first follower on, another task listens to the channel. What this process sent itself it passes over, and
   what is about a topic that nobody follows here.
3. A channel that was lost may have carried events meanwhile: once it is back, all followers are told to read anew.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections import deque
from collections.abc import AsyncGenerator, Callable, Sequence
from typing import Generic, Protocol, TypeVar

import orjson

from fabula.adapters.bus.local_feeds import LocalFeeds
from fabula.adapters.bus.shared import FIRST_RETRY_S, LONGEST_RETRY_S, TransportAway, weight
from fabula.ports.feeds import FeedEntry

E = TypeVar("E")

log = logging.getLogger("fabula.feeds")

MOST_UNSENT = 1024
LONGEST_NOTE = 8_000
"""Events of feeds are hints of some hundred letters. What is far longer was written by others, and is not decoded."""
MOST_AT_ONCE = 64
GATHER_S = 0.05
"""So far apart events are sent to others, where many come: the first of them at once, the others together."""


class Channel(Protocol):
    """What lies between the processes. Everything raises TransportAway; `name` tells an operator which one it is."""

    name: str

    async def send(self, notes: Sequence[str]) -> None:
        """Gives notes to everyone who listens."""
        ...

    async def listen(self, listening: Callable[[], None], heard: Callable[[str], None]) -> None:
        """Hears notes until the channel is lost; calls `listening` once, when nothing is missed any more."""
        ...

    async def close(self) -> None: ...


class SharedFeeds(Generic[E]):
    """Keeps the law of `fabula.ports.feeds.Feeds` over a channel."""

    def __init__(self, channel: Channel, *, encode: Callable[[E], bytes], decode: Callable[[bytes], E]) -> None:
        self._channel, self._encode, self._decode = channel, encode, decode
        self._local: LocalFeeds[E] = LocalFeeds()
        self._me = secrets.token_hex(6)
        self._unsent: deque[str] = deque(maxlen=MOST_UNSENT)
        self._sending: asyncio.Task[None] | None = None
        self._listening: asyncio.Task[None] | None = None
        self._is_away = False
        self._sends_again_at = 0.0

    def publish(self, topic: str, event: E) -> None:
        self._local.publish(topic, event)
        self._unsent.append(orjson.dumps([self._me, topic, self._encode(event).decode()]).decode())
        if self._sending is None:
            self._sending = asyncio.create_task(self._send())

    async def follow(self, topic: str, after: str = "") -> AsyncGenerator[FeedEntry[E], None]:
        if self._listening is None:
            self._listening = asyncio.create_task(self._listen())
        followed = self._local.follow(topic, after)
        try:
            async for entry in followed:
                yield entry
        finally:
            await followed.aclose()

    async def close(self) -> None:
        if self._sending is not None:
            await asyncio.wait([self._sending], timeout=1.0)
        tasks = [task for task in (self._sending, self._listening) if task is not None]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        await self._local.close()
        await self._channel.close()

    async def _send(self) -> None:
        """What cannot be sent is given up: it was heard here, and who listens elsewhere is told to read anew."""
        try:
            while self._unsent:
                await self._gather()
                some = [self._unsent.popleft() for _ in range(min(len(self._unsent), MOST_AT_ONCE))]
                try:
                    await self._channel.send(some)
                except TransportAway as why:
                    self._lost(why)
        finally:
            self._sending = None

    async def _gather(self) -> None:
        now = asyncio.get_running_loop().time()
        if now < self._sends_again_at:
            await asyncio.sleep(self._sends_again_at - now)
        self._sends_again_at = max(now, self._sends_again_at) + GATHER_S

    async def _listen(self) -> None:
        retry_s, first = FIRST_RETRY_S, True

        def listening() -> None:
            nonlocal retry_s, first
            retry_s = FIRST_RETRY_S
            if not first:
                self._local.break_off()
            first = False
            self._found()

        while True:
            try:
                await self._channel.listen(listening, self._heard)
            except TransportAway as why:
                self._lost(why)
            first = False
            await asyncio.sleep(retry_s)
            retry_s = min(2 * retry_s, LONGEST_RETRY_S)

    def _heard(self, note: str) -> None:
        if len(note) > LONGEST_NOTE:
            return
        try:
            sender, topic, event = orjson.loads(note)
            if sender == self._me:
                return
            if not self._local.expects(str(topic)):
                self._local.pass_over()
                return
            data = str(event).encode()
            self._local.hear(str(topic), self._decode(data), weighs=weight(data))
        except (ValueError, TypeError) as error:
            # A newer version may tell more than this one knows.
            log.debug("An event of another server cannot be read: %s", error)

    def _lost(self, why: TransportAway) -> None:
        # The bus goes over the same transport, and warns an operator once: that is enough.
        if not self._is_away:
            log.info("Feeds do not reach other servers until %s answers again: %s", self._channel.name, why)
        self._is_away = True

    def _found(self) -> None:
        if self._is_away:
            log.info("Feeds reach other servers again.")
        self._is_away = False
