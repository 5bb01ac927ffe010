"""Which models and prompts are used where nobody chose any."""

from __future__ import annotations

from fabula.actions.repositories import API_GROUPS, PRESETS
from fabula.ports.errors import Conflict
from fabula.ports.store import Unit

DEFAULT_GROUP = "default"
"""The group that is taken first, if there is one: choosing a model binds it."""


async def default_group(unit: Unit) -> str | None:
    """The group named `default`, else the first available one."""
    named = await unit.resources.get("api_group", DEFAULT_GROUP)
    return DEFAULT_GROUP if named is not None and named.damage is None else await API_GROUPS.first(unit)


async def default_binding(unit: Unit, api_group_id: str | None, preset_id: str | None) -> tuple[str, str]:
    """The named group and preset, or the default ones; Conflict when there is none."""
    group = api_group_id or await default_group(unit)
    preset = preset_id or await PRESETS.first(unit)
    if group is None or preset is None:
        raise Conflict("No model is set up yet: make an api group and a preset first.")
    return group, preset
