"""`fabula world`: make a world, see how it stands, and let time pass in it or in a play."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import typer
from rich.table import Table

from fabula.actions.canon.advance_world import AdvanceWorld, WorldAdvancedView, advance_world
from fabula.actions.canon.clocks import ClocksListed, ListClocks, list_clocks
from fabula.actions.canon.conflicts import ConflictsListed, ListConflicts, list_conflicts
from fabula.actions.canon.plot_threads import ListThreads, ThreadsListed, list_threads
from fabula.actions.canon.questions import AskTimeline, EntityView, InWorld, MomentView, list_entities, list_timeline
from fabula.actions.canon.worlds import CreateWorld, NameWorld, WorldView, create_world, get_world
from fabula.actions.house import House
from fabula.cli.in_house import in_house
from fabula.cli.options import ConfigOption, DataDirOption, JsonOption, print_json, screen, settings_from
from fabula.ports.actors import OPERATOR

app = typer.Typer(help="Make worlds, see their agendas, and let them move.", no_args_is_help=True)

WorldArgument = Annotated[str, typer.Argument(help="The id of the world.")]
SessionOption = Annotated[
    str | None, typer.Option("--session", help="A play, from `fabula sessions list`, in place of the world itself.")
]


@app.command()
def new(
    world: WorldArgument,
    name: Annotated[str | None, typer.Option(help="What it is called; else its id.")] = None,
    description: Annotated[str, typer.Option(help="What it is like.")] = "",
    genre: Annotated[str, typer.Option(help="Its genre.")] = "",
    tone: Annotated[str, typer.Option(help="Its tone.")] = "",
    system: Annotated[str | None, typer.Option(help="The game system of campaigns in it, such as d20.")] = None,
    config: ConfigOption = None,
    data_dir: DataDirOption = None,
    json: JsonOption = False,
) -> None:
    """Make a world. Stories that name it share its canon and its agendas."""
    asked = CreateWorld(
        world_id=world,
        display_name=name or world,
        description=description,
        genre=genre,
        tone=tone,
        game_system_id=system,
    )
    made = in_house(settings_from(config, data_dir=data_dir), lambda house: create_world(house, OPERATOR, asked))
    if json:
        print_json(made.as_json())
        return
    screen().print(f"Made the world {made.display_name} ({made.world_id}).", markup=False, highlight=False)


@dataclass(frozen=True, kw_only=True)
class _Shown:
    """A world as whoever runs it wants to see it."""

    world: WorldView
    factions: list[EntityView]
    clocks: ClocksListed
    conflicts: ConflictsListed
    threads: ThreadsListed
    events: list[MomentView]


MOST_EVENTS = 8
MOST_ENTITIES = 1000


@app.command()
def show(
    world: WorldArgument,
    session: SessionOption = None,
    config: ConfigOption = None,
    data_dir: DataDirOption = None,
    json: JsonOption = False,
) -> None:
    """Show a world: its factions, agendas, conflicts, threads and last events, in the world itself or in a play."""

    async def read(house: House) -> _Shown:
        entities = await list_entities(house, OPERATOR, InWorld(world_id=world, limit=MOST_ENTITIES))
        asked = AskTimeline(world_id=world, limit=MOST_ENTITIES)
        moments = (await list_timeline(house, OPERATOR, session, asked)).moments
        return _Shown(
            world=await get_world(house, OPERATOR, NameWorld(world_id=world)),
            factions=[one for one in entities.entities if one.kind == "faction"],
            clocks=await list_clocks(house, OPERATOR, session, ListClocks(world_id=world)),
            conflicts=await list_conflicts(house, OPERATOR, session, ListConflicts(world_id=world)),
            threads=await list_threads(house, OPERATOR, session, ListThreads(world_id=world)),
            events=[one for one in moments if one.kind == "event"][-MOST_EVENTS:],
        )

    shown = in_house(settings_from(config, data_dir=data_dir), read)
    if json:
        print_json(
            {
                **shown.world.as_json(),
                "factions": [one.as_json() for one in shown.factions],
                "clocks": [one.as_json() for one in shown.clocks.clocks],
                "conflicts": [one.as_json() for one in shown.conflicts.conflicts],
                "threads": [one.as_json() for one in shown.threads.threads],
                "events": [one.as_json() for one in shown.events],
            }
        )
        return
    _print(f"{shown.world.display_name} ({shown.world.world_id})")
    if shown.world.description:
        _print(shown.world.description)
    _print(f"minute {shown.clocks.minute} of its time, canon version {shown.world.version}")
    _show_clocks(shown.clocks)
    _list("factions", [f"{one.name}: {one.description}" if one.description else one.name for one in shown.factions])
    _list(
        "conflicts",
        [f"{one.title}: {one.phase}, {one.intensity:.0%}" for one in shown.conflicts.conflicts],
    )
    _list("threads", [f"{one.title}: {one.status}, priority {one.priority}" for one in shown.threads.threads])
    _list("last events", [f"minute {one.at}: {one.sentence}" for one in shown.events])


def _show_clocks(listed: ClocksListed) -> None:
    if not listed.clocks:
        _print("It has no agendas yet.")
        return
    table = Table("clock", "whose", "filled", "forces", "chance", "status", box=None, header_style="dim")
    for one in listed.clocks:
        filled = f"{'#' * one.filled}{'-' * (one.segments - one.filled)} {one.filled}/{one.segments}"
        table.add_row(
            one.name, one.owner or "", filled, f"{one.pressure} : {one.opposition}", f"{one.chance:.0%}", one.status
        )
    screen().print(table)


def _list(title: str, lines: Sequence[str]) -> None:
    """Some lines under their title; nothing where there are none."""
    if lines:
        _print(f"{title}:")
    for line in lines:
        _print(f"  {line}")


def _print(line: str) -> None:
    screen().print(line, markup=False, highlight=False)


@app.command()
def advance(
    world: WorldArgument,
    duration: Annotated[str, typer.Argument(help="How long: `90 minutes`, `8 hours`, `3 days`, `2 weeks`.")],
    session: SessionOption = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show the odds, and what would come of it.")] = False,
    config: ConfigOption = None,
    data_dir: DataDirOption = None,
    json: JsonOption = False,
) -> None:
    """Let time pass, and agendas move: in the world itself, from which plays begin, or in one play."""
    asked = AdvanceWorld(world_id=world, duration=duration, dry_run=dry_run)

    async def move(house: House) -> WorldAdvancedView:
        return await advance_world(house, OPERATOR, session, asked)

    moved = in_house(settings_from(config, data_dir=data_dir), move)
    if json:
        print_json(moved.as_json())
        return
    would = "would pass" if moved.dry_run else "have passed"
    screen().print(f"{moved.minutes} minutes {would}.", markup=False, highlight=False)
    for one in moved.moves:
        odds = f"{one.chances} chances, {one.odds:.0%} to come to its end"
        line = f"  {one.name}: {one.before} -> {one.after} of {one.segments} ({odds}), {one.status}"
        screen().print(line, markup=False, highlight=False)
    for event in moved.events:
        screen().print(f"  At minute {event.minute}: {event.event}", markup=False, highlight=False)


@app.command()
def build(world: WorldArgument, config: ConfigOption = None, data_dir: DataDirOption = None) -> None:
    """Build a world by talking: what you say is true in it, and each thing can be taken back."""
    from fabula.cli.player.lines import open_lines
    from fabula.cli.player.terminal_writer import TerminalWriter
    from fabula.cli.player.world_talk import build_by_talking

    settings = settings_from(config, data_dir=data_dir)

    async def talk(house: House) -> None:
        writer = TerminalWriter(screen())
        lines = open_lines(writer, settings.data_folder / "build-history", ["/undo", "/gaps", "/done"])
        await build_by_talking(house, world, writer=writer, lines=lines)

    in_house(settings, talk)
