"""When it is in a story, for those who remember: minutes since the play began, and a day like ours where it has one."""

from __future__ import annotations

from datetime import date

from fabula.recall.spoken_dates import month_number
from fabula.story.plays import PlayState


def story_minute(state: PlayState) -> int:
    """When it is in the story, in minutes since the play began."""
    return state.minute


def story_day(state: PlayState) -> date | None:
    """The day of the story, if its calendar has our months."""
    time = state.snapshot.time
    month = None if time is None else month_number(time.month)
    if time is None or month is None:
        return None
    try:
        return date(time.year, month, time.day)
    except (ValueError, OverflowError):
        return None
