"""Feeds: small events about a topic, to everyone who follows it, in this process or another."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

E = TypeVar("E")


@dataclass(frozen=True, kw_only=True, slots=True)
class FeedEntry(Generic[E]):
    """An event with the id from which a follower goes on. Without an event: some may have been missed, read anew."""

    id: str
    event: E | None


class Feeds(Protocol[E]):
    """Law:

    - Who follows a topic hears every event that is published on it from then on, those of one publisher in their order.
      Followers in the publisher's process hear it at once, others soon.
    - `publish` never waits, and never fails.
    - Who names the id of an entry goes on after it: it hears what came since, and nothing twice. Where that is not
      known (another process gave the id, or it is too long ago), the first entry has no event; so it is for who names
      none.
    - A follower that does not read harms nobody else. One that missed events hears an entry without an event, and goes
      on from there. So does everyone when the way between the processes was broken.
    - While the way between processes is broken, everything inside each of them goes on.
    - `close` ends all followers.
    """

    def publish(self, topic: str, event: E) -> None: ...

    def follow(self, topic: str, after: str = "") -> AsyncGenerator[FeedEntry[E], None]: ...

    async def close(self) -> None: ...
