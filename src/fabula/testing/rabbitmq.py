"""A real RabbitMQ for tests: one for the whole run, because it takes long to start.

A pytest plugin: name it in `pytest_plugins` or import the fixture, then ask for `rabbitmq_url`. Where it is not
installed, tests that need it are skipped by name.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from uuid import uuid4

import pytest

PATIENCE_S = 180.0
PROGRAM = Path("/usr/lib/rabbitmq/bin/rabbitmq-server")
"""Debian's `/usr/sbin/rabbitmq-server` changes to another user; this is what it calls."""


@pytest.fixture(scope="session")
def rabbitmq_url() -> Iterator[str]:
    """The address of a broker that all tests of the run share; the last process to end also ends it."""
    if not PROGRAM.exists() or shutil.which("erl") is None:
        pytest.skip("RabbitMQ is missing: install rabbitmq-server")
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID") or uuid4().hex
    # Not in memory: it looks at how much room its disk has.
    folder = Path("/tmp" if Path("/tmp").is_dir() else tempfile.gettempdir()) / f"fabula-rabbitmq-{run}"
    folder.mkdir(mode=0o700, exist_ok=True)
    with _alone(folder):
        users = _users(folder, +1)
        if users == 1:
            _start(folder)
        port = (folder / "port").read_text()
    yield f"amqp://guest:guest@127.0.0.1:{port}//"
    with _alone(folder):
        if _users(folder, -1) == 0:
            _end(folder)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _users(folder: Path, more: int) -> int:
    file = folder / "users"
    users = (int(file.read_text()) if file.exists() else 0) + more
    file.write_text(str(users))
    return users


def _start(folder: Path) -> None:
    port, far_port = _free_port(), _free_port()
    (folder / "port").write_text(str(port))
    (folder / "plugins").write_text("[].")
    (folder / "rabbitmq.conf").write_text("disk_free_limit.absolute = 10MB\nvm_memory_high_watermark.absolute = 1GB\n")
    environment = {
        **os.environ,
        "HOME": str(folder),
        "RABBITMQ_NODENAME": f"fabula_{port}@localhost",
        "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1",
        "RABBITMQ_NODE_PORT": str(port),
        "RABBITMQ_DIST_PORT": str(far_port),
        "RABBITMQ_MNESIA_BASE": str(folder / "mnesia"),
        "RABBITMQ_LOG_BASE": str(folder / "log"),
        "RABBITMQ_CONFIG_FILE": str(folder / "rabbitmq.conf"),
        "RABBITMQ_ENABLED_PLUGINS_FILE": str(folder / "plugins"),
        "RABBITMQ_PID_FILE": str(folder / "pid"),
        "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "+S 1:1 -kernel inet_dist_use_interface {127,0,0,1}",
    }
    with (folder / "output").open("wb") as output:
        process = subprocess.Popen(
            [PROGRAM], stdout=output, stderr=subprocess.STDOUT, env=environment, cwd=folder, start_new_session=True
        )
    (folder / "group").write_text(str(process.pid))
    until = time.monotonic() + PATIENCE_S
    while not _answers(port):
        if time.monotonic() > until or process.poll() is not None:
            said = (folder / "output").read_text("utf-8", "replace")[-2000:]
            _end(folder)
            raise RuntimeError(f"rabbitmq-server does not start: {said}")
        time.sleep(0.1)


def _end(folder: Path) -> None:
    group = int((folder / "group").read_text())
    with suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)
    shutil.rmtree(folder, ignore_errors=True)


def _answers(port: int) -> bool:
    """Whether it greets: it takes connections some time before it can do anything with them."""
    with suppress(OSError), closing(socket.create_connection(("127.0.0.1", port), timeout=2)) as line:
        line.sendall(b"AMQP\x00\x00\x09\x01")
        return line.recv(8)[:1] == b"\x01"
    return False


def _free_port() -> int:
    with closing(socket.create_server(("127.0.0.1", 0))) as free:
        return int(free.getsockname()[1])
