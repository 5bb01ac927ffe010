"""Set out what every server has from the start: the understudy, a group that binds it, and the built-in preset."""

from __future__ import annotations

import logging

from fabula.actions.house import House
from fabula.actions.repositories import API_GROUPS, APIS, PRESETS, Repository, V
from fabula.agents.presets.forms import builtin_preset
from fabula.ports.errors import StoreError
from fabula.ports.store import Unit
from fabula.story.resources import Api, ApiGroup, Bindings

log = logging.getLogger("fabula.stored")

UNDERSTUDY = Api(
    api_id="understudy",
    display_name="Understudy (no model needed)",
    provider="understudy",
    base_url="",
    model="understudy",
)
BUILTIN_GROUP = ApiGroup(
    api_group_id="builtin",
    display_name="Built in: the understudy plays all roles",
    bindings=Bindings.all_to(UNDERSTUDY.api_id),
)


async def set_out_builtins(house: House) -> None:
    """Adds the built-ins that are missing, and writes those anew of which nothing can be read.

    What the user made under the same name is left alone, and so is what a newer version wrote. One that the user edited
    is left alone, too, while there is a document to be had: it may be mended by hand.
    """
    async with house.store.reading() as unit:
        if await _set_out(unit, writes=False) == 0:
            return
    await house.store.write(lambda unit: _set_out(unit, writes=True))


async def _set_out(unit: Unit, *, writes: bool) -> int:
    """How many there were to write."""
    preset = builtin_preset()
    return sum(
        [
            await _set_out_one(unit, APIS, UNDERSTUDY.api_id, UNDERSTUDY, writes=writes),
            await _set_out_one(unit, API_GROUPS, BUILTIN_GROUP.api_group_id, BUILTIN_GROUP, writes=writes),
            await _set_out_one(unit, PRESETS, preset.preset_id, preset, writes=writes),
        ]
    )


async def _set_out_one(unit: Unit, repository: Repository[V], id: str, value: V, *, writes: bool) -> bool:
    stored = await unit.resources.get(repository.kind, id)
    if stored is None:
        if writes:
            await repository.add(unit, id, value, built_in=True)
        return True
    try:
        await repository.read_all([stored])
    except StoreError as error:
        if not stored.built_in or "version" in error.data:
            return False
        if stored.damage is None and stored.revision > 1:
            log.warning("It is built in, but was edited, so it is left as it is: %s", error.message)
            return False
        if writes:
            log.warning("It is built in and is written anew: %s", error.message)
            await repository.put(unit, id, value)
        return True
    return False
