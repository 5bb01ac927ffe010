"""Asks a server all the time whether it lives, in a process of its own; tells its longest wait and its growth."""

from __future__ import annotations

import sys
import time
from http.client import HTTPConnection
from pathlib import Path


def megabytes(pid: str) -> float:
    status = Path(f"/proc/{pid}/status").read_text("utf-8")
    return int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1]) / 1024


def tell(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def watch(host: str, port: int, pid: str, ends: Path) -> None:
    connection = HTTPConnection(host, port, timeout=120)
    longest, first, largest = 0.0, megabytes(pid), 0.0
    tell("watching")
    while not ends.exists():
        started = time.monotonic()
        connection.request("GET", "/healthz")
        connection.getresponse().read()
        longest = max(longest, time.monotonic() - started)
        largest = max(largest, megabytes(pid))
        time.sleep(0.02)
    tell(f"{longest:.3f} {largest - first:.0f}")


if __name__ == "__main__":
    watch(sys.argv[1], int(sys.argv[2]), sys.argv[3], Path(sys.argv[4]))
