"""A real server in a process of its own, for tests that come in by the front door."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

PROGRAM = (sys.executable, "-c", "from fabula.cli.main import main; main()")
_LISTENS = re.compile(r"listens on (http://\S+)")
_OURS = re.compile(r"FABULA_|OPENAI_|LLM_|REDIS_URL|DB_DSN|SECRET_KEY|LOG_LEVEL|CORS_")


class ServerFailed(Exception):
    """The server did not come up; the message is what it said."""


@contextmanager
def running_server(
    data_dir: Path,
    *options: str,
    settings: Mapping[str, str] | None = None,
    seconds: float = 60,
    program: Iterable[str] = PROGRAM,
) -> Iterator[str]:
    """Starts `fabula serve` on a free port and answers its address once it is ready; it is stopped at the end."""
    with server_process(data_dir, *options, settings=settings, seconds=seconds, program=program) as (_, address):
        yield address


@contextmanager
def server_process(
    data_dir: Path,
    *options: str,
    settings: Mapping[str, str] | None = None,
    seconds: float = 60,
    program: Iterable[str] = PROGRAM,
) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """The same with the process itself, for tests that kill it."""
    log = data_dir / "server.log"
    data_dir.mkdir(parents=True, exist_ok=True)
    command = [*program, "serve", "--port", "0", "--data-dir", str(data_dir), *options]
    with log.open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, env=clean_environment(settings))
    try:
        yield process, _wait_until_ready(process, log, time.monotonic() + seconds)
    finally:
        process.terminate()
        try:
            process.wait(timeout=15)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def clean_environment(settings: Mapping[str, str] | None = None) -> dict[str, str]:
    """This process' environment without what would change a server's settings, and with those given."""
    kept = {name: value for name, value in os.environ.items() if not _OURS.match(name)}
    return {**kept, **(settings or {})}


def _wait_until_ready(process: subprocess.Popen[bytes], log: Path, deadline: float) -> str:
    while time.monotonic() < deadline and process.poll() is None:
        told = _LISTENS.search(log.read_text("utf-8", "replace"))
        if told is not None and _is_ready(told[1]):
            return told[1]
        time.sleep(0.02)
    raise ServerFailed(log.read_text("utf-8", "replace"))


def _is_ready(address: str) -> bool:
    try:
        with urlopen(f"{address}/readyz", timeout=5) as answer:
            return bool(answer.status == 200)
    except (URLError, TimeoutError):
        return False
