"""The conformance kit of queues: each sentence of the law in `fabula.ports.queue` is a test with the same words.

An adapter's test module says `class TestMyQueue(QueueKit)`, or `SharedQueueKit` where processes share the queue, and
gives the fixture `hall`: where queues announce and listeners listen.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Protocol

from fabula.ports.queue import Announcement, Queue
from fabula.ports.work import QueueName

PATIENCE_S = 60.0
A_WHILE_S = 0.5


class Listener(Protocol):
    """Someone who listens: what it was given, and what it does with it.

    It ends an announcement whose id begins with `quick` at once, fails at one that begins with `bad`, and holds any
    other until it is told to let go.
    """

    def given(self) -> list[Announcement]:
        """All that it was given, in order."""
        ...

    def cancelled(self) -> list[str]: ...

    def let_go(self, work_id: str) -> None: ...

    async def stop(self) -> None:
        """Closes its queue."""
        ...

    async def kill(self) -> None:
        """Ends its process at once."""
        ...


class Hall(Protocol):
    """A broker with everyone around it."""

    @property
    def queue(self) -> Queue:
        """One that announces."""
        ...

    async def listener(self, queues: Sequence[QueueName], *, most: int = 1, limit_s: float = 600) -> Listener: ...

    async def cut(self) -> None:
        """The broker is away."""
        ...

    async def mend(self) -> None:
        """It is back."""
        ...


async def until(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while not is_so():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


def announcement(work_id: str, queue: QueueName = "background", priority: int = 0) -> Announcement:
    return Announcement(work_id=work_id, queue=queue, priority=priority, trace_id=f"trace-{work_id}")


def ids(listener: Listener) -> list[str]:
    return [given.work_id for given in listener.given()]


class QueueKit:
    """The law for every queue."""

    async def test_what_was_announced_is_soon_given_to_a_listener_of_its_queue_with_its_trace_id(
        self, hall: Hall
    ) -> None:
        listener = await hall.listener(["background"])
        hall.queue.announce([announcement("quick-1"), announcement("quick-2")])
        await until(lambda: len(listener.given()) == 2)
        seen = {(one.work_id, one.queue, one.trace_id) for one in listener.given()}
        assert seen == {("quick-1", "background", "trace-quick-1"), ("quick-2", "background", "trace-quick-2")}

    async def test_a_listener_is_given_only_what_was_announced_in_the_queues_that_it_named(self, hall: Hall) -> None:
        listener = await hall.listener(["background", "realtime"])
        hall.queue.announce(
            [announcement("quick-1", "heavy"), announcement("quick-2", "realtime"), announcement("quick-3")]
        )
        await until(lambda: len(listener.given()) == 2)
        await asyncio.sleep(A_WHILE_S)
        assert set(ids(listener)) == {"quick-2", "quick-3"}

    async def test_a_listener_is_given_at_most_so_many_announcements_at_once(self, hall: Hall) -> None:
        listener = await hall.listener(["background"], most=2)
        hall.queue.announce([announcement(f"slow-{number}") for number in range(4)])
        await until(lambda: len(listener.given()) == 2)
        await asyncio.sleep(A_WHILE_S)
        assert len(listener.given()) == 2
        listener.let_go(ids(listener)[0])
        await until(lambda: len(listener.given()) == 3)

    async def test_of_announcements_that_wait_the_most_urgent_are_given_first(self, hall: Hall) -> None:
        listener = await hall.listener(["background"])
        # One is done and one is fetched ahead by brokers that do so, before the others come.
        hall.queue.announce([announcement("slow-1", priority=9), announcement("slow-2", priority=9)])
        await until(lambda: len(listener.given()) == 1)
        await asyncio.sleep(A_WHILE_S)
        hall.queue.announce(
            [
                announcement("quick-3", priority=0),
                announcement("quick-4", priority=5),
                announcement("quick-5", priority=9),
            ]
        )
        await asyncio.sleep(A_WHILE_S)
        for work_id in ("slow-1", "slow-2"):
            await until(lambda work_id=work_id: work_id in ids(listener))  # type: ignore[misc]
            listener.let_go(work_id)
        await until(lambda: len(listener.given()) == 5)
        assert ids(listener)[2:] == ["quick-5", "quick-4", "quick-3"]

    async def test_an_announcement_is_over_when_take_returns_also_with_an_error(self, hall: Hall) -> None:
        listener = await hall.listener(["background"])
        hall.queue.announce([announcement("bad-1")])
        hall.queue.announce([announcement("quick-2")])
        await until(lambda: set(ids(listener)) == {"bad-1", "quick-2"})
        await asyncio.sleep(A_WHILE_S)
        assert Counter(ids(listener)) == {"bad-1": 1, "quick-2": 1}

    async def test_one_that_takes_longer_than_its_limit_is_cancelled(self, hall: Hall) -> None:
        listener = await hall.listener(["background"], limit_s=0.3)
        hall.queue.announce([announcement("slow-1"), announcement("quick-2")])
        await until(lambda: listener.cancelled() == ["slow-1"] and "quick-2" in ids(listener))

    async def test_what_waits_is_bounded_and_announce_never_waits(self, hall: Hall) -> None:
        hall.queue.announce([announcement(f"quick-{number}", "heavy") for number in range(10_050)])

    async def test_close_waits_until_what_was_taken_is_over_and_leaves_the_rest(self, hall: Hall) -> None:
        listener = await hall.listener(["background"])
        hall.queue.announce([announcement("slow-1")])
        await until(lambda: len(listener.given()) == 1)
        stopping = asyncio.create_task(listener.stop())
        await asyncio.sleep(A_WHILE_S)
        assert not stopping.done()
        hall.queue.announce([announcement("quick-2")])
        listener.let_go("slow-1")
        await stopping
        assert ids(listener) == ["slow-1"]


class SharedQueueKit(QueueKit):
    """The law for a queue that several processes share."""

    async def test_what_was_announced_is_given_to_one_listener(self, hall: Hall) -> None:
        listeners = [await hall.listener(["background"], most=2) for _ in range(2)]
        hall.queue.announce([announcement(f"quick-{number}") for number in range(40)])
        await until(lambda: sum(len(one.given()) for one in listeners) >= 40)
        await asyncio.sleep(A_WHILE_S)
        seen = Counter(work_id for one in listeners for work_id in ids(one))
        assert set(seen.values()) == {1} and len(seen) == 40

    async def test_who_listens_is_known(self, hall: Hall) -> None:
        await hall.listener(["background", "heavy"])
        status = await hall.queue.status()
        assert (status.problem, list(status.listeners.values())) == ("", [["background", "heavy"]])

    async def test_while_the_broker_is_away_announce_loses_its_announcements_and_when_it_is_back_they_flow_again(
        self, hall: Hall
    ) -> None:
        listener = await hall.listener(["background"])
        hall.queue.announce([announcement("quick-1")])
        await until(lambda: ids(listener) == ["quick-1"])
        await hall.cut()
        hall.queue.announce([announcement("quick-2")])
        assert (await hall.queue.status()).problem
        await hall.mend()

        async def announce_again() -> None:
            for number in range(3, 1000):
                hall.queue.announce([announcement(f"quick-{number}")])
                await asyncio.sleep(0.2)

        announcing = asyncio.create_task(announce_again())
        await until(lambda: len(listener.given()) >= 3)
        announcing.cancel()


class CrashKit(SharedQueueKit):
    """The law for a queue whose broker sees at once that a process died; others notice after a time."""

    async def test_announcements_of_a_process_that_died_before_they_were_over_are_given_to_another_one(
        self, hall: Hall
    ) -> None:
        first = await hall.listener(["background"])
        hall.queue.announce([announcement("slow-1")])
        await until(lambda: ids(first) == ["slow-1"])
        await first.kill()
        second = await hall.listener(["background"])
        await until(lambda: ids(second) == ["slow-1"])
        second.let_go("slow-1")
