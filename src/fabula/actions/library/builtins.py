"""Set out what every server has from the start: the understudy, a group that binds it, and the built-in preset."""

from __future__ import annotations

from fabula.actions.house import House
from fabula.actions.repositories import API_GROUPS, APIS, PRESETS
from fabula.agents.presets.forms import builtin_preset
from fabula.ports.store import Unit
from fabula.story.resources import Api, ApiGroup, Bindings

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
    """Adds the built-ins that are missing; what the user made under the same name is left alone."""
    async with house.store.reading() as unit:
        if not await _missing(unit):
            return
    async with house.store.writing() as unit:
        for kind in await _missing(unit):
            match kind:
                case "api":
                    await APIS.add(unit, UNDERSTUDY.api_id, UNDERSTUDY, built_in=True)
                case "api_group":
                    await API_GROUPS.add(unit, BUILTIN_GROUP.api_group_id, BUILTIN_GROUP, built_in=True)
                case "preset":
                    preset = builtin_preset()
                    await PRESETS.add(unit, preset.preset_id, preset, built_in=True)


async def _missing(unit: Unit) -> list[str]:
    there = {
        "api": await unit.resources.get("api", UNDERSTUDY.api_id),
        "api_group": await unit.resources.get("api_group", BUILTIN_GROUP.api_group_id),
        "preset": await unit.resources.get("preset", builtin_preset().preset_id),
    }
    return [kind for kind, found in there.items() if found is None]
