"""`fabula beat`: begins periodic work, each job once in its period; workers do it."""

from __future__ import annotations

import socket

import typer

from fabula.actions.periodic_jobs import periodic_jobs
from fabula.cli.log_lines import start_log
from fabula.cli.ops_door import OpsPortOption, ops_door, take_ops_port
from fabula.cli.options import ConfigOption, DataDirOption, screen, settings_from
from fabula.cli.worker import need_broker, run_to_the_end, told_to_stop
from fabula.settings import Settings
from fabula.wiring import open_house

app = typer.Typer()


@app.command()
def beat(ops_port: OpsPortOption = None, config: ConfigOption = None, data_dir: DataDirOption = None) -> None:
    """Begin periodic work, beside workers."""
    settings = settings_from(config, data_dir=data_dir)
    need_broker(settings, "beat")
    start_log(settings)
    run_to_the_end(_beat(settings, take_ops_port(settings, ops_port)))


async def _beat(settings: Settings, ops: socket.socket | None) -> None:
    stop = told_to_stop()
    async with open_house(settings, begins_periodic=True) as house, ops_door(house, ops):
        names = ", ".join(job.kind for job in periodic_jobs(house))
        screen().print(f"Fabula begins periodic work: {names}")
        await stop.wait()
