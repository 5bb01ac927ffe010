"""Find plays again: those that were played last, each with its story, when that was, and the line it stopped at."""

from __future__ import annotations

from collections.abc import Sequence

from fabula.actions.authority import allowed
from fabula.actions.house import House
from fabula.actions.plays.last_lines import last_lines
from fabula.actions.repositories import SESSIONS
from fabula.actions.views import Paging
from fabula.ports.actors import Actor
from fabula.ports.plays import Play
from fabula.ports.store import Unit
from fabula.story.values import Value

MOST_LOOKED_AT = 1000


class RecentPlay(Value):
    """A play as one finds it again."""

    session_id: str
    display_name: str
    story_id: str
    story_name: str
    turn_index: int
    status: str
    updated_at_ms: int
    last_line: str


@allowed("player")
async def recent_plays(house: House, actor: Actor, command: Paging, *, own: bool = False) -> list[RecentPlay]:
    """The plays that were played last, newest first. `own` leaves out those that belong to anybody else's token."""
    limit = command.limit or MOST_LOOKED_AT
    async with house.store.reading() as unit:
        plays = await unit.plays.recent(limit=MOST_LOOKED_AT if own else limit, token_id=actor.sees_only)
        wanted = [play for play in plays if not own or play.owner_token_id == actor.token_id][:limit]
        return await _found_again(unit, wanted)


async def _found_again(unit: Unit, plays: Sequence[Play]) -> list[RecentPlay]:
    sessions = await SESSIONS.find_all(unit, [play.session_id for play in plays])
    stories = await unit.index.entries("story", [session.story_id for session in sessions.values()])
    lines = await last_lines(unit, plays)
    return [
        RecentPlay(
            session_id=play.session_id,
            display_name=sessions[play.session_id].display_name,
            story_id=sessions[play.session_id].story_id,
            story_name=stories[sessions[play.session_id].story_id].name,
            turn_index=play.turn_index,
            status=play.status,
            updated_at_ms=play.updated_at_ms,
            last_line=lines[play.session_id],
        )
        for play in plays
        if play.session_id in sessions
    ]
