"""Keep api groups: which api each of the seven roles uses."""

from __future__ import annotations

from typing import Literal

from fabula.actions.authority import allowed
from fabula.actions.house import House
from fabula.actions.repositories import API_GROUPS, checked_new_name
from fabula.actions.views import Command, ListView, Paging, View, changed
from fabula.ports.actors import Actor
from fabula.story.resources import ApiGroup, Bindings


class CreateApiGroup(Command):
    api_group_id: str
    display_name: str
    bindings: Bindings


class UpdateApiGroup(Command):
    api_group_id: str
    display_name: str | None = None
    bindings: Bindings | None = None


class NameApiGroup(Command):
    api_group_id: str


class ApiGroupView(View):
    type: Literal["api_group"] = "api_group"
    api_group_id: str
    display_name: str
    bindings: Bindings


class ApiGroupsListed(ListView):
    type: Literal["api_groups_listed"] = "api_groups_listed"
    api_groups: list[ApiGroupView]


class ApiGroupDeleted(View):
    type: Literal["api_group_deleted"] = "api_group_deleted"
    api_group_id: str


@allowed("admin")
async def create_api_group(house: House, actor: Actor, command: CreateApiGroup) -> ApiGroupView:
    """Adds a group; every bound api must exist."""
    checked_new_name(command.api_group_id, API_GROUPS.noun)
    group = ApiGroup(**dict(command))
    async with house.store.writing() as unit:
        await API_GROUPS.add(unit, group.api_group_id, group)
    return _view(group)


@allowed("author")
async def get_api_group(house: House, actor: Actor, command: NameApiGroup) -> ApiGroupView:
    """Shows a group."""
    async with house.store.reading() as unit:
        return _view(await API_GROUPS.get(unit, command.api_group_id))


@allowed("player")
async def list_api_groups(house: House, actor: Actor, command: Paging) -> ApiGroupsListed:
    """Lists all groups by id."""
    async with house.store.reading() as unit:
        groups, cursor = await API_GROUPS.page(unit, command)
    return ApiGroupsListed(api_groups=[_view(group) for group in groups], next_cursor=cursor)


@allowed("admin")
async def update_api_group(house: House, actor: Actor, command: UpdateApiGroup) -> ApiGroupView:
    """Changes a group; fields that are not given stay as they are."""
    async with house.store.writing() as unit:
        before = await API_GROUPS.get(unit, command.api_group_id)
        after = ApiGroup(**changed(before, command, "display_name", "bindings"))
        await API_GROUPS.put(unit, after.api_group_id, after)
    return _view(after)


@allowed("admin")
async def delete_api_group(house: House, actor: Actor, command: NameApiGroup) -> ApiGroupDeleted:
    """Removes a group that no draft or session uses."""
    async with house.store.writing() as unit:
        await API_GROUPS.remove(unit, command.api_group_id)
    return ApiGroupDeleted(api_group_id=command.api_group_id)


def _view(group: ApiGroup) -> ApiGroupView:
    return ApiGroupView(**dict(group))
