"""`fabula story new`: makes a story with you, from a concept to something that can be played."""

from __future__ import annotations

import asyncio

import typer

from fabula.cli.options import ConfigOption, DataDirOption, screen, settings_from

app = typer.Typer(help="Make stories.")


@app.callback()
def story() -> None:
    """Make stories."""


@app.command()
def new(config: ConfigOption = None, data_dir: DataDirOption = None) -> None:
    """Make a story with you: concept, cast, plan, scenes. In a pipe the answers come from standard input."""
    settings = settings_from(config, data_dir=data_dir)
    from fabula.cli.author.wizard import write_story

    try:
        asyncio.run(write_story(settings, screen()))
    except (KeyboardInterrupt, asyncio.CancelledError):
        screen().print()
