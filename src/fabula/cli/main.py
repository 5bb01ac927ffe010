"""The entry point `fabula`: knows every command by name and sentence, and loads one only when it is called."""

from __future__ import annotations

import gc
import os
import sys
from dataclasses import dataclass
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from fabula import __version__


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A command: the module whose `app` holds it, and its sentence in the list of commands."""

    module: str
    sentence: str


COMMANDS: dict[str, Entry] = {
    "serve": Entry(module="fabula.cli.serve", sentence="Start the server."),
    "worker": Entry(module="fabula.cli.worker", sentence="Do the work that follows turns, beside the servers."),
    "beat": Entry(module="fabula.cli.beat", sentence="Begin periodic work, beside workers."),
    "play": Entry(module="fabula.cli.play", sentence="Play a story in the terminal."),
    "story": Entry(module="fabula.cli.story", sentence="Make stories."),
    "stories": Entry(module="fabula.cli.stories", sentence="List, copy and delete stories."),
    "sessions": Entry(
        module="fabula.cli.sessions", sentence="Find plays again: list, read, rename, export and delete them."
    ),
    "samples": Entry(module="fabula.cli.samples", sentence="Bring the sample stories into the store."),
    "doctor": Entry(module="fabula.cli.doctor", sentence="Show what works, and the next step for what does not."),
    "token": Entry(module="fabula.cli.token", sentence="Make, list and revoke access tokens."),
    "models": Entry(module="fabula.cli.models", sentence="See, find, test and choose models."),
    "memory": Entry(module="fabula.cli.memory", sentence="See what is remembered in a play, and why it comes up."),
    "outbox": Entry(module="fabula.cli.outbox", sentence="See what still follows turns; try it again, or drop it."),
    "rules": Entry(module="fabula.cli.rules", sentence="See, check and bring in game systems."),
    "canon": Entry(module="fabula.cli.canon", sentence="See, judge and decide what becomes canon."),
    "loops": Entry(module="fabula.cli.loops", sentence="Draw the loops that turns and stories go through."),
    "world": Entry(module="fabula.cli.world", sentence="Make worlds, see their agendas, and let them move."),
    "mcp": Entry(module="fabula.cli.mcp", sentence="Let another agent use stories and worlds, over MCP."),
    "export": Entry(module="fabula.cli.transfer", sentence="Write stories, and all they need, into one file."),
    "import": Entry(module="fabula.cli.transfer", sentence="Take in all that an exported file holds, or nothing."),
    "ink": Entry(module="fabula.cli.ink", sentence="Compile, play and check Ink stories."),
    "backup": Entry(module="fabula.cli.backup", sentence="Write the whole store into one file."),
    "restore": Entry(module="fabula.cli.backup", sentence="Replace everything in the store by a backup."),
}


class LazyGroup(TyperGroup):
    """A group that lists its commands from the table above: loading them all would make help wait for a second."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        entry = COMMANDS.get(cmd_name)
        return None if entry is None else TyperCommand(name=cmd_name, help=entry.sentence)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, _named_only, rest = super().resolve_command(ctx, args)
        # Modules are no garbage, but so many new things set the collector off again and again: a fifth of the time.
        gc.disable()
        try:
            return name, load(name) if name in COMMANDS else None, rest
        finally:
            gc.freeze()
            gc.enable()


def load(name: str) -> Any:
    """The real command of a name, with its options."""
    commands = import_module(COMMANDS[name].module).app
    commands.rich_markup_mode = None  # help of a command looks like help of the whole
    found = get_command(commands)
    found = getattr(found, "commands", {}).get(name, found)
    found.name = name
    return found


app = typer.Typer(
    cls=LazyGroup,
    name="fabula",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    rich_markup_mode=None,  # importing rich for the panels would double the time that help takes
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(asked: bool) -> None:
    if asked:
        print(f"fabula {__version__}")
        raise typer.Exit


@app.callback()
def _fabula(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and leave.")
    ] = False,
) -> None:
    """Fabula: stories that talk back. Start with `fabula serve`."""


def main() -> None:
    """Runs a command; whatever goes wrong becomes one sentence and an exit code."""
    try:
        app()
    except Exception as error:
        from fabula.cli.options import tell

        if os.environ.get("FABULA_LOG_LEVEL", "").lower() == "debug":
            raise
        sys.exit(tell(error))
