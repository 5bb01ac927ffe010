"""Whether the disk takes what players say: a server that can only read is alive, but not ready."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

from fabula.ports.threads import run_in_thread

REMEMBERED_S: Final = 5.0
_PROBE_BYTES: Final = 64 * 1024


class DiskSpace:
    """Looks at the disk of a folder, and remembers for a few seconds what it saw: monitors ask often."""

    def __init__(self, folder: Path, *, least_mib: int, monotonic: Callable[[], float]) -> None:
        self._folder, self._least_mib, self._monotonic = folder, least_mib, monotonic
        self._until = 0.0
        self._found: str | None = None

    async def problem(self) -> str | None:
        """Why nothing can be written there, or None."""
        if self._monotonic() >= self._until:
            self._found = await run_in_thread(disk_problem, self._folder, self._least_mib)
            self._until = self._monotonic() + REMEMBERED_S
        return self._found


def disk_problem(folder: Path, least_mib: int) -> str | None:
    """Why a folder cannot be written, tried with a small file; None when it can. It names no path to strangers."""
    try:
        if shutil.disk_usage(folder).free < least_mib * 1024 * 1024:
            return f"The disk of the data folder has less than {least_mib} MiB left. Free some space."
        with tempfile.TemporaryFile(dir=folder) as probe:
            probe.write(bytes(_PROBE_BYTES))
            probe.flush()
            os.fsync(probe.fileno())
    except OSError as error:
        return f"The data folder cannot be written: {error.strerror}. Free some space, or make it writable."
    return None
