"""Feeds kept in memory: who follows hears each event once and in order, or is told to read anew."""

from __future__ import annotations

import asyncio

from hypothesis import given
from hypothesis import strategies as st
from tests.mass import examples

from fabula.adapters.bus.local_feeds import LocalFeeds

TOPICS = st.sampled_from(["a", "b", "c"])
STEPS = st.one_of(
    st.tuples(st.just("publish"), TOPICS),
    st.tuples(st.just("hear"), TOPICS, st.integers(1, 60)),
    st.tuples(st.just("break_off"), TOPICS),
    st.tuples(st.just("read"), TOPICS),
    st.tuples(st.just("come_back"), TOPICS),
)


@examples(600)
@given(st.lists(STEPS, max_size=40))
def test_each_event_is_heard_once_and_in_order_or_missed_with_a_word(steps: list[tuple[str, str, int]]) -> None:
    asyncio.run(_heard(steps))


async def _heard(steps: list[tuple[str, str, int]]) -> None:
    feeds = LocalFeeds[int](kept_per_topic=3, topics_kept=2, heard_kept=100)
    said: dict[str, list[int]] = {topic: [] for topic in "abc"}
    followers = {topic: _Follower(feeds, topic, said[topic]) for topic in "abc"}
    for number, (step, topic, *weights) in enumerate(steps):
        match step:
            case "publish":
                said[topic].append(number)
                feeds.publish(topic, number)
            case "hear":
                said[topic].append(number)
                if feeds.expects(topic):
                    feeds.hear(topic, number, weighs=weights[0])
                else:
                    feeds.pass_over()
            case "break_off":
                # What was missed meanwhile was said by others.
                said[topic].append(number)
                feeds.break_off()
            case "read":
                await followers[topic].read()
            case _:
                await followers[topic].come_back()
    for follower in followers.values():
        await follower.read()
        assert follower.unheard == 0
        await follower.leave()


class _Follower:
    """Somebody on a topic, who may leave and come back with the id that was heard last."""

    def __init__(self, feeds: LocalFeeds[int], topic: str, said: list[int]) -> None:
        self._feeds, self._topic, self._said = feeds, topic, said
        self._place, self._id = 0, ""
        self._entries = feeds.follow(topic)

    @property
    def unheard(self) -> int:
        return len(self._said) - self._place

    async def read(self) -> None:
        """All that is there now."""
        waits = asyncio.ensure_future(anext(self._entries))
        while True:
            for _ in range(3):
                await asyncio.sleep(0)
            if not waits.done():
                break
            entry = waits.result()
            self._id = entry.id
            if entry.event is None:
                # Who reads anew knows all that was said so far.
                self._place = len(self._said)
            else:
                assert entry.event == self._said[self._place]
                self._place += 1
            waits = asyncio.ensure_future(anext(self._entries))
        waits.cancel()
        await asyncio.gather(waits, return_exceptions=True)
        self._entries = self._feeds.follow(self._topic, after=self._id)

    async def come_back(self) -> None:
        await self.leave()
        self._entries = self._feeds.follow(self._topic, after=self._id)

    async def leave(self) -> None:
        await self._entries.aclose()
