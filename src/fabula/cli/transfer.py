"""`fabula export` and `fabula import`: stories and what they need, into one file and from it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.progress import Progress

from fabula.actions.house import House
from fabula.actions.library.packages import (
    CommitImport,
    PackageContents,
    PrepareExport,
    commit_import,
    keep_import_archive,
    prepare_export,
    prepare_import,
    read_export_archive,
)
from fabula.actions.views import Nothing
from fabula.cli.options import ConfigOption, DataDirOption, JsonOption, print_json, screen, settings_from, write_whole
from fabula.ports.actors import OPERATOR
from fabula.ports.errors import Conflict, InvalidRequest, NotFound
from fabula.ports.store import Kind, Stored
from fabula.settings import Settings
from fabula.wiring import open_house

app = typer.Typer(help="Carry stories from one server to another.")

_FIELDS: dict[Kind, str] = {
    "preset": "preset_ids",
    "schema": "schema_ids",
    "lorebook": "lorebook_ids",
    "player_profile": "player_profile_ids",
    "character": "character_ids",
    "story_resources": "story_resource_ids",
    "story": "story_ids",
    "game_system": "game_system_ids",
    "world": "world_ids",
}


@app.command("export")
def export_(
    file: Annotated[Path, typer.Argument(help="The file to write.")],
    story: Annotated[list[str] | None, typer.Option("--story", help="A story to export; may be repeated.")] = None,
    character: Annotated[list[str] | None, typer.Option("--character", help="A character; may be repeated.")] = None,
    world: Annotated[
        list[str] | None, typer.Option("--world", help="A world with all that is true in it; may be repeated.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Export all that is not built in.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace the file when it exists.")] = False,
    config: ConfigOption = None,
    data_dir: DataDirOption = None,
    json: JsonOption = False,
) -> None:
    """Write stories, and all they need, into one file."""
    if file.exists() and not force:
        raise Conflict(f"There is already a file {file}. Choose another name, or add --force.")
    if not everything and not story and not character and not world:
        raise InvalidRequest("Name what to export with --story, --character or --world, or add --all.")
    named = PrepareExport(story_ids=story or [], character_ids=character or [], world_ids=world or [])
    wanted = None if everything else named
    with Progress(console=screen(), transient=True, disable=json) as progress:
        progress.add_task("Exporting", total=None)
        contents, size = asyncio.run(_export(settings_from(config, data_dir=data_dir), wanted, file))
    _tell(f"{file} is written ({size / 2**20:.1f} MiB)", contents, file, json)


@app.command("import")
def import_(
    file: Annotated[Path, typer.Argument(help="The file to read.")],
    on_conflict: Annotated[
        Literal["fail", "skip", "rename"], typer.Option(help="What to do with names that are taken.")
    ] = "fail",
    config: ConfigOption = None,
    data_dir: DataDirOption = None,
    json: JsonOption = False,
) -> None:
    """Take in all that an exported file holds, or nothing."""
    try:
        data = file.read_bytes()
    except OSError as error:
        raise NotFound(f"The file {file} cannot be read: {error.strerror}.") from None
    with Progress(console=screen(), transient=True, disable=json) as progress:
        progress.add_task("Importing", total=None)
        contents = asyncio.run(_import(settings_from(config, data_dir=data_dir), data, on_conflict))
    _tell(f"{file} is taken in", contents, file, json)


async def _export(settings: Settings, wanted: PrepareExport | None, file: Path) -> tuple[PackageContents, int]:
    async with open_house(settings) as house:
        prepared = await prepare_export(house, OPERATOR, wanted or await _all(house))
        data, _, _ = await read_export_archive(house, prepared.export_id)
    await asyncio.to_thread(write_whole, file, data)
    return prepared.contents, len(data)


async def _all(house: House) -> PrepareExport:
    ids: dict[str, list[str]] = {}
    async with house.store.reading() as unit:
        for kind, field in _FIELDS.items():
            ids[field] = [one.id for one in await unit.resources.page(kind) if not one.built_in and _travels(kind, one)]
    if not any(ids.values()):
        raise NotFound("There is nothing to export yet.")
    return PrepareExport.model_validate(ids)


def _travels(kind: Kind, stored: Stored) -> bool:
    """The private world of a story is made anew where the story is played."""
    return kind != "world" or stored.doc.get("story_id") is None


async def _import(settings: Settings, data: bytes, on_conflict: Literal["fail", "skip", "rename"]) -> PackageContents:
    async with open_house(settings) as house:
        prepared = await prepare_import(house, OPERATOR, Nothing())
        await keep_import_archive(house, prepared.import_id, data)
        done = await commit_import(house, OPERATOR, CommitImport(import_id=prepared.import_id, on_conflict=on_conflict))
    return done.contents


def _tell(sentence: str, contents: PackageContents, file: Path, json: bool) -> None:
    counts = {part: held["count"] for part, held in contents.model_dump().items()}
    if json:
        print_json({"file": str(file), "counts": counts})
        return
    held = ", ".join(counted(part, count) for part, count in counts.items() if count) or "nothing new"
    screen().print(f"{sentence}: {held}.")


def counted(part: str, count: int) -> str:
    """`1 lorebook`, `2 lorebooks`."""
    many = "sets of story resources" if part == "story_resources" else part.replace("_", " ")
    if count != 1:
        return f"{count} {many}"
    first, _, rest = many.partition(" of ")
    one = f"{first[:-3]}y" if first.endswith("ies") else first.removesuffix("s")
    return f"1 {one} of {rest}" if rest else f"1 {one}"
