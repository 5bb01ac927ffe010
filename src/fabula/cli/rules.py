"""`fabula rules`: see the game systems, and check one that you write before you bring it in."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated

import orjson
import typer
from pydantic import ValidationError
from rich.table import Table

from fabula.actions.house import House
from fabula.actions.rules.game_systems import (
    CreateGameSystem,
    GameSystemsListed,
    create_game_system,
    list_game_systems,
)
from fabula.actions.views import Paging
from fabula.cli.in_house import in_house
from fabula.cli.options import ConfigOption, DataDirOption, JsonOption, print_json, screen, settings_from
from fabula.ports.actors import OPERATOR
from fabula.rules.systems import system_problems
from fabula.story.game_systems import GameSystem

app = typer.Typer(help="See, check and bring in game systems.", no_args_is_help=True)

MOST_BYTES = 1_000_000
FileArgument = Annotated[
    Path, typer.Argument(help="A game system as TOML or JSON.", exists=True, dir_okay=False, readable=True)
]


@app.command("list")
def list_(config: ConfigOption = None, data_dir: DataDirOption = None, json: JsonOption = False) -> None:
    """Show the game systems, those that are built in first."""

    async def find(house: House) -> GameSystemsListed:
        return await list_game_systems(house, OPERATOR, Paging())

    listed = in_house(settings_from(config, data_dir=data_dir), find).game_systems
    if json:
        print_json([line.as_json() for line in listed])
        return
    table = Table("id", "name", "", "what it is", box=None, header_style="dim")
    for line in listed:
        table.add_row(line.system_id, line.display_name, "built in" if line.built_in else "", line.description)
    screen().print(table)


@app.command()
def check(file: FileArgument) -> None:
    """Check a game system that you wrote, and say everything that is wrong with it."""
    system = read_system(file)
    problems = system_problems(system)
    for problem in problems:
        screen().print(f"- {problem}", markup=False)
    if problems:
        raise typer.Exit(1)
    counts = f"{len(system.attributes)} attributes, {len(system.skills)} skills, {len(system.tracks)} tracks"
    screen().print(f"{system.display_name} ({system.system_id}) is fine: {counts}.", markup=False)


@app.command()
def add(file: FileArgument, config: ConfigOption = None, data_dir: DataDirOption = None) -> None:
    """Bring a game system into the store, so that stories can be played by it."""
    command = CreateGameSystem(**dict(read_system(file)))
    settings = settings_from(config, data_dir=data_dir)
    view = in_house(settings, lambda house: create_game_system(house, OPERATOR, command))
    screen().print(f"'{view.system_id}' is in the store.", markup=False)


def read_system(file: Path) -> GameSystem:
    """The system in a file; what makes it none is said, and ends the command."""
    try:
        return GameSystem.model_validate(_document(file))
    except ValidationError as error:
        for one in error.errors()[:20]:
            screen().print(f"- {'.'.join(map(str, one['loc']))}: {one['msg']}", markup=False)
        raise typer.Exit(1) from None


def _document(file: Path) -> object:
    try:
        text = file.read_bytes()[: MOST_BYTES + 1]
        if len(text) > MOST_BYTES:
            raise ValueError(f"it is larger than {MOST_BYTES} bytes")
        return orjson.loads(text) if file.suffix == ".json" else tomllib.loads(text.decode("utf-8"))
    except ValueError as error:
        language = "JSON" if file.suffix == ".json" else "TOML"
        screen().print(f"{file.name} cannot be read as {language}: {error}", markup=False)
        raise typer.Exit(1) from None
