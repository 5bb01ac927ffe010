"""`fabula worker`: does the work that follows turns, in processes beside the servers.

One process has one event loop that does several pieces of work at once. With `--processes` this one only watches over
the others: it starts again what died, and passes on the signal to stop.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Coroutine
from pathlib import Path
from typing import Annotated, Any

import typer

from fabula.cli.log_lines import start_log
from fabula.cli.ops_door import OpsPortOption, ops_door
from fabula.cli.options import ConfigOption, DataDirOption, program, screen, settings_from
from fabula.ports.work import QUEUES, QueueName
from fabula.settings import Settings, SettingsError
from fabula.wiring import WorkerPart, open_house

FIRST_PAUSE_S, LONGEST_PAUSE_S, LIVES_S = 1.0, 30.0, 60.0
"""How soon a process that died is started again: the later, the more often it died within a minute of its start."""
PATIENCE_S = 40.0
app = typer.Typer()


@app.command()
def worker(
    queues: Annotated[str, typer.Option(help="The queues to work for, separated by commas.")] = ",".join(QUEUES),
    concurrency: Annotated[
        int, typer.Option(help="How many pieces of work a process does at once.", min=1, max=256)
    ] = 8,
    processes: Annotated[int, typer.Option(help="How many processes to start; one for each core.", min=1, max=64)] = 1,
    ops_port: OpsPortOption = None,
    config: ConfigOption = None,
    data_dir: DataDirOption = None,
) -> None:
    """Do the work that follows turns, beside the servers."""
    settings = settings_from(config, data_dir=data_dir)
    part = WorkerPart(queues=queue_names(queues), concurrency=concurrency)
    need_broker(settings, "worker")
    start_log(settings)
    if processes > 1 and ops_port is not None:
        raise SettingsError("Several processes cannot answer at one port: leave --processes out, or --ops-port.")
    if processes > 1:
        raise typer.Exit(_watch_over(processes, part, config, data_dir))
    run_to_the_end(_work(settings, part, ops_port))


def queue_names(asked: str) -> tuple[QueueName, ...]:
    """The queues that were asked for by name."""
    names = asked.replace(" ", "").split(",")
    unknown = [name for name in names if name not in QUEUES]
    if unknown:
        raise SettingsError(f"There is no queue named '{unknown[0]}'. Choose of {', '.join(QUEUES)}.")
    return tuple(name for name in QUEUES if name in names)


def need_broker(settings: Settings, command: str) -> None:
    """Raises a sentence where no broker is set."""
    if not settings.broker_url:
        raise SettingsError(
            f"`{program()} {command}` needs a broker: set broker_url to redis://host:6379/1 or amqp://host:5672//, "
            "for the servers, too. Without one, servers do the work themselves."
        )


def run_to_the_end(work: Coroutine[Any, Any, None]) -> None:
    if sys.platform == "win32":
        asyncio.run(work)
    else:
        import uvloop

        uvloop.run(work)


def told_to_stop() -> asyncio.Event:
    """Set when the process is asked to stop."""
    stop, loop = asyncio.Event(), asyncio.get_running_loop()
    for name in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(name, stop.set)
    return stop


async def _work(settings: Settings, part: WorkerPart, ops_port: int | None) -> None:
    stop = told_to_stop()
    async with open_house(settings, worker=part) as house, ops_door(house, ops_port):
        where = (await house.store.status()).place
        screen().print(f"Fabula works for {', '.join(part.queues)}, {part.concurrency} at once, on {where}")
        await stop.wait()
        screen().print("Stopping: what was begun is ended or given back.")


def _watch_over(processes: int, part: WorkerPart, config: Path | None, data_dir: Path | None) -> int:
    """Keeps so many workers alive until it is told to stop."""
    watch = _Watch(_command(part, config, data_dir), processes)
    for name in (signal.SIGTERM, signal.SIGINT):
        signal.signal(name, lambda *_: watch.stop())
    return watch.run()


def _command(part: WorkerPart, config: Path | None, data_dir: Path | None) -> list[str]:
    start = [sys.executable, "-c", "from fabula.cli.main import main; main()", "worker"]
    options = ["--queues", ",".join(part.queues), "--concurrency", str(part.concurrency)]
    for name, value in (("--config", config), ("--data-dir", data_dir)):
        options += [] if value is None else [name, str(value)]
    return start + options


class _Watch:
    def __init__(self, command: list[str], processes: int) -> None:
        self._command = command
        self._places: list[_Place] = [_Place() for _ in range(processes)]
        self._stopping = False

    def stop(self) -> None:
        self._stopping = True
        for place in self._places:
            if place.process is not None:
                place.process.terminate()

    def run(self) -> int:
        while not self._stopping:
            for place in self._places:
                place.tend(self._command)
            time.sleep(0.2)
        until = time.monotonic() + PATIENCE_S
        for place in self._places:
            place.end(max(0.0, until - time.monotonic()))
        return os.EX_OK


class _Place:
    """The place of one process: the one that is there now, and when the next one may start."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[bytes] | None = None
        self._started, self._pause, self._next = 0.0, FIRST_PAUSE_S, 0.0

    def tend(self, command: list[str]) -> None:
        now = time.monotonic()
        if self.process is not None and self.process.poll() is not None:
            lived = now - self._started
            self._pause = FIRST_PAUSE_S if lived > LIVES_S else min(LONGEST_PAUSE_S, self._pause * 2)
            self._next, self.process = now + self._pause, None
        if self.process is None and now >= self._next:
            self._started, self.process = now, subprocess.Popen(command)

    def end(self, patience_s: float) -> None:
        if self.process is None:
            return
        try:
            self.process.wait(patience_s)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
