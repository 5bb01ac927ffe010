"""Keep the transcript: read it, and change what it says. Later prompts see what it says then."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from pydantic import Field

from fabula.actions.authority import allowed
from fabula.actions.house import House
from fabula.actions.plays.amend import Amendment, AtHead, amend
from fabula.actions.plays.kinds.rows import kind_of_play
from fabula.actions.plays.play_states import play_of
from fabula.actions.plays.reached_turns import completed_turn_of
from fabula.actions.plays.sessions import MessageLine, MessageView, message_lines, message_view
from fabula.actions.plays.shown_lines import lines_from, lines_up_to, unknown_message
from fabula.actions.repositories import checked_name
from fabula.actions.views import UNKNOWN_CURSOR, Command, ListView, Paging, View
from fabula.loops.turns.turn_state_cache import entry_of
from fabula.ports.actors import Actor
from fabula.ports.errors import InvalidRequest
from fabula.ports.plays import MessageChange, MessageKind, SpokenMessage
from fabula.ports.store import Unit
from fabula.recall.perception import noticed_by
from fabula.story.field_bounds import LONGEST_MESSAGE
from fabula.story.state import MemoryEntry

USUAL_PART = 100
"""How many lines are listed next to a message where no limit says it."""


class NameMessage(Command):
    message_id: str


class CreateMessage(Command):
    kind: MessageKind
    speaker_id: str
    speaker_name: str
    text: str = Field(max_length=LONGEST_MESSAGE)


class UpdateMessage(Command):
    message_id: str
    kind: MessageKind
    speaker_id: str
    speaker_name: str
    text: str = Field(max_length=LONGEST_MESSAGE)


class ListMessages(Paging):
    """Which lines are listed, and of which line of turns.

    `before` lists the lines before a message, newest first; `after` those after it; `around` a message with the lines
    on both sides. `turn_id` reads the line that ends at that turn, and moves no head. `order` says where a list begins
    that names no message. Of `before`, `after`, `around` and `cursor` one is given at most.
    """

    before: str | None = None
    after: str | None = None
    around: str | None = None
    turn_id: str | None = None
    order: Literal["oldest", "newest"] = "oldest"


class MessagesListed(ListView):
    """Lines of a transcript; of very long ones a part, whatever the limit. `more_before` and `more_after` say on which
    side more lines stand; the one that `next_cursor` names is the last of this part.
    """

    optional = frozenset({"next_cursor", "more_before", "more_after"})
    type: Literal["session_messages_listed"] = "session_messages_listed"
    messages: list[MessageLine]
    more_before: bool = False
    more_after: bool = False


class MessageDeleted(View):
    type: Literal["session_message_deleted"] = "session_message_deleted"
    message_id: str


@allowed("player")
async def create_message(house: House, actor: Actor, session_id: str, command: CreateMessage) -> MessageView:
    """Adds a line to the transcript; the roles see it from the next turn on."""
    _check_text(command.text)

    async def change(at: AtHead) -> tuple[Amendment, SpokenMessage]:
        said = spoken_line(at, **command.model_dump())
        state = await kind_of_play(at.state).say(at, entry_of(said))
        state = state.model_copy(update={"message_count": state.message_count + 1})
        return Amendment(state=state, messages=[MessageChange(op="say", message=said)]), said

    return message_view((await amend(house, actor, session_id, change))[1])


def spoken_line(at: AtHead, *, kind: MessageKind, speaker_id: str, speaker_name: str, text: str) -> SpokenMessage:
    """A line that is added at a session's head by hand."""
    now = at.house.clock.now_ms()
    there = at.state.world.active_characters
    entry = MemoryEntry(speaker_id=speaker_id, speaker_name=speaker_name, kind=kind, text=text)
    return SpokenMessage(
        message_id=at.house.ids.new("message"),
        turn_id=at.play.head_turn_id,
        turn_index=at.play.turn_index,
        sequence=at.state.message_count,
        kind=kind,
        speaker_id=speaker_id,
        speaker_name=speaker_name,
        text=text,
        heard_by=tuple(noticed_by(entry, there, {id: id for id in there})),
        recorded_at_ms=now,
        created_at_ms=now,
        updated_at_ms=now,
    )


@allowed("player")
async def get_message(house: House, actor: Actor, session_id: str, command: NameMessage) -> MessageView:
    """Shows one line of the transcript; one that was corrected by hand with the words it had before."""
    async with house.store.reading() as unit:
        play = await play_of(unit, actor, session_id)
        message_id = checked_name(command.message_id, "session message")
        wordings = await unit.plays.wordings(play.head_turn_id, message_id)
    if not wordings:
        raise unknown_message(message_id)
    return message_view(wordings[-1], wordings[:-1])


@allowed("player")
async def list_messages(house: House, actor: Actor, session_id: str, command: ListMessages) -> MessagesListed:
    """Lists the transcript of the session's own line, or of another one, whole or in parts."""
    if sum(one is not None for one in (command.before, command.after, command.around, command.cursor)) > 1:
        raise InvalidRequest("Say only one of `before`, `after`, `around` and `cursor`.")
    async with house.store.reading() as unit:
        play = await play_of(unit, actor, session_id)
        turn = await completed_turn_of(unit, actor, play, command.turn_id)
        part = await _part(unit, play.head_turn_id if turn is None else turn.turn_id, command)
    shown = part.messages[::-1] if part.newest_first else part.messages
    goes_on = part.more_before if part.newest_first else part.more_after
    return MessagesListed(
        messages=await message_lines(shown),
        next_cursor=shown[-1].message_id if goes_on and shown else None,
        more_before=part.more_before,
        more_after=part.more_after,
    )


@dataclass(frozen=True, kw_only=True)
class _Part:
    """Some lines in order, and whether there are more on either side."""

    messages: Sequence[SpokenMessage]
    more_before: bool = False
    more_after: bool = False
    newest_first: bool = False


async def _part(unit: Unit, turn_id: str, asked: ListMessages) -> _Part:
    """The lines that are asked for, as far as an answer carries them."""
    newest_first = asked.before is not None or asked.order == "newest"
    named = asked.before or asked.after or asked.around or asked.cursor
    if asked.cursor is not None:
        await _refuse_unknown_cursor(unit, turn_id, asked.cursor)
    is_next_to_one = asked.before is not None or asked.after is not None
    limit = USUAL_PART if asked.limit is None and is_next_to_one else asked.limit
    if asked.around is not None:
        return await _around(unit, turn_id, asked.around, limit or USUAL_PART)
    is_all = named is None and limit is None
    if is_all or (newest_first and asked.after is None):
        # All of it is read from its end in the fewest steps.
        part = await lines_up_to(unit, turn_id, named, limit)
        if is_all and part.more and not newest_first:
            return _Part(messages=(await lines_from(unit, turn_id)).messages, more_after=True)
        return _Part(messages=part.messages, more_before=part.more, more_after=bool(named), newest_first=newest_first)
    part = await lines_from(unit, turn_id, named, limit)
    return _Part(messages=part.messages, more_before=bool(named), more_after=part.more)


async def _around(unit: Unit, turn_id: str, message_id: str, limit: int) -> _Part:
    """A message in the middle of a part; near an end of the transcript the other side is given what is left."""
    middle = await _message(unit, turn_id, message_id)
    earlier = await lines_up_to(unit, turn_id, message_id, limit)
    later = await lines_from(unit, turn_id, message_id, limit)
    before, after = earlier.messages, later.messages
    rest = limit - 1
    ahead = min(len(after), max(rest - rest // 2, rest - len(before)))
    back = min(len(before), rest - ahead)
    return _Part(
        messages=[*before[len(before) - back :], middle, *after[:ahead]],
        more_before=len(before) > back or earlier.more,
        more_after=len(after) > ahead or later.more,
    )


async def _refuse_unknown_cursor(unit: Unit, turn_id: str, cursor: str) -> None:
    if await unit.plays.message(turn_id, checked_name(cursor, "session message")) is None:
        raise InvalidRequest(UNKNOWN_CURSOR)


@allowed("player")
async def update_message(house: House, actor: Actor, session_id: str, command: UpdateMessage) -> MessageView:
    """Rewrites a line; the roles see the new words wherever they still see that line."""
    _check_text(command.text)

    async def change(at: AtHead) -> tuple[Amendment, SpokenMessage]:
        old = await _message(at.unit, at.play.head_turn_id, command.message_id)
        new = replace(old, **command.model_dump(exclude={"message_id"}), updated_at_ms=house.clock.now_ms())
        new = replace(new, edited=True)
        state = kind_of_play(at.state).reword(at.state, entry_of(old), entry_of(new))
        return Amendment(state=state, messages=[MessageChange(op="edit", message=new)]), new

    return message_view((await amend(house, actor, session_id, change))[1])


@allowed("player")
async def delete_message(house: House, actor: Actor, session_id: str, command: NameMessage) -> MessageDeleted:
    """Strikes a line out; the roles no longer see it. Going back before this change brings it back."""

    async def change(at: AtHead) -> tuple[Amendment, None]:
        old = await _message(at.unit, at.play.head_turn_id, command.message_id)
        state = kind_of_play(at.state).reword(at.state, entry_of(old), None)
        return Amendment(state=state, messages=[MessageChange(op="strike", message=old)]), None

    await amend(house, actor, session_id, change)
    return MessageDeleted(message_id=command.message_id)


async def _message(unit: Unit, turn_id: str, message_id: str) -> SpokenMessage:
    found = await unit.plays.message(turn_id, checked_name(message_id, "session message"))
    if found is not None:
        return found
    raise unknown_message(message_id)


def _check_text(text: str) -> None:
    if not text.strip():
        raise InvalidRequest("A message needs some text.")
