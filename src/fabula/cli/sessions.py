"""`fabula sessions`: find plays again, read them, name them, write them down, remove them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from fabula.actions.house import House
from fabula.actions.plays.export_session import ExportIncludes, ExportSession, write_session
from fabula.actions.plays.recent_plays import RecentPlay, recent_plays
from fabula.actions.plays.scene_lore import SceneLoreShown, ShowSceneLore, show_scene_lore
from fabula.actions.plays.sessions import (
    History,
    RenameSession,
    SessionView,
    ShowSession,
    delete_session,
    get_session,
    update_session,
)
from fabula.actions.turns.explain_turn import TurnTraceView
from fabula.actions.views import Nothing, Paging
from fabula.cli.in_house import in_house
from fabula.cli.options import (
    ConfigOption,
    DataDirOption,
    JsonOption,
    confirm,
    print_json,
    screen,
    settings_from,
    shown_time,
    write_whole,
)
from fabula.cli.player.history import show_history
from fabula.cli.player.scene_lore import show_pieces
from fabula.cli.player.sentences import counted, shortened
from fabula.cli.player.terminal_writer import TerminalWriter
from fabula.cli.player.turn_trace import find_trace, show_trace
from fabula.formats.play_texts.writers import WRITERS, PlayFormat
from fabula.ports.actors import OPERATOR
from fabula.ports.errors import Conflict, InvalidRequest, NotFound

app = typer.Typer(help="Find plays again: list, read, rename, export and delete them.", no_args_is_help=True)


SessionArgument = Annotated[str, typer.Argument(help="The play: its id or its name, from `fabula sessions list`.")]
YesOption = Annotated[bool, typer.Option("--yes", help="Do not ask.")]


@app.command("list")
def list_(
    limit: Annotated[int, typer.Option(help="How many to show, the last ones first.", min=1, max=1000)] = 20,
    config: ConfigOption = None,
    data_dir: DataDirOption = None,
    json: JsonOption = False,
) -> None:
    """Show the plays, those that were played last first."""
    plays = in_house(
        settings_from(config, data_dir=data_dir), lambda house: recent_plays(house, OPERATOR, Paging(limit=limit))
    )
    if json:
        print_json([play.as_json() for play in plays])
    elif plays:
        screen().print(_table(plays))
        screen().print("To go on: fabula play --session ID")
    else:
        screen().print("Nothing was played yet. `fabula play` begins.")


@app.command()
def show(
    session: SessionArgument,
    everything: Annotated[bool, typer.Option("--all", help="Show all that was said, not only the last turn.")] = False,
    config: ConfigOption = None,
    data_dir: DataDirOption = None,
    json: JsonOption = False,
) -> None:
    """Show a play: where it stands, and what was said last."""
    view = in_house(settings_from(config, data_dir=data_dir), lambda house: _find(house, session))
    if json:
        print_json(view.as_json())
        return
    writer = TerminalWriter(screen())
    writer.say(view.display_name, "bold")
    ended = "ended" if view.status == "ended" else "open"
    writer.say(f"{counted(view.turn_index, 'turn')}, {ended}, last played {shown_time(view.updated_at_ms)}", "dim")
    show_history(writer, view, most=None if everything else view.turn_index)
    writer.gap()
    writer.row(f"To go on: fabula play --session {view.session_id}", "dim")


@app.command()
def rename(
    session: SessionArgument,
    name: Annotated[str, typer.Argument(help="Its new name.")],
    config: ConfigOption = None,
    data_dir: DataDirOption = None,
) -> None:
    """Give a play another name."""

    async def change(house: House) -> SessionView:
        view = await _find(house, session)
        return await update_session(house, OPERATOR, view.session_id, RenameSession(display_name=name))

    changed = in_house(settings_from(config, data_dir=data_dir), change)
    screen().print(f"The play is called “{changed.display_name}” now.")


@app.command()
def delete(
    session: SessionArgument,
    yes: YesOption = False,
    config: ConfigOption = None,
    data_dir: DataDirOption = None,
) -> None:
    """Remove a play and all that was said in it."""

    async def remove(house: House) -> str:
        view = await _find(house, session)
        confirm(f"Remove “{view.display_name}” with {counted(view.turn_index, 'turn')} for good?", yes=yes)
        await delete_session(house, OPERATOR, view.session_id, Nothing())
        return view.display_name

    screen().print(f"“{in_house(settings_from(config, data_dir=data_dir), remove)}” is removed.")


@app.command()
def export(
    session: SessionArgument,
    file: Annotated[Path | None, typer.Argument(help="The file to write; none writes to standard output.")] = None,
    format: Annotated[
        PlayFormat | None, typer.Option("--format", help="As what; else as the file's name says, or Markdown.")
    ] = None,
    turn: Annotated[str | None, typer.Option("--turn", help="The last turn of the line; else where it stands.")] = None,
    thoughts: Annotated[bool, typer.Option("--thoughts", help="With what characters only thought.")] = False,
    choices: Annotated[bool, typer.Option("--choices", help="With the choices that were on offer.")] = False,
    notes: Annotated[bool, typer.Option("--notes", help="With names and bookmarks of turns.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace the file when it exists.")] = False,
    config: ConfigOption = None,
    data_dir: DataDirOption = None,
) -> None:
    """Write down what was said in a play, as something to read. What is too long for one file becomes several."""
    if file is not None:
        _must_be_free(file, force=force)
    include = ExportIncludes(thoughts=thoughts, choices=choices, notes=notes)

    async def write(house: House) -> tuple[SessionView, list[bytes]]:
        view = await _find(house, session, history="none")
        # The play may go on meanwhile: all parts are of the line as it was found.
        asked = ExportSession(
            format=format or _format_of(file), turn_id=turn or view.head_turn_id, include=include, in_parts=True
        )
        part = await write_session(house, OPERATOR, view.session_id, asked)
        parts = [part.data]
        while part.goes_on_after is not None:
            if file is None:
                raise InvalidRequest("This play is too long for one file: name a FILE, and its parts stand beside it.")
            rest = asked.model_copy(update={"after_turn_id": part.goes_on_after})
            part = await write_session(house, OPERATOR, view.session_id, rest)
            parts.append(part.data)
        return view, parts

    view, parts = in_house(settings_from(config, data_dir=data_dir), write)
    if file is None:
        sys.stdout.buffer.write(parts[0])
        return
    files = [file, *(file.with_stem(f"{file.stem}-{number}") for number in range(2, len(parts) + 1))]
    for one in files:
        _must_be_free(one, force=force)
    for one, part in zip(files, parts, strict=True):
        write_whole(one, part)
    names, written = ", ".join(str(one) for one in files), "is written" if len(files) == 1 else "are written"
    screen().print(f"{names} {written}: {counted(view.turn_index, 'turn')} of “{view.display_name}”.")


@app.command()
def explain(
    session: SessionArgument,
    turn: Annotated[str, typer.Option("--turn", help="The turn, by its number or id; else the last one.")] = "",
    prompts: Annotated[bool, typer.Option("--prompts", help="With all that models were told and said.")] = False,
    config: ConfigOption = None,
    data_dir: DataDirOption = None,
    json: JsonOption = False,
) -> None:
    """Show what happened in a turn, and why: steps, model calls, what was changed, what followed."""

    async def find(house: House) -> TurnTraceView:
        view = await _find(house, session, history="none")
        return await find_trace(house, view.session_id, turn, head_turn_id=view.head_turn_id)

    trace = in_house(settings_from(config, data_dir=data_dir), find)
    if json:
        print_json(trace.as_json())
    else:
        show_trace(TerminalWriter(screen()), trace, prompts=prompts)


@app.command()
def lore(
    session: SessionArgument,
    config: ConfigOption = None,
    data_dir: DataDirOption = None,
    json: JsonOption = False,
) -> None:
    """Show what is said and felt in the scene of a play, why, and what is prepared for where it leads."""

    async def find(house: House) -> SceneLoreShown:
        view = await _find(house, session, history="none")
        return await show_scene_lore(house, OPERATOR, view.session_id, ShowSceneLore())

    shown = in_house(settings_from(config, data_dir=data_dir), find)
    if json:
        print_json(shown.as_json())
        return
    writer = TerminalWriter(screen())
    writer.say(f"{shown.title}, since turn {shown.began_with_turn}", "bold")
    show_pieces(writer, shown.pieces)
    made = "prepared" if shown.prepared else "not prepared yet: the next turn works it out"
    writer.say(f"Where it leads ({made})", "bold")
    for place in shown.ahead:
        writer.say(place.title, "dim")
        show_pieces(writer, place.pieces)


async def _find(house: House, name: str, history: History = "all") -> SessionView:
    """The play of an id, or of a name that only one has."""
    try:
        return await get_session(house, OPERATOR, name, ShowSession(history=history))
    except NotFound as error:
        plays = await recent_plays(house, OPERATOR, Paging())
        named = [play for play in plays if play.display_name.casefold() == name.casefold()]
        if not named:
            raise NotFound(f"There is no play '{name}'. `fabula sessions list` shows them.") from error
        if len(named) > 1:
            ids = ", ".join(play.session_id for play in named[:5])
            raise InvalidRequest(f"{len(named)} plays are called '{name}'. Name one by its id: {ids}.") from error
        return await get_session(house, OPERATOR, named[0].session_id, ShowSession(history=history))


def _must_be_free(file: Path, *, force: bool) -> None:
    if file.exists() and not force:
        raise Conflict(f"There is already a file {file}. Choose another name, or add --force.")


def _format_of(file: Path | None) -> PlayFormat:
    suffix = "" if file is None else file.suffix.lower()
    return next((name for name, writer in WRITERS.items() if writer.suffix == suffix), "markdown")


def _table(plays: list[RecentPlay]) -> Table:
    table = Table("id", "name", "story", "turns", "last played", "last line", box=None)
    table.columns[0].no_wrap = True
    for play in plays:
        turns = f"{play.turn_index}{' (ended)' if play.status == 'ended' else ''}"
        when, line = shown_time(play.updated_at_ms), shortened(play.last_line, 60)
        table.add_row(play.session_id, play.display_name, play.story_name, turns, when, line)
    return table
