"""Several server processes on one port: a parent starts them, starts a dead one again, and ends when all have ended.

1. The parent has taken the port. It forks the first process and waits until that one serves: it has migrated the store
   by then. If it cannot start, nothing can, and the parent ends with it.
2. Then it forks the others. All accept on the same socket, so a connection that waits is taken by whoever lives.
3. One that dies is followed by another: at once, or later and later when they keep dying young.
4. Asked to stop, the parent asks all of them to, and waits until their open requests have ended; not for ever.
5. A process whose parent is gone ends by itself: it notices that nobody holds the other end of a pipe.
"""

from __future__ import annotations

import asyncio
import logging
import os
import selectors
import signal
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

log = logging.getLogger("fabula.processes")

FIRST_REST_S, LONGEST_REST_S = 0.5, 15.0
SOON_S: Final = 60.0
"""A process that lived longer than this did not die of its start."""
SECONDS_TO_END: Final = 20.0
_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)


@dataclass(frozen=True, kw_only=True)
class ServerProcess:
    """What a process knows of its parent: a pipe to say that it serves, and one that ends with the parent.

    Its `number` is below the number of processes; where one died, the next one has its number. `folder` is for sockets.
    """

    number: int
    folder: Path
    ready: int
    parent: int

    def tell_ready(self) -> None:
        """Says that this process serves."""
        with suppress(OSError):
            os.write(self.ready, b"r")
            os.close(self.ready)

    def watch_parent(self, gone: Callable[[], None]) -> None:
        """Calls `gone` when there is no parent any more."""
        loop = asyncio.get_running_loop()

        def look() -> None:
            loop.remove_reader(self.parent)
            gone()

        loop.add_reader(self.parent, look)


@dataclass(kw_only=True)
class _Child:
    number: int
    ready: int
    began: float
    is_ready: bool = False


@dataclass(kw_only=True)
class _Parent:
    count: int
    folder: Path
    serving: Callable[[], None]
    children: dict[int, _Child] = field(default_factory=dict)
    deaths: int = 0
    not_before: float = 0.0
    stop_by: float | None = None
    has_served: bool = False
    exit_code: int = 0

    def supervise(self) -> ServerProcess | None:
        """Answers in each child what it knows of the parent, and None in the parent, when all have ended."""
        own_end, parent_end = os.pipe()
        with selectors.DefaultSelector() as selector, _signals(selector, self._asked_to_stop):
            while True:
                if self._wants_another():
                    child = self._fork(selector, own_end, parent_end)
                    if child is not None:
                        return child
                    continue
                if not self.children and (self.stop_by is not None or self.exit_code):
                    break
                for key, _ in selector.select(self._patience()):
                    if isinstance(key.data, int):
                        self._heard(selector, key.data)
                    else:
                        key.data()
                self._bury(selector)
                self._lose_patience()
        os.close(own_end)
        os.close(parent_end)
        return None

    def _wants_another(self) -> bool:
        if self.stop_by is not None or self.exit_code or time.monotonic() < self.not_before:
            return False
        # Until the first one serves nobody knows whether any can.
        return len(self.children) < (self.count if self.has_served else 1)

    def _fork(self, selector: selectors.BaseSelector, own_end: int, parent_end: int) -> ServerProcess | None:
        ready, tell_ready = os.pipe()
        number = min(set(range(self.count)) - {child.number for child in self.children.values()})
        pid = os.fork()
        if pid == 0:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            signal.signal(signal.SIGINT, signal.default_int_handler)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            signal.set_wakeup_fd(-1)
            for file in (parent_end, ready, *(child.ready for child in self.children.values() if not child.is_ready)):
                os.close(file)
            return ServerProcess(number=number, folder=self.folder, ready=tell_ready, parent=own_end)
        os.close(tell_ready)
        self.children[pid] = _Child(number=number, ready=ready, began=time.monotonic())
        selector.register(ready, selectors.EVENT_READ, pid)
        return None

    def _heard(self, selector: selectors.BaseSelector, pid: int) -> None:
        child = self.children.get(pid)
        if child is None or child.is_ready:
            return
        # Nothing to read: it died before it served, and is buried soon.
        served = bool(os.read(child.ready, 1))
        selector.unregister(child.ready)
        os.close(child.ready)
        child.is_ready = True
        if served and not self.has_served:
            self.has_served = True
            self.serving()

    def _bury(self, selector: selectors.BaseSelector) -> None:
        with suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                self._ended(selector, ended[0], os.waitstatus_to_exitcode(ended[1]))

    def _ended(self, selector: selectors.BaseSelector, pid: int, code: int) -> None:
        child = self.children.get(pid)
        if child is None:
            return
        self._heard(selector, pid)
        del self.children[pid]
        if self.stop_by is not None:
            return
        if not self.has_served:
            self.exit_code = code if code > 0 else 1
            return
        self.deaths = self.deaths + 1 if time.monotonic() - child.began < SOON_S else 0
        rest_s = min(LONGEST_REST_S, FIRST_REST_S * 2 ** (self.deaths - 1)) if self.deaths else 0.0
        self.not_before = time.monotonic() + rest_s
        facts = {"pid": pid, "exit": code, "next_in_s": rest_s}
        log.warning("a server process has ended, and another one takes its place", extra={"facts": facts})

    def _asked_to_stop(self) -> None:
        """The first time all are asked to end; whoever asks again does not want to wait."""
        now = time.monotonic()
        again = self.stop_by is not None
        self.stop_by = now if again else now + SECONDS_TO_END
        if not again:
            self._send(signal.SIGTERM)

    def _lose_patience(self) -> None:
        if self.stop_by is not None and time.monotonic() >= self.stop_by:
            self._send(signal.SIGKILL)

    def _patience(self) -> float | None:
        until = [moment for moment in (self.not_before, self.stop_by) if moment and moment > time.monotonic()]
        return max(0.01, min(until) - time.monotonic()) if until else (0.5 if self.stop_by is not None else None)

    def _send(self, number: signal.Signals) -> None:
        for pid in self.children:
            with suppress(ProcessLookupError):
                os.kill(pid, number)


def serve_with(count: int, *, folder: Path, serving: Callable[[], None]) -> ServerProcess | int:
    """Forks; answers in each child what it knows of its parent, and in the parent the exit code, when all have ended.

    `serving` is called once, in the parent, when the first process serves.
    """
    parent = _Parent(count=count, folder=folder, serving=serving)
    return parent.supervise() or parent.exit_code


@contextmanager
def _signals(selector: selectors.BaseSelector, asked_to_stop: Callable[[], None]) -> Iterator[None]:
    """While it lasts, signals wake the selector: the end of a child, and the wish to stop."""
    told, tell = socket.socketpair()
    told.setblocking(False)
    tell.setblocking(False)
    before = {number: signal.signal(number, lambda *_: None) for number in (*_SIGNALS, signal.SIGCHLD)}
    wakeup = signal.set_wakeup_fd(tell.fileno(), warn_on_full_buffer=False)

    def hear() -> None:
        with suppress(BlockingIOError):
            for number in told.recv(4096):
                if number in _SIGNALS:
                    asked_to_stop()

    selector.register(told, selectors.EVENT_READ, hear)
    try:
        yield
    finally:
        with suppress(ValueError, OSError):
            signal.set_wakeup_fd(wakeup)
            for number, handler in before.items():
                signal.signal(number, handler)
        told.close()
        tell.close()
