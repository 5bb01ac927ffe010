"""Open a conversation: in a play, with those in the scene; by itself, in a play of its own; or as an interview.

A conversation is part of the state of its play, and opening it is a turn by hand: going back undoes it. What is said
in it are turns of the play. Those who talk are apart from the others in the scene, who hear nothing of it.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from fabula.actions.authority import allowed
from fabula.actions.house import House
from fabula.actions.plays.amend import Amendment, AtHead, amend
from fabula.actions.plays.branches import Fork, fork
from fabula.actions.plays.kinds.rows import kind_of_play
from fabula.actions.plays.play_states import head_state
from fabula.actions.plays.start_session import StartSession, start_session
from fabula.actions.repositories import STORY_RESOURCES
from fabula.actions.turns.run_turn import LONGEST_INPUT, RunTurn, run_turn
from fabula.actions.turns.turn_keys import KeyedCommand
from fabula.actions.views import Command, View
from fabula.loops.scene.play_setup import PlaySetup
from fabula.ports.actors import Actor
from fabula.ports.errors import Conflict, InvalidRequest, NotFound
from fabula.ports.plays import Turn
from fabula.ports.store import Unit
from fabula.story.change_labels import change_label
from fabula.story.conversations import MOST_CHARACTERS, Conversation, ConversationMode
from fabula.story.plays import PlayState
from fabula.story.values import Id

NONE_OPEN = "No conversation is under way here. Open one first."


class OpenConversation(Command):
    """With whom: one to four characters. In an `interview` an author asks one of them about itself, in a copy of the
    play, and nobody in the story notices. Without a session it is a play of its own, of the story `story_id` or of the
    first one in which all of them are."""

    character_ids: list[Id] = Field(min_length=1, max_length=MOST_CHARACTERS)
    mode: ConversationMode = "talk"
    story_id: str | None = None


class SayInConversation(KeyedCommand):
    """What the player says."""

    text: Annotated[str, Field(min_length=1, max_length=LONGEST_INPUT)]


class ConversationOpened(View):
    """A conversation, and the session in which it is held."""

    names_session: ClassVar[bool] = True
    type: Literal["conversation"] = "conversation"
    session_id: str
    conversation_id: str
    character_ids: list[str]
    mode: ConversationMode
    turns: int


@allowed("player")
async def open_conversation(
    house: House, actor: Actor, session_id: str | None, command: OpenConversation
) -> ConversationOpened:
    """Opens a conversation with one to four characters."""
    if command.mode == "interview":
        actor.must_be("author", "To interview a character")
        if len(command.character_ids) > 1:
            raise InvalidRequest("One character is interviewed at a time.")
    if session_id is None:
        session_id = await _own_play(house, actor, command)
        return await _open(house, actor, session_id, command, anywhere=True)
    if command.mode == "interview":
        await _refuse_open(house, actor, session_id)
        copy = await fork(house, actor, session_id, Fork(display_name="Interview", history="none"))
        return await _open(house, actor, copy.session_id, command, anywhere=True)
    return await _open(house, actor, session_id, command, anywhere=False)


async def _refuse_open(house: House, actor: Actor, session_id: str) -> None:
    async with house.store.reading() as unit:
        _refuse_second((await head_state(unit, actor, session_id))[1])


def _refuse_second(state: PlayState) -> None:
    kind_of_play(state).refuse_conversation()
    if state.conversation is not None:
        raise Conflict("A conversation is under way here already. Leave it first.")


async def _open(
    house: House, actor: Actor, session_id: str, command: OpenConversation, *, anywhere: bool
) -> ConversationOpened:
    async def change(at: AtHead) -> tuple[Amendment, Conversation]:
        _refuse_second(at.state)
        setup = await house.play_setups.played_by(at.looking, session_id, at.state.graph)
        ids = list(dict.fromkeys(command.character_ids))
        _refuse_absent(setup, at.state, ids, anywhere=anywhere)
        opened = Conversation(
            conversation_id=house.ids.new("conversation"),
            character_ids=ids,
            mode=command.mode,
            began=at.state.snapshot.turn_index,
        )
        # What the storyteller asked back is for the scene.
        state = at.state.model_copy(update={"conversation": opened, "question": None})
        names = setup.names_of(ids, at.state).values()
        return Amendment(state=state, label=change_label("talk_began", ", ".join(names))), opened

    _, opened = await amend(house, actor, session_id, change)
    return ConversationOpened(
        session_id=session_id,
        conversation_id=opened.conversation_id,
        character_ids=opened.character_ids,
        mode=opened.mode,
        turns=opened.turns,
    )


def _refuse_absent(setup: PlaySetup, state: PlayState, ids: list[str], *, anywhere: bool) -> None:
    """Only who is in the scene can be talked with there."""
    names = setup.names_of(ids, state)
    for id in ids:
        if id not in names:
            raise NotFound(f"There is no character '{id}' in this play.")
        if not anywhere and id not in state.world.active_characters:
            raise Conflict(f"{names[id]} is not in this scene.")


async def _own_play(house: House, actor: Actor, command: OpenConversation) -> str:
    """A new play in which nothing happens but the conversation."""
    async with house.store.reading() as unit:
        story_id = command.story_id or await _story_with(unit, command.character_ids)
    name = "Interview" if command.mode == "interview" else "A talk"
    return (await start_session(house, actor, StartSession(story_id=story_id, display_name=name))).session_id


async def _story_with(unit: Unit, ids: list[str]) -> str:
    """The first story in which all of these are."""
    for use in sorted(await unit.resources.users("character", ids[0])):
        resource = await STORY_RESOURCES.find(unit, use.id) if use.kind == "story_resources" else None
        if resource is not None and set(ids) <= set(resource.character_ids):
            told = [one.id for one in await unit.resources.users("story_resources", use.id) if one.kind == "story"]
            if told:
                return min(told)
    raise NotFound("There is no story in which all of these are. Put them into the cast of one first.")


@allowed("player")
async def say_in_conversation(
    house: House, actor: Actor, session_id: str, command: SayInConversation, *, request_id: str
) -> Turn:
    """Says something in the conversation that is under way; the answer is a stream of events, as that of a turn."""

    async def unless(unit: Unit) -> None:
        if (await head_state(unit, actor, session_id))[1].conversation is None:
            raise Conflict(NONE_OPEN)

    said = RunTurn(player_input=command.text, key=command.key)
    return await run_turn(house, actor, session_id, said, request_id=request_id, unless=unless)
