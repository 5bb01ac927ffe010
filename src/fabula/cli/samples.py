"""`fabula samples install`: brings the sample stories into the store."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from fabula.actions.library.samples import Installed, install_samples
from fabula.cli.options import ConfigOption, DataDirOption, JsonOption, print_json, screen, settings_from
from fabula.settings import Settings
from fabula.wiring import open_house

app = typer.Typer(help="Bring the sample stories into the store.")


@app.callback()
def samples() -> None:
    """Bring the sample stories into the store."""


@app.command()
def install(
    path: Annotated[
        Path | None,
        typer.Argument(help="A folder of your own: a world, several worlds, or .ink files; else the samples."),
    ] = None,
    config: ConfigOption = None,
    data_dir: DataDirOption = None,
    json: JsonOption = False,
) -> None:
    """Install what is missing of the sample worlds, or of a folder of your own; what is there stays as it is."""
    settings = settings_from(config, data_dir=data_dir)
    installed = asyncio.run(_install(settings, path))
    if json:
        print_json([vars(one) for one in installed])
        return
    for one in installed:
        added = "1 thing" if one.added == 1 else f"{one.added} things"
        state = f"{added} added" if one.added else "was there already"
        screen().print(f"{one.display_name}: {state}. Play it with: fabula play --story {one.story_id}")


async def _install(settings: Settings, path: Path | None) -> list[Installed]:
    async with open_house(settings) as house:
        return await install_samples(house, path)
