"""`fabula canon`: see what was proposed about a world, judge it by its policy, decide, and write canon down."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

import orjson
import typer
from rich.table import Table

from fabula.actions.canon.changes import (
    ChangesListed,
    Decide,
    ListChanges,
    Review,
    decide_change,
    list_changes,
    review_changes,
)
from fabula.actions.canon.export_world import ExportWorld, write_world
from fabula.actions.house import House
from fabula.canon.contradictions import said
from fabula.cli.in_house import in_house
from fabula.cli.options import ConfigOption, DataDirOption, JsonOption, print_json, screen, settings_from
from fabula.formats.world_texts.writers import WORLD_WRITERS
from fabula.ports.actors import OPERATOR
from fabula.story.canon import ChangeStatus

app = typer.Typer(help="See, judge and decide what becomes canon.", no_args_is_help=True)

CanonFormat = Literal["json", "graphml", "cypher", "markdown", "changes"]
WorldArgument = Annotated[str, typer.Argument(help="The id of the world.")]


@app.command("list")
def list_(
    world: WorldArgument,
    status: Annotated[ChangeStatus | None, typer.Option(help="Only changes in this status.")] = None,
    about: Annotated[str | None, typer.Option(help="Only what is about this entity.")] = None,
    limit: Annotated[int, typer.Option(help="How many to show.", min=1, max=1000)] = 100,
    config: ConfigOption = None,
    data_dir: DataDirOption = None,
    json: JsonOption = False,
) -> None:
    """Show changes of a world's canon, in the order in which they were proposed."""
    asked = ListChanges(world_id=world, status=status, about=about, limit=limit)
    listed = in_house(settings_from(config, data_dir=data_dir), lambda house: list_changes(house, OPERATOR, asked))
    if json:
        print_json([change.as_json() for change in listed.changes])
        return
    table = Table("id", "status", "what", "why", box=None, header_style="dim")
    for change in listed.changes:
        why = "" if change.verdict is None else change.verdict.sentence
        table.add_row(change.change_id, change.status, said(change.content), why)
    screen().print(table)


@app.command()
def review(
    world: WorldArgument,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would become of them.")] = False,
    config: ConfigOption = None,
    data_dir: DataDirOption = None,
) -> None:
    """Judge what is pending by the world's policy, and commit what it accepts."""
    asked = Review(world_id=world, dry_run=dry_run)
    found = in_house(settings_from(config, data_dir=data_dir), lambda house: review_changes(house, OPERATOR, asked))
    for one in found.judged:
        screen().print(f"{one.change_id}: {one.verdict.result}. {one.verdict.sentence}", markup=False)
    would = "would be " if dry_run else ""
    counts = f"{found.accepted} {would}accepted, {found.rejected} {would}rejected, {found.pending} left to decide."
    screen().print(counts)


@app.command()
def decide(
    change: Annotated[str, typer.Argument(help="The id of the change.")],
    verdict: Annotated[Literal["accept", "reject"], typer.Argument(help="What becomes of it.")],
    reason: Annotated[str, typer.Option(help="Why; it is kept with the change.")] = "",
    config: ConfigOption = None,
    data_dir: DataDirOption = None,
) -> None:
    """Decide upon a change that is pending."""
    asked = Decide(change_id=change, verdict=verdict, reason=reason or "decided by hand")
    view = in_house(settings_from(config, data_dir=data_dir), lambda house: decide_change(house, OPERATOR, asked))
    screen().print(f"{view.change_id} is {view.status}.", markup=False)


@app.command()
def export(
    world: WorldArgument,
    file: Annotated[Path, typer.Argument(help="The file to write; `-` writes to standard output.", dir_okay=False)],
    format: Annotated[
        CanonFormat | None,
        typer.Option(
            "--format",
            help="json, graphml, cypher or markdown; `changes` is all that was ever proposed. Else by the name.",
        ),
    ] = None,
    session: Annotated[
        str | None, typer.Option("--session", help="The world as the play of this session sees it at its head.")
    ] = None,
    config: ConfigOption = None,
    data_dir: DataDirOption = None,
) -> None:
    """Write what is true in a world into a file, for people or other programs; or all that was ever proposed."""
    settings, chosen = settings_from(config, data_dir=data_dir), format or _format_of(file)
    if chosen == "changes":
        pages = in_house(settings, lambda house: _every_change(house, world))
        changes = [change.as_json() for page in pages for change in page.changes]
        text = orjson.dumps({"world_id": world, "changes": changes}, option=orjson.OPT_INDENT_2).decode() + "\n"
        told = f"{len(changes)} changes of '{world}' are in {file.name}."
    else:
        asked = ExportWorld(world_id=world, format=chosen)
        written = in_house(settings, lambda house: write_world(house, OPERATOR, session, asked, most=None))
        text = written.text
        told = f"{written.entities} entities and {written.edges} facts of '{world}' are in {file.name}."
    if str(file) == "-":
        sys.stdout.write(text)
        return
    file.write_text(text, "utf-8")
    screen().print(told, markup=False)


def _format_of(file: Path) -> CanonFormat:
    return next((name for name, writer in WORLD_WRITERS.items() if writer.suffix == file.suffix), "json")


async def _every_change(house: House, world: str) -> list[ChangesListed]:
    pages, cursor = [], None
    while True:
        pages.append(await list_changes(house, OPERATOR, ListChanges(world_id=world, limit=1000, cursor=cursor)))
        cursor = pages[-1].next_cursor
        if cursor is None:
            return pages
