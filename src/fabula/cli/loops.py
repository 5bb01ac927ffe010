"""`fabula loops`: the loops that turns and stories go through, as pictures."""

from __future__ import annotations

from typing import Annotated

import typer

from fabula.actions.plays.loops import LoopLine, loop_lines
from fabula.cli.options import JsonOption, print_json

app = typer.Typer(help="Draw the loops that turns and stories go through.", no_args_is_help=True)


@app.callback()
def _loops() -> None:
    """Draw the loops that turns and stories go through."""


@app.command()
def draw(
    name: Annotated[str | None, typer.Argument(help="One loop; all of them without it.")] = None,
    json: JsonOption = False,
) -> None:
    """Print loops as Mermaid flowcharts."""
    lines = loop_lines()
    chosen = [line for line in lines if name in (None, line.name)]
    if not chosen:
        known = ", ".join(line.name for line in lines)
        raise typer.BadParameter(f"There is no loop '{name}'. There are: {known}.")
    if json:
        print_json([line.as_json() for line in chosen])
    else:
        print("\n".join(_told(line) for line in chosen), end="")


def _told(line: LoopLine) -> str:
    """A loop as Mermaid, with its name and sentence as comments."""
    return f"%% {line.name}: {line.sentence}\n{line.drawing}"
