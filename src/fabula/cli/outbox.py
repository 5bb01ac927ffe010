"""`fabula outbox`: what still follows turns, what was buried and why; try it again, or drop it."""

from __future__ import annotations

from typing import Annotated, Literal

import typer
from rich.table import Table

from fabula.actions.followers.outbox import drop_outbox, list_outbox, retry_outbox, show_outbox
from fabula.actions.work_items import ListUnfinished, NameWork, WorkItem
from fabula.cli.in_house import in_house
from fabula.cli.options import ConfigOption, DataDirOption, JsonOption, print_json, screen, settings_from, shown_time
from fabula.cli.player.sentences import shortened
from fabula.ports.actors import OPERATOR

app = typer.Typer(help="See what still follows turns; try it again, or drop it.", no_args_is_help=True)

IdArgument = Annotated[str, typer.Argument(help="Its id, from `fabula outbox list`.")]
StateOption = Annotated[
    Literal["waiting", "running", "dead"] | None, typer.Option(help="Only what waits, runs, or was buried.")
]


@app.command("list")
def list_(
    state: StateOption = None,
    limit: Annotated[int, typer.Option(help="How many to show, the oldest first.", min=1, max=1000)] = 50,
    config: ConfigOption = None,
    data_dir: DataDirOption = None,
    json: JsonOption = False,
) -> None:
    """Show what follows turns and is not done yet."""
    asked = ListUnfinished(state=state, limit=limit)
    listed = in_house(settings_from(config, data_dir=data_dir), lambda house: list_outbox(house, OPERATOR, asked))
    if json:
        print_json([item.as_json() for item in listed.items])
    elif listed.items:
        screen().print(_table(listed.items))
        if listed.next_cursor is not None:
            screen().print(f"There are more; --limit {limit * 2} shows them.")
    else:
        screen().print("Nothing waits: everything that follows turns is done.")


@app.command()
def show(id: IdArgument, config: ConfigOption = None, data_dir: DataDirOption = None, json: JsonOption = False) -> None:
    """Show one piece of work whole, with the reason why its last try failed."""
    asked = NameWork(id=id)
    item = in_house(settings_from(config, data_dir=data_dir), lambda house: show_outbox(house, OPERATOR, asked))
    if json:
        print_json(item.as_json())
        return
    for name, value in item.as_json().items():
        if name != "type":
            shown = shown_time(int(str(value))) if name.endswith("_at_ms") else value
            screen().print(f"{name.removesuffix('_at_ms').replace('_', ' ')}: {shown}")


@app.command()
def retry(id: IdArgument, config: ConfigOption = None, data_dir: DataDirOption = None) -> None:
    """Try work again that was buried; a running server takes it up within seconds."""
    asked = NameWork(id=id)
    in_house(settings_from(config, data_dir=data_dir), lambda house: retry_outbox(house, OPERATOR, asked))
    screen().print(f"{id} waits to be tried again. A running server takes it up.")


@app.command()
def drop(id: IdArgument, config: ConfigOption = None, data_dir: DataDirOption = None) -> None:
    """Give work up that waits or was buried; the turn that it follows stays as it is."""
    asked = NameWork(id=id)
    in_house(settings_from(config, data_dir=data_dir), lambda house: drop_outbox(house, OPERATOR, asked))
    screen().print(f"{id} was dropped.")


def _table(items: list[WorkItem]) -> Table:
    table = Table(box=None, header_style="bold", pad_edge=False)
    for name in ("id", "kind", "state", "tries", "due", "why"):
        table.add_column(name, overflow="fold")
    for item in items:
        why = shortened(item.error or "", 60)
        table.add_row(item.id, item.kind, item.state, str(item.tries), shown_time(item.due_at_ms), why)
    return table
