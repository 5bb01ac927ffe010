"""Which models and prompts are used where nobody chose any."""

from __future__ import annotations

from fabula.ports.errors import Conflict
from fabula.ports.store import Unit


async def default_binding(unit: Unit, api_group_id: str | None, preset_id: str | None) -> tuple[str, str]:
    """The named group and preset, or the first available ones; Conflict when there is none."""
    group = api_group_id or await unit.resources.first("api_group")
    preset = preset_id or await unit.resources.first("preset")
    if group is None or preset is None:
        raise Conflict("No model is set up yet: make an api group and a preset first.")
    return group, preset
