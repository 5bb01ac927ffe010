"""Keep session characters: guests who entered the stage during play."""

from __future__ import annotations

from typing import Literal

from fabula.actions.authority import allowed
from fabula.actions.house import House
from fabula.actions.plays.amend import Amendment, AtHead, amend
from fabula.actions.plays.kinds.rows import kind_of_play
from fabula.actions.plays.play_states import head_state
from fabula.actions.repositories import checked_name
from fabula.actions.views import Command, ListView, Paging, View, part_of
from fabula.ports.actors import Actor
from fabula.ports.errors import InvalidRequest, NotFound
from fabula.story.guests import added, entered, guests_problem, left, removed
from fabula.story.plays import PlayState, SessionCharacter


class NameSessionCharacter(Command):
    session_character_id: str


class CreateSessionCharacter(Command):
    display_name: str
    personality: str
    style: str
    system_prompt: str
    enter_scene: bool = True


class UpdateSessionCharacter(Command):
    session_character_id: str
    display_name: str
    personality: str
    style: str
    system_prompt: str


class SessionCharacterView(View):
    type: Literal["session_character"] = "session_character"
    session_character_id: str
    display_name: str
    personality: str
    style: str
    system_prompt: str
    in_scene: bool
    created_at_ms: int
    updated_at_ms: int


class SessionCharactersListed(ListView):
    type: Literal["session_characters_listed"] = "session_characters_listed"
    session_characters: list[SessionCharacterView]


class SessionCharacterDeleted(View):
    type: Literal["session_character_deleted"] = "session_character_deleted"
    session_character_id: str


@allowed("player")
async def create_session_character(
    house: House, actor: Actor, session_id: str, command: CreateSessionCharacter
) -> SessionCharacterView:
    """Brings a guest into the play by hand."""
    _check_name(command.display_name)
    now = house.clock.now_ms()
    guest = SessionCharacter(
        session_character_id=house.ids.new("character"),
        **command.model_dump(exclude={"enter_scene"}),
        created_at_ms=now,
        updated_at_ms=now,
    )

    async def change(at: AtHead) -> tuple[Amendment, None]:
        return _within_limit(at, kind_of_play(at.state).add_guest(at.state, guest, enters=command.enter_scene)), None

    state, _ = await amend(house, actor, session_id, change)
    return guest_view(state, guest.session_character_id)


def _within_limit(at: AtHead, after: PlayState) -> Amendment:
    if (problem := guests_problem(at.state, after)) is not None:
        raise InvalidRequest(problem)
    return Amendment(state=after)


@allowed("player")
async def get_session_character(
    house: House, actor: Actor, session_id: str, command: NameSessionCharacter
) -> SessionCharacterView:
    """Shows a guest."""
    async with house.store.reading() as unit:
        _, state = await head_state(unit, actor, session_id)
    return guest_view(state, command.session_character_id)


@allowed("player")
async def list_session_characters(
    house: House, actor: Actor, session_id: str, command: Paging
) -> SessionCharactersListed:
    """Lists all guests of a play."""
    async with house.store.reading() as unit:
        _, state = await head_state(unit, actor, session_id)
    ids, cursor = part_of(sorted(state.session_characters), command, str)
    return SessionCharactersListed(session_characters=[guest_view(state, id) for id in ids], next_cursor=cursor)


@allowed("player")
async def update_session_character(
    house: House, actor: Actor, session_id: str, command: UpdateSessionCharacter
) -> SessionCharacterView:
    """Rewrites a guest."""
    _check_name(command.display_name)

    async def change(at: AtHead) -> tuple[Amendment, None]:
        old = _guest(at.state, command.session_character_id)
        fields = {**dict(old), **dict(command), "updated_at_ms": house.clock.now_ms()}
        return _within_limit(at, added(at.state, SessionCharacter(**fields))), None

    state, _ = await amend(house, actor, session_id, change)
    return guest_view(state, command.session_character_id)


@allowed("player")
async def delete_session_character(
    house: House, actor: Actor, session_id: str, command: NameSessionCharacter
) -> SessionCharacterDeleted:
    """Removes a guest with its variables and memories; turns before this one still know it."""

    async def change(at: AtHead) -> tuple[Amendment, None]:
        gone = _guest(at.state, command.session_character_id)
        return Amendment(state=removed(at.state, gone.session_character_id)), None

    await amend(house, actor, session_id, change)
    return SessionCharacterDeleted(session_character_id=command.session_character_id)


@allowed("player")
async def enter_scene(
    house: House, actor: Actor, session_id: str, command: NameSessionCharacter
) -> SessionCharacterView:
    """Lets a guest enter the scene."""

    async def change(at: AtHead) -> tuple[Amendment, None]:
        guest = _guest(at.state, command.session_character_id)
        return _within_limit(at, entered(at.state, guest.session_character_id)), None

    state, _ = await amend(house, actor, session_id, change)
    return guest_view(state, command.session_character_id)


@allowed("player")
async def leave_scene(
    house: House, actor: Actor, session_id: str, command: NameSessionCharacter
) -> SessionCharacterView:
    """Lets a guest leave the scene."""

    async def change(at: AtHead) -> tuple[Amendment, None]:
        guest = _guest(at.state, command.session_character_id)
        return Amendment(state=left(at.state, guest.session_character_id)), None

    state, _ = await amend(house, actor, session_id, change)
    return guest_view(state, command.session_character_id)


def guest_view(state: PlayState, session_character_id: str) -> SessionCharacterView:
    guest = _guest(state, session_character_id)
    in_scene = session_character_id in state.snapshot.world_state.active_characters
    return SessionCharacterView(**dict(guest), in_scene=in_scene)


def _guest(state: PlayState, session_character_id: str) -> SessionCharacter:
    guest = state.session_characters.get(checked_name(session_character_id, "session character"))
    if guest is None:
        raise NotFound(f"There is no session character named '{session_character_id}'.")
    return guest


def _check_name(display_name: str) -> None:
    if not display_name.strip():
        raise InvalidRequest("Give the character a name: `display_name` is empty.")
