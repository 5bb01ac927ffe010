"""Servers for the benchmarks, each in a process of its own, ended by their ids."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from socket import create_server

ROOT = Path(__file__).parent.parent


def free_port() -> int:
    with create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


@contextmanager
def process(
    *arguments: str, ready: str, core: int | None = None, settings: Mapping[str, str] | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """A Python process that answers at `ready` before the block begins; with `core` it keeps to that core."""
    running = subprocess.Popen(
        [*(pinned_to(core)), sys.executable, *arguments],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        env={**os.environ, **(settings or {})},
    )
    try:
        _wait(ready, running)
        yield running
    finally:
        running.terminate()
        try:
            running.wait(10)
        except subprocess.TimeoutExpired:
            running.kill()
            running.wait()


def pinned_to(core: int | None) -> list[str]:
    """What stands before a command so that the process and all its threads keep to one core; it keeps its id."""
    return [] if core is None or shutil.which("taskset") is None else ["taskset", "-c", str(core)]


def _wait(address: str, running: subprocess.Popen[bytes]) -> None:
    for _ in range(600):
        if running.poll() is not None:
            raise SystemExit(f"A benchmark's server ended with {running.returncode}.")
        try:
            urllib.request.urlopen(address, timeout=1).read()
            return
        except OSError:
            time.sleep(0.05)
    raise SystemExit(f"Nothing answers at {address}.")


@contextmanager
def model_server(*, first_token_ms: float = 50, tokens_per_second: float = 50) -> Iterator[str]:
    """The scripted model; answers its base_url."""
    port = free_port()
    arguments = ["-m", "fabula.testing.model_server", "--port", str(port)]
    arguments += ["--first-token-ms", str(first_token_ms), "--tokens-per-second", str(tokens_per_second)]
    arguments += ["--respond", "bench.turn_script:respond"]
    with process(*arguments, ready=f"http://127.0.0.1:{port}/v1/models"):
        yield f"http://127.0.0.1:{port}/v1"


@contextmanager
def fabula_server(
    data_dir: Path,
    *,
    core: int | None = None,
    settings: Mapping[str, str] | None = None,
    program: Sequence[str] = ("-c", "from fabula.cli.main import main; main()"),
) -> Iterator[tuple[str, int]]:
    """A Fabula server; answers its address and process id."""
    port = free_port()
    arguments = [*program, "serve", "--port", str(port), "--data-dir", str(data_dir)]
    with process(*arguments, ready=f"http://127.0.0.1:{port}/readyz", core=core, settings=settings) as running:
        yield f"http://127.0.0.1:{port}", running.pid
