"""Building a world at the terminal: the author talks, the architect asks, and what was added can be undone."""

from __future__ import annotations

from fabula.actions.building.build_world import (
    AddedItem,
    BuildingView,
    NameBuilding,
    OpenBuilding,
    SayInBuilding,
    UndoInBuilding,
    close_building,
    open_building,
    say_in_building,
    undo_in_building,
)
from fabula.actions.house import House
from fabula.cli.player.lines import Lines, lines_until_left, typed_number
from fabula.cli.player.sentences import counted, for_terminal
from fabula.cli.player.terminal_writer import TerminalWriter
from fabula.ports.actors import OPERATOR
from fabula.ports.errors import FabulaError

HOW = "Say what is true, in plain sentences. /undo N takes back, /gaps shows what is missing, /done ends."


async def build_by_talking(house: House, world_id: str, *, writer: TerminalWriter, lines: Lines) -> None:
    """Builds until the author is done, or there are no more lines."""
    view = await open_building(house, OPERATOR, OpenBuilding(world_id=world_id))
    writer.say(HOW, "dim")
    writer.gap()
    writer.say(view.reply)
    added: list[AddedItem] = []
    async for line in lines_until_left(lines, writer):
        if line in ("/done", "/build", "/quit"):
            break
        try:
            view = await _heard(house, view, line, added, writer) if line else view
        except FabulaError as error:
            writer.say(for_terminal(error), "red")
    closed = await close_building(house, OPERATOR, NameBuilding(building_id=view.building_id))
    writer.say(f"{counted(len(closed.added), 'thing')} added to {closed.world_id}.", "dim")


async def _heard(
    house: House, view: BuildingView, line: str, added: list[AddedItem], writer: TerminalWriter
) -> BuildingView:
    if line == "/gaps":
        _show_gaps(view, writer)
        return view
    if line.startswith("/undo"):
        await _undo(house, line.removeprefix("/undo").strip(), added, writer)
        return view
    if line.startswith("/"):
        writer.say(HOW, "yellow")
        return view
    told = await say_in_building(house, OPERATOR, SayInBuilding(building_id=view.building_id, text=line))
    for item in told.added:
        added.append(item)
        writer.say(f"[{len(added)} added: {item.sentence}]", "dim")
    for refused in told.refused:
        writer.say(f"[not added: {refused.sentence} {refused.why}]", "yellow")
    writer.say(told.reply)
    return told


async def _undo(house: House, which: str, added: list[AddedItem], writer: TerminalWriter) -> None:
    number = len(added) if not which else typed_number(which)
    if number is None or not 1 <= number <= len(added):
        writer.say("Say which: the number that stands before what was added.", "yellow")
        return
    undone = await undo_in_building(house, OPERATOR, UndoInBuilding(item_id=added[number - 1].item_id))
    writer.say(f"[taken back: {undone.sentence}]", "dim")


def _show_gaps(view: BuildingView, writer: TerminalWriter) -> None:
    writer.say(", ".join(f"{aspect} {count}" for aspect, count in view.coverage.items()))
    if view.gaps:
        writer.say(f"Too little of: {', '.join(view.gaps)}.")
    if view.bare:
        writer.say(f"Only named: {', '.join(view.bare)}.")
    for question in view.questions:
        writer.say(question, indent=2)
