"""`fabula doctor`: shows what works, and the next step for what does not."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from fabula.cli.check_up import Finding, State, check_up
from fabula.cli.options import (
    NOT_DONE,
    ConfigOption,
    DataDirOption,
    JsonOption,
    print_json,
    screen,
    settings_from,
)
from fabula.settings import Settings, is_secret

_MARKS: dict[State, Text] = {
    "ok": Text("✓", style="green"),
    "idle": Text("·", style="dim"),
    "missing": Text("○", style="yellow"),
    "broken": Text("✗", style="red"),
}
app = typer.Typer()


@app.command()
def doctor(
    settings: Annotated[bool, typer.Option("--settings", help="Show every setting as a server would use it.")] = False,
    config: ConfigOption = None,
    data_dir: DataDirOption = None,
    json: JsonOption = False,
) -> None:
    """Show what works, and the next step for what does not."""
    chosen = settings_from(config, data_dir=data_dir)
    if settings:
        _show_settings(chosen, json)
        return
    findings = asyncio.run(check_up(chosen))
    if json:
        print_json({"findings": [asdict(finding) for finding in findings]})
    else:
        _show(findings)
    if any(finding.state == "broken" for finding in findings):
        raise typer.Exit(NOT_DONE)


def _show(findings: list[Finding]) -> None:
    table = Table.grid(padding=(0, 2))
    for finding in findings:
        table.add_row(_MARKS[finding.state], finding.part, finding.sentence)
        if finding.next_step:
            table.add_row("", "", Text(f"→ {finding.next_step}", style="bold"))
    screen().print(table)


def _show_settings(settings: Settings, json: bool) -> None:
    values = {name: _shown(settings, name) for name in Settings.model_fields}
    if json:
        print_json(values)
        return
    table = Table("setting", "value", "what it does")
    for name, value in values.items():
        table.add_row(name, str(value), Settings.model_fields[name].description)
    screen().print(table)


def _shown(settings: Settings, name: str) -> object:
    value = getattr(settings, name)
    if is_secret(name):
        return "(set)" if value else ""
    return list(value) if isinstance(value, tuple) else value if isinstance(value, bool | int | float) else str(value)
