"""Previously: what happened in a play, for those who come back to it. Only lines that the player saw are read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Literal

from pydantic import Field

from fabula.actions.audit_notes import note_objections
from fabula.actions.authority import allowed
from fabula.actions.house import House
from fabula.actions.plays.past_summaries import story_so_far
from fabula.actions.plays.play_states import head_state
from fabula.actions.plays.reached_turns import turn_within_reach
from fabula.actions.plays.shown_lines import last_lines_told
from fabula.actions.plays.table_guardrails import table_guardrails
from fabula.actions.views import Command, View
from fabula.loops.turns.turn_state_cache import entry_of
from fabula.ports.actors import Actor
from fabula.ports.plays import SpokenMessage
from fabula.ports.store import Unit
from fabula.ports.threads import run_in_thread
from fabula.story.plays import PlayState
from fabula.story.recaps import MOST_WORDS, PastTurn, recap
from fabula.story.summaries import SUMMARISER, StorySoFar, condense

RECENT_LINES = 40
MOST_SCENES = 6
LINES_OF_AN_OPENING = 12
BEGINNING_WORDS = 50


class RecapSession(Command):
    """`since_turn_id` is the turn that was read last: only what came after it is told again."""

    since_turn_id: str | None = None


class Recap(View):
    """The story so far in at most 150 words of its own. Empty where nothing happened.

    `from` is `summary` where its beginning was summed up before, and `understudy` where all of it was read now.
    """

    type: Literal["recap"] = "recap"
    text: str
    by: Literal["summary", "understudy"] = Field(default="understudy", alias="from")


@allowed("player")
async def recap_session(house: House, actor: Actor, session_id: str, command: RecapSession) -> Recap:
    """Tells what happened so far in a play, or since a turn, in sentences of the play itself."""
    async with house.store.reading() as unit:
        play, state = await head_state(unit, actor, session_id)
        since = -1
        if command.since_turn_id is not None:
            turn = await turn_within_reach(unit, actor, play, command.since_turn_id)
            # What was read on another branch says nothing about this one.
            since = turn.turn_index if await unit.plays.on_line(play.head_turn_id, [turn.turn_id]) else -1
        turns = await _turns_that_matter(unit, play.head_turn_id, state, since)
        ladder = await story_so_far(unit, play.head_turn_id) if since < 0 else None
        rails = await table_guardrails(unit, session_id, state, SUMMARISER)
    async with house.long_texts.turn_of(actor):
        told = await run_in_thread(_told_again, turns, ladder)
        # What was told before a line was drawn is not told again.
        checked = await run_in_thread(rails.cut, told.text)
    await note_objections(house, session_id, SUMMARISER, checked.objections)
    return told.model_copy(update={"text": checked.text})


def _told_again(turns: Sequence[PastTurn], ladder: StorySoFar | None) -> Recap:
    """What matters now; of a long play its beginning in short stands before it."""
    before = [] if ladder is None else [ladder.story, *(one.text for one in ladder.chapters)]
    beginning = condense([text for text in before if text], BEGINNING_WORDS)
    if not beginning:
        return Recap(text=recap(turns))
    now = recap(turns, most_words=MOST_WORDS - BEGINNING_WORDS)
    return Recap.model_validate({"text": f"{beginning}\n\n{now}", "from": "summary"})


async def _turns_that_matter(unit: Unit, head: str, state: PlayState, since: int) -> list[PastTurn]:
    """The beginning of the play, the openings of its last scenes, and its last turns: as many however long it is."""
    openings = {mark.turn_index for mark in state.scenes}
    recent = [line for line in await last_lines_told(unit, head, RECENT_LINES) if line.turn_index > since]
    first = recent[0].turn_index if recent else 0
    # The start of most plays says nothing; then the first turn opens them.
    wanted = sorted({0, 1, *sorted(openings)[-MOST_SCENES:]})
    earlier: list[SpokenMessage] = []
    for turn_index in wanted:
        if since < turn_index < first:
            earlier += await _lines_of(unit, head, turn_index)
    return list(_grouped([*earlier, *recent], {0, *openings}))


async def _lines_of(unit: Unit, head: str, turn_index: int) -> list[SpokenMessage]:
    """The last lines of a turn of this line, as they read today."""
    turn = await unit.plays.ancestor(head, turn_index)
    last = await unit.plays.transcript(turn.turn_id, last=1)
    if not last or last[0].turn_index != turn_index:
        return []
    before = await unit.plays.lines_before(head, last[0].message_id, limit=LINES_OF_AN_OPENING) or []
    line = await unit.plays.message(head, last[0].message_id)
    return [one for one in [*before, *([line] if line is not None else [])] if one.turn_index == turn_index]


def _grouped(lines: Sequence[SpokenMessage], openings: set[int]) -> Iterator[PastTurn]:
    """The turns of some lines; a scene opens with the first turn that says anything in it."""
    before = -1
    for turn_index, group in groupby(lines, key=lambda line: line.turn_index):
        opens_scene = any(before < opening <= turn_index for opening in openings)
        yield PastTurn(lines=[entry_of(line) for line in group], opens_scene=opens_scene)
        before = turn_index
