"""`fabula play`: plays a story in the terminal, or in a pipe."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Annotated

import typer

from fabula.cli.options import NOT_DONE, ConfigOption, DataDirOption, screen, settings_from

app = typer.Typer()

HIGHEST_SEED = 0x7FFFFFFF


def _possible(seed: int | None) -> int | None:
    if seed is not None and not 0 <= seed <= HIGHEST_SEED:
        raise typer.BadParameter(f"a seed is a whole number from 0 to {HIGHEST_SEED}.")
    return seed


@app.command()
def play(
    story: Annotated[str | None, typer.Option("--story", help="The id of the story; otherwise you choose one.")] = None,
    world: Annotated[
        str | None, typer.Option("--world", help="Free play in this world, by its id: no plot, only places and people.")
    ] = None,
    session: Annotated[
        str | None, typer.Option("--session", help="Go on with a play of yours; /save shows its id.")
    ] = None,
    profile: Annotated[str | None, typer.Option("--profile", help="The player profile to play as, by its id.")] = None,
    seed: Annotated[
        int | None,
        typer.Option("--seed", help="The same seed and the same words make the same play.", callback=_possible),
    ] = None,
    ink: Annotated[
        Path | None,
        typer.Option("--ink", help="Play this .ink file, AI knots included.", exists=True, dir_okay=False),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option("--model", help="Play with this model: `understudy`, an api, or one that was found."),
    ] = None,
    system: Annotated[
        str | None,
        typer.Option("--system", help="Play by this game system: d20, fate, narrative, pbta, your own, or none."),
    ] = None,
    config: ConfigOption = None,
    data_dir: DataDirOption = None,
) -> None:
    """Play a story in the terminal."""
    settings = settings_from(config, data_dir=data_dir)
    from fabula.cli.player.play_session import play_session

    try:
        failed = asyncio.run(
            play_session(
                settings,
                screen(),
                story=story,
                world=world,
                session=session,
                profile=profile,
                seed=seed,
                ink=ink,
                model=model,
                rules=system,
            )
        )
    except (KeyboardInterrupt, asyncio.CancelledError):
        screen().print()
        return
    # Whoever plays has read what went wrong; a script has only the exit code.
    if failed and not sys.stdin.isatty():
        raise typer.Exit(NOT_DONE)
