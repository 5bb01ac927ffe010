"""Keep player profiles: who the player may be."""

from __future__ import annotations

from typing import Literal

from fabula.actions.house import House
from fabula.actions.library.repositories import PLAYER_PROFILES, checked_new_name
from fabula.actions.views import Command, ListView, Paging, View, changed
from fabula.story.resources import PlayerProfile


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


async def create_player_profile(house: House, command: CreatePlayerProfile) -> PlayerProfileView:
    """Adds a profile."""
    checked_new_name(command.player_profile_id, PLAYER_PROFILES.noun)
    profile = PlayerProfile(**dict(command))
    async with house.store.writing() as unit:
        await PLAYER_PROFILES.add(unit, profile.player_profile_id, profile)
    return _view(profile)


async def get_player_profile(house: House, command: NamePlayerProfile) -> PlayerProfileView:
    """Shows a profile."""
    async with house.store.reading() as unit:
        return _view(await PLAYER_PROFILES.get(unit, command.player_profile_id))


async def list_player_profiles(house: House, command: Paging) -> PlayerProfilesListed:
    """Lists all profiles by id."""
    async with house.store.reading() as unit:
        profiles, cursor = await PLAYER_PROFILES.page(unit, command)
    return PlayerProfilesListed(player_profiles=[_view(profile) for profile in profiles], next_cursor=cursor)


async def update_player_profile(house: House, command: UpdatePlayerProfile) -> PlayerProfileView:
    """Changes a profile; fields that are not given stay as they are."""
    async with house.store.writing() as unit:
        before = await PLAYER_PROFILES.get(unit, command.player_profile_id)
        after = PlayerProfile(**changed(before, command, "display_name", "description"))
        await PLAYER_PROFILES.put(unit, after.player_profile_id, after)
    return _view(after)


async def delete_player_profile(house: House, command: NamePlayerProfile) -> PlayerProfileDeleted:
    """Removes a profile that no session uses."""
    async with house.store.writing() as unit:
        await PLAYER_PROFILES.remove(unit, command.player_profile_id)
    return PlayerProfileDeleted(player_profile_id=command.player_profile_id)


def _view(profile: PlayerProfile) -> PlayerProfileView:
    return PlayerProfileView(**dict(profile))
