"""A real Redis for tests, in a process of its own; where none is installed, tests that need it are skipped by name.

A pytest plugin: name it in `pytest_plugins` or import the fixture, then ask for `redis_server`.
"""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

PATIENCE_S = 60.0


class RedisServer:
    """A `redis-server` on a free port that keeps nothing on the disk: one that was killed has forgotten everything."""

    def __init__(self, program: str, folder: Path) -> None:
        self._program, self._folder = program, folder
        with closing(socket.create_server(("127.0.0.1", 0))) as free:
            self.port: int = free.getsockname()[1]
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        options = ["--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
        command = [self._program, *options, "--dir", str(self._folder)]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        until = time.monotonic() + PATIENCE_S
        while not self._answers():
            if time.monotonic() > until or self._process.poll() is not None:
                raise RuntimeError("redis-server does not start")
            time.sleep(0.02)

    def kill(self) -> None:
        """Ends the server at once, and waits until it is gone."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def _answers(self) -> bool:
        with suppress(OSError), closing(socket.create_connection(("127.0.0.1", self.port), timeout=1)) as line:
            line.sendall(b"PING\r\n")
            return line.recv(16).startswith(b"+PONG")
        return False


@pytest.fixture
def redis_server(tmp_path: Path) -> Iterator[RedisServer]:
    """A server of the test's own, which it may kill and start again."""
    program = shutil.which("redis-server")
    if program is None:
        pytest.skip("Redis is missing: install redis-server")
    server = RedisServer(program, tmp_path)
    server.start()
    yield server
    server.kill()
