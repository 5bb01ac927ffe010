"""`fabula backup` and `fabula restore`: the whole store into one file and back, also while the server runs."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import Progress
from rich.table import Table

from fabula.adapters.stores import open_store, restore_backup
from fabula.adapters.stores.restore import BackupContent, Restored, check_backup
from fabula.adapters.world import SystemClock
from fabula.cli.options import ConfigOption, DataDirOption, JsonOption, print_json, screen, settings_from
from fabula.ports.errors import Conflict, InvalidRequest, NotFound
from fabula.settings import Settings

app = typer.Typer(help="Back up and restore the store.")


@app.command()
def backup(
    file: Annotated[Path, typer.Argument(help="The file to write.")],
    force: Annotated[bool, typer.Option("--force", help="Replace the file when it exists.")] = False,
    config: ConfigOption = None,
    data_dir: DataDirOption = None,
    json: JsonOption = False,
) -> None:
    """Write the whole store into one file.

    It may run while the server does.
    """
    settings = settings_from(config, data_dir=data_dir)
    if file.exists() and not force:
        raise Conflict(f"There is already a file {file}. Choose another name, or add --force.")
    if not settings.database_url and not (settings.data_folder / "fabula.db").exists():
        raise NotFound(f"There is nothing to back up in {settings.data_folder}. Check --data-dir.")
    with Progress(console=screen(), transient=True, disable=json) as progress:
        progress.add_task("Writing the backup", total=None)
        content = asyncio.run(write_backup(settings, file))
    if json:
        print_json({"file": str(file), "bytes": file.stat().st_size, "revision": content.revision, **_kinds(content)})
        return
    screen().print(_table(content.kinds))
    screen().print(f"The backup {file} is whole ({file.stat().st_size / 2**20:.1f} MiB).")
    key_file = settings.data_folder / "secret.key"
    # The key file is made with the first secret: where there is none, there is nothing to keep.
    if not settings.secret_key and key_file.exists():
        screen().print(f"Api keys in it stay encrypted: keep a copy of {key_file} in another place.")


@app.command()
def restore(
    file: Annotated[Path, typer.Argument(help="The backup to restore.")],
    yes: Annotated[bool, typer.Option("--yes", help="Replace what is in the store without asking.")] = False,
    config: ConfigOption = None,
    data_dir: DataDirOption = None,
    json: JsonOption = False,
) -> None:
    """Replace everything in the store by a backup.

    It may run while the server does; a bad backup changes nothing.
    """
    settings = settings_from(config, data_dir=data_dir)
    content = check_backup(file)
    if json and not yes:
        raise InvalidRequest("A script is not asked, so it must say that it means it: add --yes.")
    if not yes:
        screen().print(_table(content.kinds))
        typer.confirm(f"Replace everything in {_place(settings)} by this?", abort=True)
    with Progress(console=screen(), transient=True, disable=json) as progress:
        task = progress.add_task("Restoring", total=None)

        def told(what: str, done: int, of: int) -> None:
            progress.update(task, description=what, completed=done, total=of)

        restored = asyncio.run(restore_backup(settings, SystemClock(), file, progress=told))
    _tell_restored(restored, file, json)


async def write_backup(settings: Settings, file: Path) -> BackupContent:
    """Writes a backup and reads it back."""
    store = open_store(settings, SystemClock())
    await store.open()
    try:
        await store.backup(file)
    finally:
        await store.close()
    return await asyncio.to_thread(check_backup, file)


def _tell_restored(restored: Restored, file: Path, json: bool) -> None:
    if json:
        print_json(
            {
                "file": str(file),
                "revision": restored.revision,
                **_kinds(restored),
                "tables": dict(restored.tables),
                "locked_secrets": list(restored.locked_secrets),
                "has_checksum": restored.has_checksum,
            }
        )
        return
    screen().print(_table(restored.kinds))
    rows = sum(restored.tables.values())
    screen().print(f"Restored {rows} rows from {file} and compared each of them with the backup.")
    if not restored.has_checksum:
        screen().print(
            "The backup was written by an older version, without a checksum: whether it was changed since is not known."
        )
    if restored.locked_secrets:
        names = ", ".join(restored.locked_secrets)
        screen().print(
            f"These secrets were encrypted with another key and must be entered again: {names}. "
            "Or put the old key file (or secret_key) back in place."
        )


def _kinds(content: BackupContent | Restored) -> dict[str, object]:
    return {"kinds": dict(content.kinds)}


def _table(kinds: Mapping[str, int]) -> Table:
    table = Table("kind", "number", title="Content")
    for kind, number in kinds.items():
        table.add_row(kind, str(number))
    return table


def _place(settings: Settings) -> str:
    return "the Postgres database" if settings.database_url else str(settings.data_folder)
