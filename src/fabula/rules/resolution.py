"""Resolving a check: the dice fall, the measure finds its level, and the rules of the system say what that does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from fabula.rules.draws import Draws
from fabula.rules.rolls import FallenDie, Rolled, roll_or_nothing
from fabula.rules.sheets import CONDITIONS, condition_modifiers, conditions_of, modifier_of, stat_value
from fabula.story.checks import PLAYER, Check, Edge, Effect, GroupRoll, Modifier, Resolution, RollView, ShownDie
from fabula.story.game_systems import LEVELS, EffectRule, GameSystem, Level
from fabula.story.state import SetCharacterState, SetPlayerState, VariableOp
from fabula.story.values import Json, JsonObject

Sheets = Mapping[str, Mapping[str, Json]]
"""The variables of everybody who may be part of a check, by id; the player's under `player`."""

MOST_IN_A_GROUP = 12


@dataclass(frozen=True, kw_only=True)
class Resolved:
    """A resolution, and the operations that make its effects true."""

    resolution: Resolution
    ops: tuple[VariableOp, ...]


def resolve(system: GameSystem, check: Check, sheets: Sheets, draws: Draws, names: Mapping[str, str]) -> Resolved:
    """Rolls a check and works out what follows. `names` are what people are called, by id."""
    resolution = _together(system, decide(system, check, sheets, draws), sheets, draws)
    effects, ops = effects_of(system, resolution, sheets, draws, names)
    return Resolved(resolution=resolution.model_copy(update={"effects": effects}), ops=ops)


def _together(system: GameSystem, own: Resolution, sheets: Sheets, draws: Draws) -> Resolution:
    """The resolution of a group: everyone rolls, and what at least half of them reached counts for all."""
    if not own.check.group or own.check.forced is not None:
        return own
    others = [
        decide(system, own.check.model_copy(update={"actor": who, "group": [], "modifiers": []}), sheets, draws)
        for who in own.check.group[: MOST_IN_A_GROUP - 1]
    ]
    group = [GroupRoll(who=one.check.actor, roll=one.roll, level=one.level) for one in others]
    level = group_level([own.level, *(one.level for one in others)])
    return own.model_copy(update={"group": group, "level": level})


def decide(system: GameSystem, check: Check, sheets: Sheets, draws: Draws) -> Resolution:
    """The roll and its level. A forced level is not rolled for: the dice stay where they are."""
    check = _with_conditions(system, check, sheets)
    if check.forced is not None:
        still = RollView(formula="", total=0)
        return Resolution(check=check, roll=still, target=check.target, margin=0, level=check.forced)
    thrown = _throw(system, check.edge, _values(system, check, sheets), draws)
    opposed, target = _target(system, check, sheets, draws)
    measure = _measure(system, thrown, target)
    natural = _natural(system, thrown.dice)
    level = natural or _level(system, measure)
    return Resolution(
        check=check,
        roll=_view(system, _formula(system, check.edge), thrown),
        opposed=None if opposed is None else _view(system, _formula(system, "none"), opposed),
        target=target,
        margin=measure,
        level=level,
    )


def group_level(levels: Sequence[Level]) -> Level:
    """What a group achieves together: the level that at least half of it reached."""
    ranks = sorted(LEVELS.index(level) for level in levels[:MOST_IN_A_GROUP])
    return LEVELS[ranks[(len(ranks) - 1) // 2]]


def _with_conditions(system: GameSystem, check: Check, sheets: Sheets) -> Check:
    found = condition_modifiers(system, sheets.get(check.actor, {}), check.stat, check.skill)
    return check.model_copy(update={"modifiers": [*check.modifiers, *found]}) if found else check


def _values(system: GameSystem, check: Check, sheets: Sheets) -> dict[str, int]:
    sheet = sheets.get(check.actor, {})
    return {
        "stat": modifier_of(system, sheet, check.stat),
        "skill": modifier_of(system, sheet, check.skill),
        "bonus": sum(one.value for one in check.modifiers),
    }


def _formula(system: GameSystem, edge: Edge) -> str:
    core = system.core
    match edge:
        case "advantage":
            return core.advantage or core.formula
        case "disadvantage":
            return core.disadvantage or core.formula
        case "none":
            return core.formula


def _throw(system: GameSystem, edge: Edge, values: Mapping[str, int], draws: Draws) -> Rolled:
    return roll_or_nothing(_formula(system, edge), draws, values)


def _target(system: GameSystem, check: Check, sheets: Sheets, draws: Draws) -> tuple[Rolled | None, int]:
    """What must be reached: the opponent's own roll with the same stat, the target that was named, or the usual one."""
    if check.opponent is not None and check.target is None and system.core.measure == "margin":
        sheet = sheets.get(check.opponent, {})
        values = {
            "stat": modifier_of(system, sheet, check.stat),
            "skill": modifier_of(system, sheet, check.skill),
            "bonus": sum(one.value for one in condition_modifiers(system, sheet, check.stat, check.skill)),
        }
        opposed = _throw(system, "none", values, draws)
        return opposed, opposed.total
    return None, system.core.default_target if check.target is None else check.target


def _measure(system: GameSystem, thrown: Rolled, target: int) -> int:
    match system.core.measure:
        case "margin":
            return thrown.total - target
        case "total":
            return thrown.total
        case "count":
            return sum(die.is_kept and die.value >= target for die in thrown.dice)


def _level(system: GameSystem, measure: int) -> Level:
    bands = system.core.bands
    return next((band.level for band in bands if band.at_least is None or measure >= band.at_least), bands[-1].level)


def _natural(system: GameSystem, dice: Sequence[FallenDie]) -> Level | None:
    kept = [die for die in dice if die.is_kept]
    for natural in system.core.naturals:
        if any(die.size == natural.size and die.value == natural.face for die in kept):
            return natural.level
    return None


def _view(system: GameSystem, formula: str, thrown: Rolled) -> RollView:
    natural = _natural(system, thrown.dice)
    return RollView(
        formula=formula,
        dice=[ShownDie(size=die.size, shown=list(die.shown), kept=die.is_kept) for die in thrown.dice],
        raw=[die.value for die in thrown.dice],
        kept=[die.value for die in thrown.dice if die.is_kept],
        total=thrown.total,
        critical=natural == "critical_success",
        fumble=natural == "critical_failure",
    )


def effects_of(
    system: GameSystem, resolution: Resolution, sheets: Sheets, draws: Draws, names: Mapping[str, str]
) -> tuple[list[Effect], tuple[VariableOp, ...]]:
    """What the outcome does to the sheets: each change once, in the order of the rules, and what thresholds add."""
    check = resolution.check
    changed: dict[str, dict[str, Json]] = {}
    effects: list[Effect] = []
    for rule in system.effects:
        if resolution.level not in rule.levels or (rule.acts and check.act not in rule.acts):
            continue
        who = check.actor if rule.on == "actor" else check.opponent
        if who is not None:
            sheet = changed.setdefault(who, dict(sheets.get(who, {})))
            name = names.get(who, "You" if who == PLAYER else who)
            effects += _one_effect(system, rule, resolution, who, sheet, name, sheets, draws)
    ops = [op for who, sheet in changed.items() for op in _ops(who, sheets.get(who, {}), sheet)]
    return effects, tuple(ops)


def _one_effect(
    system: GameSystem,
    rule: EffectRule,
    resolution: Resolution,
    who: str,
    sheet: dict[str, Json],
    name: str,
    sheets: Sheets,
    draws: Draws,
) -> list[Effect]:
    effects: list[Effect] = []
    if rule.track is not None and rule.change is not None:
        values = {**_values(system, resolution.check, sheets), "margin": resolution.margin}
        amount = roll_or_nothing(rule.change, draws, values).total
        effects += _move_track(system, rule.track, amount, who, sheet, name, lasting=rule.lasting)
    if rule.adds is not None:
        effects += _set_condition(system, rule.adds, True, who, sheet, name, lasting=rule.lasting)
    if rule.removes is not None:
        effects += _set_condition(system, rule.removes, False, who, sheet, name, lasting=rule.lasting)
    return effects


def _move_track(
    system: GameSystem, track_name: str, amount: int, who: str, sheet: dict[str, Json], name: str, *, lasting: bool
) -> list[Effect]:
    track = system.tracks[track_name]
    before = stat_value(system, sheet, track_name)
    after = max(track.least, min(track.most, before + amount))
    if after == before:
        return []
    sheet[track_name] = after
    sentence = f"{name}: {track.display_name} {before} → {after}."
    effects = [
        Effect(who=who, kind="track", name=track_name, before=before, after=after, lasting=lasting, sentence=sentence)
    ]
    for threshold in track.thresholds:
        crossed = after <= threshold.at < before if threshold.falling else before < threshold.at <= after
        if crossed:
            effects += _set_condition(
                system, threshold.condition, not threshold.removes, who, sheet, name, lasting=lasting
            )
    return effects


def _set_condition(
    system: GameSystem, condition: str, on: bool, who: str, sheet: dict[str, Json], name: str, *, lasting: bool
) -> list[Effect]:
    there = conditions_of(system, sheet)
    if (condition in there) == on:
        return []
    sheet[CONDITIONS] = [*there, condition] if on else [one for one in there if one != condition]
    label = system.conditions[condition].display_name
    sentence = f"{name}: {label}." if on else f"{name}: no longer {label}."
    kind: Literal["condition_added", "condition_removed"] = "condition_added" if on else "condition_removed"
    return [Effect(who=who, kind=kind, name=condition, lasting=lasting, sentence=sentence)]


def _ops(who: str, before: Mapping[str, Json], after: JsonObject) -> list[VariableOp]:
    changed = {key: value for key, value in after.items() if key not in before or before[key] != value}
    if who == PLAYER:
        return [SetPlayerState(key=key, value=value) for key, value in changed.items()]
    return [SetCharacterState(character=who, key=key, value=value) for key, value in changed.items()]


def bonus(source: str, value: int) -> Modifier:
    """A modifier with its source."""
    return Modifier(source=source, value=value)
