"""Whether a telling agrees with the dice: only explicit claims count, and a plain sentence sets them right."""

from __future__ import annotations

import re
from typing import Final

from fabula.story.checks import Resolution

_SUCCESS: Final = re.compile(
    r"\b(?:you (?:\w+ly )?(?:succeed|manage (?:to|it)|make it|pull it off|win|prevail|hit|land the blow)"
    r"|your (?:blow|strike|shot|attempt|plan) (?:lands|hits|strikes home|succeeds|works)|it works)\b",
    re.IGNORECASE,
)
_FAILURE: Final = re.compile(
    r"\b(?:you (?:\w+ly )?(?:fail|miss|do not manage|don't manage|do not succeed|cannot manage)"
    r"|you lose your (?:grip|footing)|it does not work|to no avail"
    r"|your (?:blow|strike|shot|attempt|plan) (?:misses|fails|goes wide|comes to nothing))\b",
    re.IGNORECASE,
)


PUSHBACK: Final = "Saying so does not make it so."


def correction(resolution: Resolution, told: str) -> str | None:
    """The sentence that sets a telling right which claims the opposite of what the dice decided; None if none does."""
    claims_success, claims_failure = _SUCCESS.search(told) is not None, _FAILURE.search(told) is not None
    if claims_success == claims_failure:
        return None
    match resolution.level:
        case "failure" | "critical_failure":
            return "But no: it does not succeed." if claims_success else None
        case "success" | "critical_success":
            return "And yet it succeeds." if claims_failure else None
        case "partial":
            return None


def roll_sentence(resolution: Resolution, *, stat: str, names: dict[str, str]) -> str:
    """The roll in one line, as the transcript has it: `Athletics: 14 against 12, success.`"""
    level = resolution.level.replace("_", " ")
    if resolution.check.forced is not None:
        return f"{stat}: {level}, without a roll ({resolution.check.because})."
    against = "" if resolution.target is None else f" against {_whose(resolution, names)}{resolution.target}"
    effects = "".join(f" {effect.sentence}" for effect in resolution.effects)
    # Who declares an outcome is told so where the roll is told, by whomever the rest is told.
    pushback = f" {PUSHBACK}" if resolution.check.declared else ""
    return f"{stat}: {resolution.roll.total}{against}, {level}.{pushback}{effects}"


def _whose(resolution: Resolution, names: dict[str, str]) -> str:
    opponent = resolution.check.opponent
    return "" if opponent is None or resolution.opposed is None else f"{names.get(opponent, opponent)}'s "
