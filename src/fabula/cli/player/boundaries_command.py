"""The command of the terminal player that shows and sets the boundaries of a table."""

from __future__ import annotations

from pydantic import ValidationError

from fabula.actions.plays.boundaries import (
    AskBoundaries,
    BoundariesView,
    UpdateBoundaries,
    get_boundaries,
    update_boundaries,
)
from fabula.cli.player.player_session import PlayerSession
from fabula.cli.player.terminal_writer import TerminalWriter
from fabula.ports.actors import OPERATOR
from fabula.ports.errors import InvalidRequest
from fabula.story.values import Json

HOW = "/boundaries line WORDS, veil WORDS, drop WORDS, or rating everyone, teen, mature, adult or none."


async def boundaries(player_session: PlayerSession, argument: str) -> None:
    """Shows what this table does not want, or changes it."""
    house, session_id, writer = player_session.house, player_session.session_id, player_session.writer
    view = await get_boundaries(house, OPERATOR, session_id, AskBoundaries())
    if argument.strip():
        what, _, words = argument.strip().partition(" ")
        view = await update_boundaries(house, OPERATOR, session_id, _command(_changed(view, what, words)))
    _show(view, writer)
    writer.say(HOW, "dim")


def _command(changes: dict[str, Json]) -> UpdateBoundaries:
    try:
        return UpdateBoundaries.model_validate(changes)
    except ValidationError as error:
        raise InvalidRequest(f"That cannot be set: {error.errors()[0]['msg']}. {HOW}") from None


def _changed(view: BoundariesView, what: str, words: str) -> dict[str, Json]:
    own, named = view.own, words.strip()
    if named and what == "line":
        return {"lines": [*own.lines, named]}
    if named and what == "veil":
        return {"veils": [*own.veils, named]}
    if named and what == "rating":
        return {"rating": named}
    if named and what == "drop":
        return {"lines": _without(own.lines, named), "veils": _without(own.veils, named)}
    raise InvalidRequest(f"Say what changes: {HOW}")


def _without(names: list[str], named: str) -> list[Json]:
    return [name for name in names if name.casefold() != named.casefold()]


def _show(view: BoundariesView, writer: TerminalWriter) -> None:
    rows = {
        "Must not happen": ", ".join(view.counts.lines),
        "Is not shown": ", ".join(view.counts.veils),
        "Rating": view.counts.rating or "",
        "Of these the world set": "" if view.world is None else ", ".join([*view.world.lines, *view.world.veils]),
    }
    for title, text in rows.items():
        if text:
            writer.say(f"{title}: {text}", indent=2)
    if not any(rows.values()):
        writer.say("Nothing is ruled out.", indent=2)
