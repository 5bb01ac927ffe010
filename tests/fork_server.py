"""Starts `fabula` processes in a moment: one process has imported everything, and forks a child for each command.

Starting Python and importing the server takes seconds; a test that kills a hundred servers cannot wait for that. A
child is the real command in a process of its own, with its own environment and output.

    with ForkServer() as fork_server:
        child = fork_server.start(["serve", "--port", "0"], {"FABULA_DATA_DIR": str(folder)}, log=folder / "log")
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import TracebackType

_LISTENS = re.compile(r"listens on (http://\S+)")
_PATIENCE_S = 120.0
ROOT = Path(__file__).parent.parent


@dataclass(frozen=True, kw_only=True)
class Child:
    """A running command; its output goes to `log`."""

    pid: int
    log: Path

    def address(self) -> str:
        """Where the server listens, as soon as it says so."""
        until = time.monotonic() + _PATIENCE_S
        while time.monotonic() < until:
            if found := _LISTENS.search(self.log.read_text("utf-8", "replace")):
                return found[1]
            if not self.lives():
                break
            time.sleep(0.01)
        raise RuntimeError(f"The server did not start: {self.log.read_text('utf-8', 'replace')}")

    def lives(self) -> bool:
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return False
        return True

    def kill(self, how: signal.Signals = signal.SIGKILL) -> None:
        """Sends the signal at once, and waits until the process is gone."""
        # It may have ended by itself, or by an earlier signal.
        with suppress(ProcessLookupError):
            os.kill(self.pid, how)
        self.wait()

    def wait(self) -> None:
        """Waits until the process is gone."""
        until = time.monotonic() + _PATIENCE_S
        while self.lives():
            if time.monotonic() > until:
                raise RuntimeError(f"The process {self.pid} does not end.")
            time.sleep(0.002)


class ForkServer:
    """The process that forks. It ends with the block, and takes children that still run with it."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", "tests.fork_server"]
        self._process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._children: list[Child] = []

    def __enter__(self) -> ForkServer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for child in self._children:
            child.kill()
        with self._process:
            self._process.kill()

    def start(self, arguments: Sequence[str], environment: Mapping[str, str], *, log: Path) -> Child:
        """Starts `fabula` with these arguments; the environment is added to the present one."""
        assert self._process.stdin is not None and self._process.stdout is not None
        log.write_bytes(b"")
        wish = {"arguments": list(arguments), "environment": dict(environment), "log": str(log)}
        self._process.stdin.write(json.dumps(wish) + "\n")
        self._process.stdin.flush()
        child = Child(pid=int(self._process.stdout.readline()), log=log)
        self._children = [one for one in self._children if one.lives()] + [child]
        return child


PARTS = (
    "alembic.autogenerate",
    "alembic.command",
    "alembic.runtime.migration",
    "asyncpg",
    "fabula.adapters.models.open_ai",
    "fabula.adapters.stores.batched_saver",
    "fabula.adapters.stores.store",
    "fabula.cli.main",
    "fabula.cli.serve",
    "fabula.loops.conversation.graph",
    "fabula.loops.scene.graph",
    "jsonschema_rs",
    "langchain_core.tracers",
    "sqlalchemy.dialects.postgresql.asyncpg",
    "sqlalchemy.dialects.sqlite.aiosqlite",
    "uvicorn.protocols.http.httptools_impl",
)
"""What a server imports until its first turn is over; none of it starts a thread, which a fork would lose."""


def _import_everything() -> None:
    for part in PARTS:
        with suppress(ModuleNotFoundError):
            import_module(part)


def _become(wish: dict[str, object]) -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    environment, arguments = wish["environment"], wish["arguments"]
    assert isinstance(environment, dict) and isinstance(arguments, list)
    os.environ.update(environment)
    output = os.open(str(wish["log"]), os.O_WRONLY | os.O_APPEND)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for old, new in ((nothing, 0), (output, 1), (output, 2)):
        os.dup2(old, new)
    sys.argv = ["fabula", *map(str, arguments)]
    from fabula.cli.main import main

    main()


def _serve_wishes() -> None:
    _import_everything()
    # Children that end leave nothing behind: whoever asks for their pid is told that they are gone.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            _become(json.loads(line))
            sys.exit(0)
        print(pid, flush=True)  # noqa: T201 - whoever asked reads the pid here


if __name__ == "__main__":
    _serve_wishes()
