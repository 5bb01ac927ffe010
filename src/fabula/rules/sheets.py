"""Character sheets: the stats of a game system, kept as variables of a player's or character's state.

A sheet is no state of its own. Conditions of stories can read it, operations change it, and going back brings it back,
as with every variable.
"""

from __future__ import annotations

from collections.abc import Mapping

from fabula.rules.draws import Draws
from fabula.rules.rolls import roll_or_nothing
from fabula.story.checks import Modifier
from fabula.story.game_systems import GameSystem
from fabula.story.schemas import Schema, SchemaField
from fabula.story.values import Json, JsonObject

CONDITIONS = "conditions"
"""The variable that lists the conditions somebody is in."""


def sheet_schema(system: GameSystem) -> Schema:
    """The variables of a sheet, typed."""
    fields = {name: _number(one.display_name, one.default) for name, one in system.attributes.items()}
    fields |= {name: _number(one.display_name, one.default) for name, one in system.skills.items()}
    fields |= {name: _number(one.display_name, one.start) for name, one in system.tracks.items()}
    if system.conditions:
        fields[CONDITIONS] = SchemaField(value_type="array", default=[], description="What ails or helps")
    return Schema(schema_id=f"sheet-{system.system_id}"[:128], display_name=system.display_name, fields=fields)


def _number(description: str, default: int) -> SchemaField:
    return SchemaField(value_type="int", default=default, description=description)


def with_sheet(schema: Schema, system: GameSystem | None) -> Schema:
    """A schema that also knows the variables of a sheet. They have no default: what is not written stands in the
    system, so that sheets make no state larger."""
    if system is None:
        return schema
    sheet = {name: field.model_copy(update={"default": None}) for name, field in sheet_schema(system).fields.items()}
    return schema.model_copy(update={"fields": {**sheet, **schema.fields}})


def stat_value(system: GameSystem, variables: Mapping[str, Json], name: str) -> int:
    """A stat as it stands on somebody's sheet, within its bounds; the system's default where it is not written."""
    written = variables.get(name)
    number = int(written) if isinstance(written, (int, float)) and not isinstance(written, bool) else None
    if name in system.attributes:
        one = system.attributes[name]
        return max(one.least, min(one.most, one.default if number is None else number))
    if name in system.tracks:
        track = system.tracks[name]
        return max(track.least, min(track.most, track.start if number is None else number))
    if name in system.skills:
        return system.skills[name].default if number is None else number
    return 0


def modifier_of(system: GameSystem, variables: Mapping[str, Json], name: str | None) -> int:
    """What an attribute or skill adds to a roll."""
    if name is None:
        return 0
    stat = system.attributes.get(name) or system.skills.get(name)
    if stat is None:
        return 0
    # A modifier has no dice: the check of systems refuses them, so nothing is drawn here.
    return roll_or_nothing(stat.modifier, Draws(0), {"value": stat_value(system, variables, name)}).total


def conditions_of(system: GameSystem, variables: Mapping[str, Json]) -> list[str]:
    """The conditions of the system that somebody is in."""
    written = variables.get(CONDITIONS)
    listed = written if isinstance(written, list) else []
    return [one for one in listed if isinstance(one, str) and one in system.conditions]


def condition_modifiers(system: GameSystem, variables: Mapping[str, Json], *stats: str | None) -> list[Modifier]:
    """What somebody's conditions add to a check of these stats."""
    found = ((name, system.conditions[name]) for name in conditions_of(system, variables))
    return [
        Modifier(source=rule.display_name, value=rule.modifier)
        for _, rule in found
        if rule.modifier and (not rule.stats or any(stat in rule.stats for stat in stats))
    ]


def preventing(system: GameSystem, variables: Mapping[str, Json]) -> str | None:
    """The name of a condition in which nothing can be done, if somebody is in one."""
    rules = (system.conditions[name] for name in conditions_of(system, variables))
    return next((rule.display_name for rule in rules if rule.prevents), None)


def sheet_of(system: GameSystem, variables: Mapping[str, Json]) -> JsonObject:
    """Somebody's whole sheet, defaults filled in."""
    names = [*system.attributes, *system.skills, *system.tracks]
    sheet: JsonObject = {name: stat_value(system, variables, name) for name in names}
    if system.conditions:
        sheet[CONDITIONS] = [*conditions_of(system, variables)]
    return sheet
