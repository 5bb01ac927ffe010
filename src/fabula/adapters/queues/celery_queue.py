"""The queue over Celery: a message carries the id of a piece of work to a process that takes it up.

1. `announce` leaves the sending to a thread; while the broker is away everything is dropped, and the work is found by
   whoever looks through the table.
2. `listen` runs Celery's worker in a thread, with a pool of threads. Each of these does nothing but wait while the
   event loop does the work: work waits for databases and models, so one loop does many pieces at once, and all of them
   share its connections and caches. More cores are used by more processes. Something on the broker that Celery cannot
   read at all ends its worker; then another one listens. What it can read is held to our form (`broker_messages`).
3. A message is acknowledged when its work is over. If the process dies before, the broker gives it to another one.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import threading
import time
from collections import deque
from collections.abc import Sequence
from concurrent.futures import CancelledError as FutureCancelled
from contextlib import suppress
from typing import Any, Final

from celery.worker import WorkController  # type: ignore[import-untyped]
from celery.worker import state as worker_state
from kombu.exceptions import OperationalError

from fabula.adapters.queues.broker_messages import shut_doors
from fabula.adapters.queues.celery_app import (
    PATIENCE_S,
    PREFIX,
    TASK,
    TRACE_HEADER,
    broker_name,
    broker_place,
    broker_priority,
    celery_app,
)
from fabula.ports.errors import BackendError
from fabula.ports.queue import Announcement, QueueStatus, Take
from fabula.ports.work import QUEUES, QueueName

log = logging.getLogger("fabula.queue")

MOST_WAITING: Final = 10_000
QUIET_S: Final = 2.0
"""After a failure nothing is sent for so long: a broker that is away should not cost a connection for every message."""
ANSWERS_S: Final = (1.0, 4.0)
"""How long workers are given to say that they are there. Those that are busy, or just started, are asked again."""
GRACE_S: Final = 5.0
ENDS_S: Final = 15.0
"""How long what was taken may go on when the process stops; what is not over then is let go."""


class CeleryQueue:
    """Announcements over the broker at an address. Its failures leave no exception, only a line in the log."""

    def __init__(self, address: str, *, prefix: str = PREFIX) -> None:
        self._prefix = prefix
        self.name = f"{broker_name(address)} at {broker_place(address)}"
        self._app = celery_app(address, prefix)
        self._sender = _Sender(self._app, address, self.name, prefix)
        self._thread: threading.Thread | None = None
        self._ends = threading.Event()

    def announce(self, announcements: Sequence[Announcement]) -> None:
        self._sender.put(announcements)

    async def listen(self, queues: Sequence[QueueName], take: Take, *, most: int, limit_s: float) -> None:
        assert self._thread is None, "a process listens once"
        giver = _Giver(asyncio.get_running_loop(), take, limit_s)
        names = [self._prefix + name for name in queues]
        self._thread = threading.Thread(target=self._listen_on, args=(giver, names, most), name="celery", daemon=True)
        self._thread.start()

    def _listen_on(self, giver: _Giver, queues: Sequence[str], most: int) -> None:
        """Runs on the thread that listens."""

        def work(task: Any, work_id: str, queue: QueueName) -> None:
            giver.give(task.request, work_id, queue)

        self._app.task(name=TASK, bind=True)(work)
        self._app.finalize()
        shut_doors(self._app)
        while not self._ends.is_set():
            worker_state.should_stop = None
            WorkController(
                app=self._app,
                hostname=f"fabula@{socket.gethostname()}.{os.getpid()}",
                pool="threads",
                concurrency=most,
                queues=queues,
                loglevel="WARNING",
                without_mingle=True,
                without_gossip=True,
            ).start()
            if not self._ends.is_set():
                log.warning("Listening to %s broke off, and is begun again.", self.name)
                self._ends.wait(QUIET_S)

    async def status(self) -> QueueStatus:
        place = self.name
        began = time.monotonic()
        try:
            await asyncio.to_thread(self._sender.try_it)
            answered_ms = round((time.monotonic() - began) * 1000)
            answers = await asyncio.to_thread(self._ask_listeners)
        except (OperationalError, OSError, BackendError) as error:
            return QueueStatus(place=place, problem=_sentence(error), listeners={})
        return QueueStatus(place=place, answered_ms=answered_ms, listeners=answers)

    async def close(self) -> None:
        if self._thread is not None:
            self._ends.set()
            # The worker looks at this a few times a second, lets its threads end, and returns.
            worker_state.should_stop = os.EX_OK
            await asyncio.to_thread(self._thread.join, ENDS_S)
            self._thread = None
        await asyncio.to_thread(self._sender.close)
        with suppress(OSError):
            await asyncio.to_thread(self._app.close)

    def _ask_listeners(self) -> dict[str, list[str]]:
        """Who listens to which queues; asked again where nobody said that they listen to one of them."""
        found: dict[str, list[str]] = {}
        for seconds in ANSWERS_S:
            if not set(QUEUES) <= {name for names in found.values() for name in names}:
                found |= self._ask_once(seconds)
        return found

    def _ask_once(self, seconds: float) -> dict[str, list[str]]:
        found = self._app.control.inspect(timeout=seconds).active_queues() or {}
        names: dict[str, str] = {self._prefix + name: name for name in QUEUES}
        known = {
            node: sorted(names[queue["name"]] for queue in queues if queue["name"] in names)
            for node, queues in sorted(found.items())
        }
        return {node: queues for node, queues in known.items() if queues}


class _Giver:
    """Runs on Celery's threads: hands a message to the event loop and waits until it is over."""

    def __init__(self, loop: asyncio.AbstractEventLoop, take: Take, limit_s: float) -> None:
        self._loop, self._take, self._limit_s = loop, take, limit_s

    def give(self, request: Any, work_id: str, queue: QueueName) -> None:
        announcement = Announcement(work_id=str(work_id), queue=queue, trace_id=str(request.get(TRACE_HEADER) or ""))
        try:
            # The loop cancels what takes too long. If not even that happens, the loop hangs, and the lease runs out.
            future = asyncio.run_coroutine_threadsafe(self._take_in_time(announcement), self._loop)
            future.result(self._limit_s + GRACE_S)
        except (FutureCancelled, RuntimeError):
            return  # The process stops: what it did not end, another one takes up.
        except TimeoutError:
            log.warning("A piece of work took too long.", extra={"facts": {"work_id": work_id}})
        # This is a door: the work's own failure stands in the table, so this is one that nobody expected.
        except Exception:
            log.exception("A piece of work could not be taken.", extra={"facts": {"work_id": work_id}})

    async def _take_in_time(self, announcement: Announcement) -> None:
        async with asyncio.timeout(self._limit_s):
            await self._take(announcement)


class _Sender:
    """Sends announcements from a thread of its own, because Celery's way to the broker blocks."""

    def __init__(self, app: Any, address: str, name: str, prefix: str) -> None:
        self._app, self._address, self._name, self._prefix = app, address, name, prefix
        self._waiting: deque[Announcement] = deque(maxlen=MOST_WAITING)
        self._more, self._ends = threading.Event(), threading.Event()
        self._thread: threading.Thread | None = None
        self._connection: Any = None
        self._producer: Any = None
        self._away = False

    def put(self, announcements: Sequence[Announcement]) -> None:
        if self._ends.is_set() or not announcements:
            return
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="announcements", daemon=True)
            self._thread.start()
        # One that is too many pushes out the oldest.
        self._waiting.extend(announcements)
        self._more.set()

    def try_it(self) -> None:
        """Connects once, on a connection of its own; raises what is wrong."""
        connection = self._app.connection_for_write()
        try:
            connection.ensure_connection(max_retries=1, timeout=PATIENCE_S)
        finally:
            connection.release()

    def close(self) -> None:
        self._ends.set()
        self._more.set()
        if self._thread is not None:
            self._thread.join(PATIENCE_S * 2)

    def _run(self) -> None:
        while not self._ends.is_set() or self._waiting:
            self._more.wait()
            self._more.clear()
            try:
                while self._waiting:
                    self._send(self._waiting[0])
                    self._waiting.popleft()
            except self._errors() as error:
                self._lose(error)
                if self._ends.wait(QUIET_S):
                    break
        self._disconnect()

    def _send(self, announcement: Announcement) -> None:
        if self._producer is None:
            self._connection = self._app.connection_for_write()
            self._connection.ensure_connection(max_retries=1, timeout=PATIENCE_S)
            self._producer = self._app.amqp.Producer(self._connection, auto_declare=False)
        self._app.send_task(
            TASK,
            args=(announcement.work_id, announcement.queue),
            queue=self._prefix + announcement.queue,
            priority=broker_priority(self._address, announcement.priority),
            headers={TRACE_HEADER: announcement.trace_id},
            producer=self._producer,
            retry=False,
        )
        if self._away:
            self._away = False
            log.warning("%s is back: work is announced again.", self._name)

    def _lose(self, error: Exception) -> None:
        self._waiting.clear()
        self._disconnect()
        if not self._away:
            self._away = True
            log.warning("%s is away: work waits until it is looked for. %s", self._name, _sentence(error))

    def _disconnect(self) -> None:
        connection, self._connection, self._producer = self._connection, None, None
        if connection is not None:
            with suppress(*self._errors()):
                connection.release()

    def _errors(self) -> tuple[type[Exception], ...]:
        """What may go wrong between us and a broker, with the errors of its own client."""
        connection = self._connection or self._app.connection_for_write()
        return (OSError, OperationalError, *connection.connection_errors, *connection.channel_errors)


def _sentence(error: BaseException) -> str:
    said = str(error).strip() or type(error).__name__
    return said.splitlines()[0][:200]
