"""Offers the last plays before a new one is begun, by name, date and last line."""

from __future__ import annotations

from collections.abc import Sequence

from fabula.actions.house import House
from fabula.actions.plays.recent_plays import RecentPlay, recent_plays
from fabula.actions.views import Paging
from fabula.cli.options import shown_time
from fabula.cli.player.lines import Lines, typed_number
from fabula.cli.player.sentences import counted, shortened
from fabula.cli.player.terminal_writer import TerminalWriter
from fabula.ports.actors import OPERATOR
from fabula.ports.errors import InvalidRequest

OFFERED = 5
NEW = "new"


async def pick_play(house: House, writer: TerminalWriter, lines: Lines) -> str | None:
    """The id of the play that the player goes on with; None for a new one, also where nothing was played yet."""
    plays = await recent_plays(house, OPERATOR, Paging(limit=OFFERED), own=True)
    if not plays:
        return None
    writer.say("Go on where you were?", "bold")
    for number, play in enumerate(plays, 1):
        writer.say(f"{number}. {_heading(play)}", indent=2)
        if play.last_line:
            writer.say(shortened(play.last_line), "dim", indent=5)
    writer.say("new. Begin another play.", indent=2)
    answer = await lines.next("Number, or `new`: ")
    if answer is None:
        raise InvalidRequest("No play was chosen. Name one with --session, or a story with --story.")
    return _chosen(plays, answer)


def _heading(play: RecentPlay) -> str:
    ended = ", ended" if play.status == "ended" else ""
    name = play.display_name if play.display_name == play.story_name else f"{play.display_name} ({play.story_name})"
    return f"{name}, {shown_time(play.updated_at_ms)}, {counted(play.turn_index, 'turn')}{ended}"


def _chosen(plays: Sequence[RecentPlay], answer: str) -> str | None:
    if answer.lower() in (NEW, "n"):
        return None
    number = typed_number(answer or "1")
    if number is not None and 1 <= number <= len(plays):
        return plays[number - 1].session_id
    raise InvalidRequest(f"'{answer}' is none of them. Answer with a number from 1 to {len(plays)}, or `new`.")
