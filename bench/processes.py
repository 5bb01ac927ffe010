"""Servers for the benchmarks, each in a process of its own, ended by their ids."""

from __future__ import annotations

import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from socket import create_server

ROOT = Path(__file__).parent.parent


def free_port() -> int:
    with create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


@contextmanager
def process(*arguments: str, ready: str) -> Iterator[subprocess.Popen[bytes]]:
    """A Python process that answers at `ready` before the block begins."""
    running = subprocess.Popen([sys.executable, *arguments], cwd=ROOT, stdout=subprocess.DEVNULL)
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
def fabula_server(data_dir: Path) -> Iterator[tuple[str, int]]:
    """A Fabula server; answers its address and process id."""
    port = free_port()
    start = "from fabula.cli.main import main; main()"
    arguments = ["-c", start, "serve", "--port", str(port), "--data-dir", str(data_dir)]
    with process(*arguments, ready=f"http://127.0.0.1:{port}/readyz") as running:
        yield f"http://127.0.0.1:{port}", running.pid
