"""The journal of a play: its quests and leads. What followers have not written yet is worked out while it is read."""

from __future__ import annotations

from typing import Literal

from fabula.actions.authority import allowed
from fabula.actions.house import House
from fabula.actions.plays.play_states import head_state
from fabula.actions.plays.world_records import newest_record, record_at_head
from fabula.actions.repositories import SESSIONS
from fabula.actions.views import Command, View
from fabula.ports.actors import Actor
from fabula.story.journals import JournalEntry, JournalStatus


class ListJournal(Command):
    """`status` keeps only what is open, done or failed."""

    status: JournalStatus | None = None


class JournalListed(View):
    """The journal at the session's head. `applied_version` is how far followers have written it, of `world_version`
    changes. Both are 0, and it is empty, where the story has no calendar."""

    may_be_large = True
    type: Literal["journal_listed"] = "journal_listed"
    entries: list[JournalEntry]
    world_version: int
    applied_version: int


@allowed("player")
async def list_journal(house: House, actor: Actor, session_id: str, command: ListJournal) -> JournalListed:
    """Lists the quests and leads of a play with the turns that moved them, in the order in which they opened."""
    async with house.store.reading() as unit:
        _, state = await head_state(unit, actor, session_id)
        applied = await newest_record(unit, state)
        session = await SESSIONS.get(unit, session_id)
        record = await record_at_head(house, unit, session, state)
    entries = [] if record is None else record.journal
    return JournalListed(
        entries=[entry for entry in entries if command.status in (None, entry.status)],
        world_version=state.snapshot.world_version or 0,
        applied_version=0 if applied is None else applied.version,
    )
