"""The conformance kit of feeds: each sentence of the law in `fabula.ports.feeds` is a test with the same words.

An adapter's test module says `class TestMyFeeds(FeedsKit)` and gives the fixtures `feeds` and `other`: two ends of one
way between processes, or twice the same for feeds of one process.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

from fabula.ports.feeds import FeedEntry, Feeds

Entries = AsyncGenerator[FeedEntry[bytes], None]
PATIENCE_S = 60.0


async def following(feeds: Feeds[bytes], topic: str = "s") -> tuple[Entries, str]:
    """A follower that has begun, and the id of its first entry, which has no event."""
    entries = feeds.follow(topic)
    first = await anext(entries)
    assert first.event is None
    return entries, first.id


async def connected(feeds: Feeds[bytes], other: Feeds[bytes], topic: str = "s") -> tuple[Entries, str]:
    """A follower that hears what the other end publishes, and the id of the last thing that it heard."""
    entries, _ = await following(feeds, topic)
    waiting = asyncio.create_task(_next(entries))
    async with asyncio.timeout(PATIENCE_S):
        while not waiting.done():
            other.publish(topic, b"are you there?")
            await asyncio.wait([waiting], timeout=0.05)
    other.publish(topic, b"you are")
    while (entry := await heard(entries)).event != b"you are":
        assert entry.event == b"are you there?"
    return entries, entry.id


async def heard(entries: Entries) -> FeedEntry[bytes]:
    async with asyncio.timeout(PATIENCE_S):
        return await anext(entries)


async def _next(entries: Entries) -> FeedEntry[bytes]:
    return await anext(entries)


class FeedsKit:
    """The whole law."""

    async def test_who_follows_a_topic_hears_every_event_from_then_on_in_order(
        self, feeds: Feeds[bytes], other: Feeds[bytes]
    ) -> None:
        entries, _ = await connected(feeds, other)
        for number in range(100):
            other.publish("s", b"%d" % number)
            other.publish("another", b"x")
        assert [(await heard(entries)).event for _ in range(100)] == [b"%d" % number for number in range(100)]

    async def test_followers_in_the_publishers_process_hear_it_at_once(self, feeds: Feeds[bytes]) -> None:
        entries, _ = await following(feeds)
        feeds.publish("s", b"here")
        assert (await heard(entries)).event == b"here"

    async def test_who_names_the_id_of_an_entry_goes_on_after_it(
        self, feeds: Feeds[bytes], other: Feeds[bytes]
    ) -> None:
        entries, id = await connected(feeds, other)
        watching, _ = await following(feeds)
        await entries.aclose()
        for word in (b"one", b"two", b"three"):
            other.publish("s", word)
        for _ in range(3):
            await heard(watching)
        again = feeds.follow("s", id)
        seen = [await heard(again) for _ in range(3)]
        assert [entry.event for entry in seen] == [b"one", b"two", b"three"]
        later = feeds.follow("s", seen[1].id)
        assert (await heard(later)).event == b"three", "and nothing twice"

    async def test_who_names_none_or_one_that_is_not_known_is_told_to_read_anew(self, feeds: Feeds[bytes]) -> None:
        feeds.publish("s", b"before")
        for id in ("", "nonsense", "ab.1", "1", "ffffffffffff.999999999999999999999"):
            entries = feeds.follow("s", id)
            assert (await heard(entries)).event is None
            feeds.publish("s", b"after")
            assert (await heard(entries)).event == b"after"

    async def test_one_that_missed_events_hears_an_entry_without_an_event_and_goes_on(
        self, feeds: Feeds[bytes]
    ) -> None:
        slow, id = await following(feeds)
        quick, _ = await following(feeds, "quick")
        for number in range(2_000):
            feeds.publish("s", b"%d" % number)
        feeds.publish("quick", b"not harmed")
        assert (await heard(quick)).event == b"not harmed"
        assert (await heard(slow)).event is None
        assert (await heard(feeds.follow("s", id))).event is None, "it is too long ago"
        feeds.publish("s", b"on")
        assert (await heard(slow)).event == b"on"

    async def test_a_quiet_topic_is_gone_on_with_however_much_happens_elsewhere(self, feeds: Feeds[bytes]) -> None:
        entries, id = await following(feeds)
        for number in range(1_000):
            feeds.publish(f"elsewhere {number}", b"x")
        feeds.publish("s", b"here")
        assert (await heard(entries)).event == b"here"
        assert (await heard(feeds.follow("s", id))).event == b"here"

    async def test_close_ends_all_followers(self, feeds: Feeds[bytes]) -> None:
        entries, _ = await following(feeds)
        waiting = asyncio.create_task(_next(entries))
        await asyncio.sleep(0)
        await feeds.close()
        await asyncio.wait([waiting], timeout=PATIENCE_S)
        assert isinstance(waiting.exception(), StopAsyncIteration | RuntimeError)
