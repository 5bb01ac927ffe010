"""Game systems: those that are built in, and what is wrong with one that somebody wrote."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files

from fabula.language.terms import terms_problem
from fabula.rules.formulas import (
    Binary,
    Dice,
    Formula,
    FormulaError,
    Group,
    Operated,
    SetOf,
    Sign,
    names_in,
    parse_formula,
)
from fabula.story.game_systems import GameSystem

ROLL_NAMES = frozenset({"stat", "skill", "bonus"})
EFFECT_NAMES = frozenset({"margin", "stat", "skill"})
MODIFIER_NAMES = frozenset({"value"})


_TEXTS = {
    name: files("fabula.rules").joinpath("builtin", f"{name}.toml").read_text("utf-8")
    for name in ("d20", "fate", "narrative", "pbta")
}


@cache
def builtin_systems() -> Mapping[str, GameSystem]:
    """The built-in systems by id."""
    return {name: GameSystem.model_validate(tomllib.loads(text)) for name, text in _TEXTS.items()}


def system_problems(system: GameSystem) -> list[str]:
    """What is wrong with a system, in sentences; empty when it can be played."""
    return [
        *_formula_problems(system),
        *_band_problems(system),
        *_reference_problems(system),
        *_name_problems(system),
        *_word_problems(system),
    ]


def _formula_problems(system: GameSystem) -> Iterator[str]:
    core = system.core
    for place, text in (("formula", core.formula), ("advantage", core.advantage), ("disadvantage", core.disadvantage)):
        if text is not None:
            yield from _problems_of(text, ROLL_NAMES, f"core.{place}")
    modifiers = {name: attribute.modifier for name, attribute in system.attributes.items()}
    modifiers |= {name: skill.modifier for name, skill in system.skills.items()}
    for name, text in modifiers.items():
        yield from _problems_of(text, MODIFIER_NAMES, f"the modifier of '{name}'", dice=False)
    for number, rule in enumerate(system.effects, 1):
        if rule.change is not None:
            yield from _problems_of(rule.change, EFFECT_NAMES, f"the change of effect {number}")


def _problems_of(text: str, names: frozenset[str], place: str, *, dice: bool = True) -> Iterator[str]:
    try:
        formula = parse_formula(text)
    except FormulaError as error:
        yield f"{place} is no formula: {error}"
        return
    unknown = sorted(names_in(formula) - names)
    if unknown:
        yield f"{place} names '{unknown[0]}', but knows only {', '.join(sorted(names))}"
    if not dice and has_dice(formula):
        yield f"{place} has dice, but what a stat adds is fixed"


def has_dice(formula: Formula) -> bool:
    """Whether anything is rolled for a formula."""
    match formula:
        case Dice():
            return True
        case Sign() | Group() | Operated():
            return has_dice(formula.value)
        case Binary():
            return has_dice(formula.left) or has_dice(formula.right)
        case SetOf():
            return any(map(has_dice, formula.values))
        case _:
            return False


def _band_problems(system: GameSystem) -> Iterator[str]:
    bands = system.core.bands
    if bands[-1].at_least is not None:
        yield "the last band has at_least, so that some outcomes have no level; leave it out there"
    if any(band.at_least is None for band in bands[:-1]):
        yield "only the last band may leave out at_least"
    bounds = [band.at_least for band in bands if band.at_least is not None]
    if bounds != sorted(bounds, reverse=True) or len(set(bounds)) != len(bounds):
        yield "bands stand in order, the highest at_least first"
    if len({band.level for band in bands}) != len(bands):
        yield "a level has two bands"


def _reference_problems(system: GameSystem) -> Iterator[str]:
    for name, skill in system.skills.items():
        if skill.attribute not in system.attributes:
            yield f"skill '{name}' goes with '{skill.attribute}', which is no attribute"
    for name, track in system.tracks.items():
        if not track.least <= track.start <= track.most:
            yield f"track '{name}' starts outside of its bounds"
        for threshold in track.thresholds:
            if threshold.condition not in system.conditions:
                yield f"a threshold of '{name}' names '{threshold.condition}', which is no condition"
    stats = {*system.attributes, *system.skills}
    for name, rule in system.conditions.items():
        for stat in rule.stats:
            if stat not in stats:
                yield f"condition '{name}' is about '{stat}', which is no attribute or skill"
    for number, effect in enumerate(system.effects, 1):
        if effect.track is not None and effect.track not in system.tracks:
            yield f"effect {number} changes '{effect.track}', which is no track"
        if (effect.track is None) != (effect.change is None):
            yield f"effect {number} needs both track and change, or neither"
        for condition in (effect.adds, effect.removes):
            if condition is not None and condition not in system.conditions:
                yield f"effect {number} names '{condition}', which is no condition"


def _name_problems(system: GameSystem) -> Iterator[str]:
    taken: dict[str, str] = {"conditions": "the list of conditions"}
    for noun, names in (("attribute", system.attributes), ("skill", system.skills), ("track", system.tracks)):
        for name in names:
            if name in taken:
                yield f"{noun} '{name}' has the name of {taken[name]}"
            taken[name] = f"{'an' if noun == 'attribute' else 'a'} {noun}"


def _word_problems(system: GameSystem) -> Iterator[str]:
    """Every line of a play is looked through for all words."""
    words = [*system.risky, *(word for one in system.attributes.values() for word in one.words)]
    words += [word for one in system.skills.values() for word in one.words]
    if (problem := terms_problem("the words of a game system", words)) is not None:
        yield problem.removesuffix(".")
