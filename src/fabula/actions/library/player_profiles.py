"""Keep player profiles: who the player may be."""

from __future__ import annotations

from typing import Literal

from fabula.actions.authority import allowed
from fabula.actions.house import House
from fabula.actions.repositories import PLAYER_PROFILES, checked_new_name
from fabula.actions.views import Command, ListView, Paging, View, changed, cursor_after
from fabula.ports.actors import Actor
from fabula.ports.store import Unit
from fabula.story.resources import PlayerProfile

READ_AT_ONCE = 500


class CreatePlayerProfile(Command):
    player_profile_id: str
    display_name: str
    description: str


class UpdatePlayerProfile(Command):
    player_profile_id: str
    display_name: str | None = None
    description: str | None = None


class NamePlayerProfile(Command):
    player_profile_id: str


class PlayerProfileView(View):
    type: Literal["player_profile"] = "player_profile"
    player_profile_id: str
    display_name: str
    description: str


class PlayerProfilesListed(ListView):
    type: Literal["player_profiles_listed"] = "player_profiles_listed"
    player_profiles: list[PlayerProfileView]


class PlayerProfileDeleted(View):
    type: Literal["player_profile_deleted"] = "player_profile_deleted"
    player_profile_id: str


@allowed("player")
async def create_player_profile(house: House, actor: Actor, command: CreatePlayerProfile) -> PlayerProfileView:
    """Adds a profile. A player's is their own; an author's or admin's is for everybody to play as."""
    checked_new_name(command.player_profile_id, PLAYER_PROFILES.noun)
    owner = None if actor.may_act_as("author") else actor.token_id
    profile = PlayerProfile(**dict(command), owner_token_id=owner)
    async with house.store.writing() as unit:
        await PLAYER_PROFILES.add(unit, profile.player_profile_id, profile)
    return _view(profile)


@allowed("player")
async def get_player_profile(house: House, actor: Actor, command: NamePlayerProfile) -> PlayerProfileView:
    """Shows a profile."""
    async with house.store.reading() as unit:
        return _view(await profile_of(unit, actor, command.player_profile_id))


@allowed("player")
async def list_player_profiles(house: House, actor: Actor, command: Paging) -> PlayerProfilesListed:
    """Lists the caller's profiles and those of the house, by id; an admin sees all."""
    async with house.store.reading() as unit:
        shown = await _shown_after(unit, actor, command)
    cursor = None
    if command.limit is not None and len(shown) > command.limit:
        shown = shown[: command.limit]
        cursor = cursor_after(PLAYER_PROFILES.kind, shown[-1].player_profile_id)
    return PlayerProfilesListed(player_profiles=[_view(profile) for profile in shown], next_cursor=cursor)


@allowed("player")
async def update_player_profile(house: House, actor: Actor, command: UpdatePlayerProfile) -> PlayerProfileView:
    """Changes a profile; fields that are not given stay as they are."""
    async with house.store.writing() as unit:
        before = await _own_profile(unit, actor, command.player_profile_id)
        after = PlayerProfile(**changed(before, command, "display_name", "description"))
        await PLAYER_PROFILES.put(unit, after.player_profile_id, after)
    return _view(after)


@allowed("player")
async def delete_player_profile(house: House, actor: Actor, command: NamePlayerProfile) -> PlayerProfileDeleted:
    """Removes a profile that no session uses."""
    async with house.store.writing() as unit:
        await _own_profile(unit, actor, command.player_profile_id)
        await PLAYER_PROFILES.remove(unit, command.player_profile_id)
    return PlayerProfileDeleted(player_profile_id=command.player_profile_id)


async def profile_of(unit: Unit, actor: Actor, player_profile_id: str) -> PlayerProfile:
    """A profile that the actor may play as: their own, or one of the house. Others' are not there."""
    profile = await PLAYER_PROFILES.get(unit, player_profile_id)
    if not _is_shown(actor, profile):
        raise PLAYER_PROFILES.missing(player_profile_id)
    return profile


async def _shown_after(unit: Unit, actor: Actor, paging: Paging) -> list[PlayerProfile]:
    """What the actor sees of a list, one more than asked for if there is more.

    Others' profiles are passed over: a page has as many as was asked for, and no cursor names one of theirs.
    """
    shown: list[PlayerProfile] = []
    cursor = paging.cursor
    while True:
        profiles, cursor = await PLAYER_PROFILES.page(unit, Paging(limit=READ_AT_ONCE, cursor=cursor))
        shown += [profile for profile in profiles if _is_shown(actor, profile)]
        if cursor is None or (paging.limit is not None and len(shown) > paging.limit):
            return shown


def _is_shown(actor: Actor, profile: PlayerProfile) -> bool:
    return profile.owner_token_id is None or actor.owns(profile.owner_token_id)


async def _own_profile(unit: Unit, actor: Actor, player_profile_id: str) -> PlayerProfile:
    profile = await profile_of(unit, actor, player_profile_id)
    if profile.owner_token_id is None:
        actor.must_be("author", "Changing a player profile of the house")
    return profile


def _view(profile: PlayerProfile) -> PlayerProfileView:
    return PlayerProfileView(**{name: value for name, value in profile if name != "owner_token_id"})
