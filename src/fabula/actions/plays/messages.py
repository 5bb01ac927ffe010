"""Keep the transcript: read it, and change what it says. Later prompts see what it says then."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from pydantic import Field

from fabula.actions.authority import allowed
from fabula.actions.house import House
from fabula.actions.plays.amend import Amendment, AtHead, amend
from fabula.actions.plays.kinds.rows import kind_of_play
from fabula.actions.plays.play_states import play_of
from fabula.actions.plays.sessions import MessageLine, MessageView, message_lines, message_view
from fabula.actions.repositories import checked_name
from fabula.actions.views import UNKNOWN_CURSOR, Command, ListView, Paging, View
from fabula.loops.turns.turn_state_cache import entry_of
from fabula.ports.actors import Actor
from fabula.ports.errors import InvalidRequest, NotFound
from fabula.ports.plays import MessageChange, MessageKind, SpokenMessage
from fabula.ports.store import Unit
from fabula.story.field_bounds import LONGEST_MESSAGE


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


class MessagesListed(ListView):
    type: Literal["session_messages_listed"] = "session_messages_listed"
    messages: list[MessageLine]


class MessageDeleted(View):
    type: Literal["session_message_deleted"] = "session_message_deleted"
    message_id: str


@allowed("player")
async def create_message(house: House, actor: Actor, session_id: str, command: CreateMessage) -> MessageView:
    """Adds a line to the transcript; the roles see it from the next turn on."""
    _check_text(command.text)

    async def change(at: AtHead) -> tuple[Amendment, SpokenMessage]:
        now = house.clock.now_ms()
        said = SpokenMessage(
            message_id=house.ids.new("message"),
            turn_id=at.play.head_turn_id,
            turn_index=at.play.turn_index,
            sequence=at.state.message_count,
            recorded_at_ms=now,
            created_at_ms=now,
            updated_at_ms=now,
            **command.model_dump(),
        )
        state = await kind_of_play(at.state).say(at, entry_of(said))
        state = state.model_copy(update={"message_count": state.message_count + 1})
        return Amendment(state=state, messages=[MessageChange(op="say", message=said)]), said

    return message_view((await amend(house, actor, session_id, change))[1])


@allowed("player")
async def get_message(house: House, actor: Actor, session_id: str, command: NameMessage) -> MessageView:
    """Shows one line of the transcript."""
    async with house.store.reading() as unit:
        play = await play_of(unit, actor, session_id)
        return message_view(await _message(unit, play.head_turn_id, command.message_id))


@allowed("player")
async def list_messages(house: House, actor: Actor, session_id: str, command: Paging) -> MessagesListed:
    """Lists the transcript of the session's own line, in order."""
    async with house.store.reading() as unit:
        play = await play_of(unit, actor, session_id)
        if command.limit is None and command.cursor is None:
            messages = await unit.plays.transcript(play.head_turn_id)
        else:
            messages = await _part(unit, play.head_turn_id, command)
    is_cut = command.limit is not None and len(messages) > command.limit
    shown = messages[: command.limit] if is_cut else messages
    return MessagesListed(messages=await message_lines(shown), next_cursor=shown[-1].message_id if is_cut else None)


async def _part(unit: Unit, turn_id: str, paging: Paging) -> list[SpokenMessage]:
    """The lines that a page shows, and one more if there is one; no other is read."""
    newest = await unit.plays.transcript(turn_id, last=1)
    end = newest[-1].sequence if newest else -1
    start = 0
    if paging.cursor is not None:
        cursor = await unit.plays.message(turn_id, checked_name(paging.cursor, "session message"))
        if cursor is None:
            raise InvalidRequest(UNKNOWN_CURSOR)
        start = cursor.sequence + 1
    wanted = end - start + 1 if paging.limit is None else paging.limit + 1
    found: list[SpokenMessage] = []
    # Lines that were struck out leave gaps, so that one part may not be enough.
    while start <= end and len(found) < wanted:
        found += await unit.plays.transcript_part(turn_id, first=start, last=start + wanted - 1)
        start += wanted
    return found


@allowed("player")
async def update_message(house: House, actor: Actor, session_id: str, command: UpdateMessage) -> MessageView:
    """Rewrites a line; the roles see the new words wherever they still see that line."""
    _check_text(command.text)

    async def change(at: AtHead) -> tuple[Amendment, SpokenMessage]:
        old = await _message(at.unit, at.play.head_turn_id, command.message_id)
        new = replace(old, **command.model_dump(exclude={"message_id"}), updated_at_ms=house.clock.now_ms())
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
    raise NotFound(f"This session's transcript has no message named '{message_id}'.")


def _check_text(text: str) -> None:
    if not text.strip():
        raise InvalidRequest("A message needs some text.")
