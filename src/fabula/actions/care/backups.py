"""Backups on the server's own disk: write one while it runs, and list those that are there.

A backup is put back with `fabula restore` on the machine where it lies: nobody replaces a store from afar.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from fabula.actions.authority import allowed
from fabula.actions.house import House
from fabula.actions.views import ListView, Nothing, Paging, View, part_of
from fabula.ports.actors import Actor
from fabula.ports.errors import StoreError
from fabula.ports.threads import run_in_thread

ENDING = ".fabula-backup"


class BackupView(View):
    """A backup; `file` is its name in the folder of backups."""

    type: Literal["backup"] = "backup"
    file: str
    bytes: int
    created_at_ms: int


class BackupsListed(ListView):
    type: Literal["backups_listed"] = "backups_listed"
    folder: str
    backups: list[BackupView]


@allowed("admin")
async def create_backup(house: House, actor: Actor, command: Nothing) -> BackupView:
    """Writes the whole store, as it is at one moment, into a new file in the folder of backups of this server."""
    folder = house.settings.backup_folder
    await run_in_thread(_make, folder)
    target = folder / f"{house.ids.new('backup')}{ENDING}"
    await house.store.backup(target)
    return await run_in_thread(_view, target)


@allowed("admin")
async def list_backups(house: House, actor: Actor, command: Paging) -> BackupsListed:
    """Lists the backups in the folder of this server, oldest first."""
    folder = house.settings.backup_folder
    found, cursor = part_of(await run_in_thread(_found, folder), command, lambda one: one.file)
    return BackupsListed(folder=str(folder), backups=found, next_cursor=cursor)


def _make(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"The folder of backups cannot be made: {error.strerror}. Check `backup_dir`.") from error


def _found(folder: Path) -> list[BackupView]:
    if not folder.is_dir():
        return []
    # Their names begin with their ids, which grow with time.
    return [_view(file) for file in sorted(folder.glob(f"*{ENDING}"))]


def _view(file: Path) -> BackupView:
    status = file.stat()
    return BackupView(file=file.name, bytes=status.st_size, created_at_ms=status.st_mtime_ns // 1_000_000)
