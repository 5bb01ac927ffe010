"""`fabula worker`: does the work that follows turns, in processes beside the servers.

One process has one event loop that does several pieces of work at once. With `--processes` this one only watches over
the others (`server_processes.py`).
"""

from __future__ import annotations

import asyncio
import shutil
import signal
import socket
import sys
import tempfile
from collections.abc import Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fabula.cli.log_lines import start_log
from fabula.cli.ops_door import OpsPortOption, ops_door, take_ops_port
from fabula.cli.options import ConfigOption, DataDirOption, program, screen, settings_from
from fabula.cli.server_processes import ServerProcess, serve_with
from fabula.ports.work import QUEUES, QueueName
from fabula.settings import Settings, SettingsError
from fabula.wiring import WorkerPart, open_house

if TYPE_CHECKING:
    from fabula.server.siblings import Siblings

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
    ops = take_ops_port(settings, ops_port)
    process = None
    if processes > 1:
        folder = Path(tempfile.mkdtemp(prefix="fabula-"))
        found = serve_with(processes, folder=folder, serving=lambda: _greet(part, f"in {processes} processes"))
        if isinstance(found, int):
            shutil.rmtree(folder, ignore_errors=True)
            raise typer.Exit(found)
        process = found
    run_to_the_end(_work(settings, part, process, ops))


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


async def _work(settings: Settings, part: WorkerPart, process: ServerProcess | None, ops: socket.socket | None) -> None:
    stop = told_to_stop()
    siblings = None
    if process is not None:
        process.watch_parent(stop.set)
        siblings = None if ops is None else _siblings(process)
    async with open_house(settings, worker=part) as house, ops_door(house, ops, siblings):
        if process is None:
            _greet(part, f"on {(await house.store.status()).place}")
        else:
            process.tell_ready()
        await stop.wait()
        if process is None:
            screen().print("Stopping: what was begun is ended or given back.")


def _siblings(process: ServerProcess) -> Siblings:
    from fabula.server.siblings import Siblings

    return Siblings(own=process.number, folder=process.folder)


def _greet(part: WorkerPart, where: str) -> None:
    screen().print(f"Fabula works for {', '.join(part.queues)}, {part.concurrency} at once, {where}")
