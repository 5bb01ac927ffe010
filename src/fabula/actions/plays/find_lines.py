"""Find lines of a play by their words. A line of turns is read from its end upwards, in portions, beside the loop."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from fabula.actions.authority import allowed
from fabula.actions.house import House
from fabula.actions.plays.play_states import play_of
from fabula.actions.plays.reached_turns import completed_turn_of
from fabula.actions.plays.shown_lines import unknown_message
from fabula.actions.repositories import checked_name
from fabula.actions.views import Command, ListView
from fabula.language.excerpts import excerpt_of, has_all, wanted_words
from fabula.ports.actors import Actor
from fabula.ports.errors import InvalidRequest
from fabula.ports.plays import SpokenMessage
from fabula.ports.threads import run_in_thread
from fabula.story.values import Value

USUAL_FINDS = 50
PORTION = 200
MOST_READ = 20_000
MOST_LETTERS = 2_000_000
"""How many lines and letters one question reads; a play that is longer is read on with the cursor."""


class FindLines(Command):
    """Lines that have all words of the `query`, whatever their case and accents; words in quotes stand together.

    The newest are found first; `cursor` goes on with older ones. `turn_id` looks through the line that ends there.
    """

    query: str = Field(max_length=200)
    turn_id: str | None = None
    limit: int | None = Field(default=None, ge=1, le=200)
    cursor: str | None = None


class FoundPlace(Value):
    """Where in an excerpt a word stands: from this letter to before that one."""

    start: int
    end: int


class FoundLine(Value):
    """A line in which the words were found."""

    message_id: str
    turn_id: str
    turn_index: int
    kind: str
    speaker_name: str
    recorded_at_ms: int
    excerpt: str
    places: list[FoundPlace]


class LinesFound(ListView):
    """`next_cursor` is there while older lines were not looked at; a part may have found nothing, and more follow."""

    type: Literal["session_lines_found"] = "session_lines_found"
    query: str
    messages: list[FoundLine]


@allowed("player")
async def find_lines(house: House, actor: Actor, session_id: str, command: FindLines) -> LinesFound:
    """Finds what was said in a play by its words, newest first."""
    wanted = wanted_words(command.query)
    if not wanted:
        raise InvalidRequest("Say what to look for: `query` has no words.")
    async with house.store.reading() as unit:
        play = await play_of(unit, actor, session_id)
        turn = await completed_turn_of(unit, actor, play, command.turn_id)
    end, limit = play.head_turn_id if turn is None else turn.turn_id, command.limit or USUAL_FINDS
    before = None if command.cursor is None else checked_name(command.cursor, "session message")
    found: list[FoundLine] = []
    letters = 0
    for _ in range(0, MOST_READ, PORTION):
        lines = await _portion(house, end, before)
        letters += sum(len(line.text) for line in lines)
        async with house.long_texts.turn_of(actor):
            hits = await run_in_thread(_hits, lines, wanted, limit - len(found))
        found += hits
        if len(found) == limit:
            return LinesFound(query=command.query, messages=found, next_cursor=found[-1].message_id)
        if len(lines) < PORTION:
            return LinesFound(query=command.query, messages=found)
        before = lines[0].message_id
        if letters > MOST_LETTERS:
            break
    return LinesFound(query=command.query, messages=found, next_cursor=before)


async def _portion(house: House, turn_id: str, before: str | None) -> list[SpokenMessage]:
    """The lines before a message, in a unit of their own: what a line of turns says does not change."""
    async with house.store.reading() as unit:
        if before is None:
            return await unit.plays.transcript(turn_id, last=PORTION)
        lines = await unit.plays.lines_before(turn_id, before, limit=PORTION)
    if lines is None:
        raise unknown_message(before)
    return lines


def _hits(lines: Sequence[SpokenMessage], wanted: Sequence[str], most: int) -> list[FoundLine]:
    """The newest lines that have it all."""
    found: list[FoundLine] = []
    for line in reversed(lines):
        if len(found) == most:
            break
        if has_all(line.text, wanted):
            found.append(_found(line, wanted))
    return found


def _found(line: SpokenMessage, wanted: Sequence[str]) -> FoundLine:
    excerpt = excerpt_of(line.text, wanted)
    return FoundLine(
        message_id=line.message_id,
        turn_id=line.turn_id,
        turn_index=line.turn_index,
        kind=line.kind,
        speaker_name=line.speaker_name,
        recorded_at_ms=line.recorded_at_ms,
        excerpt=excerpt.text,
        places=[FoundPlace(start=place.start, end=place.end) for place in excerpt.places],
    )
