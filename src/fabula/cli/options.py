"""What the commands share: options, settings from all sources, and how errors and tables are told.

Exit codes: 0 done; 1 it could not be done, with a sentence on stderr; 2 the command or a setting was not understood.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import orjson
import typer
from rich.console import Console

from fabula.ports.errors import FabulaError, InvalidRequest
from fabula.settings import Settings, SettingsError, load_settings, unknown_names

ConfigOption = Annotated[
    Path | None,
    typer.Option("--config", help="A TOML file with settings; otherwise ./fabula.toml is read when it is there."),
]
DataDirOption = Annotated[
    Path | None, typer.Option("--data-dir", help="The folder for the database, blobs and the key file.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Answer with JSON for scripts.")]

NOT_DONE, NOT_UNDERSTOOD = 1, 2


def settings_from(config: Path | None = None, **flags: object) -> Settings:
    """The settings from file, environment and flags; a flag that is None was not given.

    Warns of variables that set nothing.
    """
    for sentence in unknown_names(os.environ):
        say_warning(sentence)
    return load_settings(environment=os.environ, config=config, flags=flags)


def tell(error: Exception) -> int:
    """Tells an error on stderr in one sentence, and answers the exit code."""
    if isinstance(error, SettingsError):
        say_error(str(error))
        return NOT_UNDERSTOOD
    if isinstance(error, FabulaError):
        say_error(error.message)
    else:
        say_error(
            f"Something unexpected went wrong ({type(error).__name__}: {error}). "
            "Run the command again with FABULA_LOG_LEVEL=debug to see where."
        )
    return NOT_DONE


def screen(*, stderr: bool = False) -> Console:
    """The terminal for people; markup in what users wrote is never interpreted."""
    return Console(stderr=stderr, highlight=False, soft_wrap=True, markup=False)


def shown_time(ms: int) -> str:
    """A moment as people at this machine read it."""
    return datetime.fromtimestamp(ms / 1000, UTC).astimezone().strftime("%Y-%m-%d %H:%M")


def confirm(question: str, *, yes: bool) -> None:
    """Asks before something is lost; a script says beforehand that it means it."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise InvalidRequest("Not a terminal: confirm with --yes")
    typer.confirm(question, abort=True)


def write_whole(file: Path, data: bytes) -> None:
    """Writes beside the file and renames, so that a file of that name is always whole."""
    beside = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        beside.write_bytes(data)
        beside.replace(file)
    except OSError as error:
        raise InvalidRequest(f"The file {file} cannot be written: {error.strerror}.") from None
    finally:
        beside.unlink(missing_ok=True)


def say_error(sentence: str) -> None:
    screen(stderr=True).print(sentence, style="red")


def say_warning(sentence: str) -> None:
    screen(stderr=True).print(sentence, style="yellow")


def program() -> str:
    """How this program is typed here: `fabula` where the shell finds it, else the path of its script."""
    script = Path(sys.argv[0])
    if script.name != "fabula" or shutil.which("fabula") is not None:
        return "fabula"
    return os.path.relpath(script)


def print_json(value: Mapping[str, object] | list[Mapping[str, object]]) -> None:
    """Prints a value for scripts."""
    print(orjson.dumps(value, option=orjson.OPT_INDENT_2, default=str).decode())
