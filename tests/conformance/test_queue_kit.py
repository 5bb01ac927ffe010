"""The queues keep their law: inside one process, and over Celery with a real Redis and a real RabbitMQ."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit
from uuid import uuid4

import orjson
import pytest

from fabula.adapters.queues import broker_queue
from fabula.adapters.queues.local import LocalQueue
from fabula.ports.queue import Announcement, Queue
from fabula.ports.work import QueueName
from fabula.testing.cut_line import CutLine, cut_line
from fabula.testing.queue_kit import PATIENCE_S, CrashKit, Hall, QueueKit, SharedQueueKit
from fabula.testing.redis import RedisServer

LISTENER = Path(__file__).with_name("queue_listener.py")


class LocalListener:
    def __init__(self, queue: LocalQueue) -> None:
        self.queue = queue
        self._given: list[Announcement] = []
        self._cancelled: list[str] = []
        self._held: dict[str, asyncio.Event] = {}

    async def take(self, announcement: Announcement) -> None:
        self._given.append(announcement)
        if announcement.work_id.startswith("bad"):
            raise KeyError(announcement.work_id)
        if not announcement.work_id.startswith("quick"):
            try:
                await self._held.setdefault(announcement.work_id, asyncio.Event()).wait()
            except asyncio.CancelledError:
                self._cancelled.append(announcement.work_id)
                raise

    def given(self) -> list[Announcement]:
        return self._given

    def cancelled(self) -> list[str]:
        return self._cancelled

    def let_go(self, work_id: str) -> None:
        self._held.setdefault(work_id, asyncio.Event()).set()

    async def stop(self) -> None:
        await self.queue.close()

    async def kill(self) -> None:
        raise AssertionError("it has no process of its own")


class LocalHall:
    def __init__(self) -> None:
        self.local = LocalQueue()
        self.listeners: list[LocalListener] = []

    @property
    def queue(self) -> Queue:
        return self.local

    async def listener(self, queues: Sequence[QueueName], *, most: int = 1, limit_s: float = 600) -> LocalListener:
        listener = LocalListener(self.local)
        self.listeners.append(listener)
        await self.local.listen(queues, listener.take, most=most, limit_s=limit_s)
        return listener

    async def cut(self) -> None: ...

    async def mend(self) -> None: ...

    async def close(self) -> None:
        for listener in self.listeners:
            for announcement in listener.given():
                listener.let_go(announcement.work_id)
        await self.local.close()


class TestLocalQueue(QueueKit):
    @pytest.fixture
    async def hall(self) -> AsyncIterator[Hall]:
        hall = LocalHall()
        yield hall
        await hall.close()

    async def test_what_waits_is_bounded(self, caplog: pytest.LogCaptureFixture) -> None:
        queue = LocalQueue(most_waiting=3)
        given: list[str] = []

        async def take(announcement: Announcement) -> None:
            given.append(announcement.work_id)

        queue.announce([Announcement(work_id=f"w{number}", queue="heavy") for number in range(5)])
        await queue.listen(["heavy"], take, most=1, limit_s=1)
        await asyncio.sleep(0.05)
        await queue.close()
        assert given == ["w0", "w1", "w2"] and len(caplog.records) == 1


class ProcessListener:
    """A listener in a process of its own."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._told: list[dict[str, str]] = []
        self.is_ready, self._has_stopped = asyncio.Event(), asyncio.Event()
        self._reading = asyncio.create_task(self._read())

    async def _read(self) -> None:
        assert self._process.stdout is not None
        while line := await self._process.stdout.readline():
            told = orjson.loads(line)
            self._told.append(told)
            if "ready" in told:
                self.is_ready.set()
            if "stopped" in told:
                self._has_stopped.set()
        self.is_ready.set()

    def given(self) -> list[Announcement]:
        return [
            Announcement(work_id=told["given"], queue=told["queue"], trace_id=told["trace_id"])  # type: ignore[arg-type]
            for told in self._told
            if "given" in told
        ]

    def cancelled(self) -> list[str]:
        return [told["cancelled"] for told in self._told if "cancelled" in told]

    def let_go(self, work_id: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{work_id}\n".encode())

    async def stop(self) -> None:
        self.let_go("stop")
        async with asyncio.timeout(PATIENCE_S):
            await self._has_stopped.wait()

    async def kill(self) -> None:
        if self._process.returncode is None:
            self._process.kill()
        await self._process.wait()
        await self._reading


class BrokerHall:
    def __init__(self, address: str, line: CutLine, closing: AsyncExitStack) -> None:
        # The tests of one broker do not hear each other.
        self._address, self._prefix = address, f"fabula-{uuid4().hex}."
        self._line, self._closing = line, closing
        self.queue: Queue = broker_queue(address, prefix=self._prefix)

    async def listener(self, queues: Sequence[QueueName], *, most: int = 1, limit_s: float = 600) -> ProcessListener:
        arguments = [self._address, self._prefix, ",".join(queues), str(most), str(limit_s)]
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(sys.executable, LISTENER, *arguments, stdin=pipe, stdout=pipe)
        listener = ProcessListener(process)
        self._closing.push_async_callback(listener.kill)
        async with asyncio.timeout(PATIENCE_S):
            await listener.is_ready.wait()
        return listener

    async def cut(self) -> None:
        await self._line.cut()

    async def mend(self) -> None:
        await self._line.start()


@asynccontextmanager
async def broker_hall(address: str) -> AsyncIterator[Hall]:
    parts = urlsplit(address)
    async with cut_line(port=parts.port or 0) as line, AsyncExitStack() as closing:
        far = address.replace(f":{parts.port}", f":{line.port}")
        hall = BrokerHall(far, line, closing)
        closing.push_async_callback(hall.queue.close)
        yield hall


@pytest.mark.all
class TestCeleryOnRedis(SharedQueueKit):
    @pytest.fixture
    async def hall(self, redis_server: RedisServer) -> AsyncIterator[Hall]:
        async with broker_hall(redis_server.url) as hall:
            yield hall


@pytest.mark.all
class TestCeleryOnRabbitMQ(CrashKit):
    @pytest.fixture
    async def hall(self, rabbitmq_url: str) -> AsyncIterator[Hall]:
        async with broker_hall(rabbitmq_url) as hall:
            yield hall
