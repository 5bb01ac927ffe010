"""The line at which a play stopped, for lists of plays."""

from __future__ import annotations

from collections.abc import Sequence

from fabula.ports.plays import Play, SpokenMessage
from fabula.ports.store import Unit
from fabula.story.index_entries import shortened

LONGEST_LAST_LINE = 160


async def last_lines(unit: Unit, plays: Sequence[Play]) -> dict[str, str]:
    """What was told or said last in each of these plays, by session; of all of them in one read.

    Nothing of it is hidden from anybody who reaches the play: what characters only think is in no transcript.
    """
    lines = await unit.plays.last_lines([play.head_turn_id for play in plays])
    return {play.session_id: line_of(lines.get(play.head_turn_id)) for play in plays}


def line_of(message: SpokenMessage | None) -> str:
    """A line in short, with who said it; empty when nothing was said yet."""
    if message is None:
        return ""
    spoken = f"{message.speaker_name}: {message.text}" if message.kind == "dialogue" else message.text
    return shortened(spoken, LONGEST_LAST_LINE)
