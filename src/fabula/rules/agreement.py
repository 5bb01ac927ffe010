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


_SENTENCE_END: Final = re.compile(r"[.!?…][\"'”’)]*(?=\s)")
_LONGEST_SENTENCE: Final = 600


class AgreeingStream:
    """Passes a telling on sentence by sentence, as long as none claims the opposite of what the dice decided.

    At the first that does it stops, and is `denied`: that sentence and all after it are left out. After `resume` it
    passes on what comes then, leaves out only such sentences, and counts them in `left_out`.
    """

    def __init__(self, resolution: Resolution) -> None:
        self._resolution = resolution
        self._waiting = ""
        self._resumed = False
        self.denied = False
        self.left_out = 0

    def take(self, text: str) -> str:
        """What may be told now that this piece has come: whole sentences."""
        if self.denied:
            return ""
        self._waiting += text
        passed = ""
        while (end := _SENTENCE_END.search(self._waiting)) is not None and not self.denied:
            passed += self._pass(self._waiting[: end.end()])
            self._waiting = self._waiting[end.end() :]
        # A sentence without end must not be held back for ever: what begins with no claim is let go.
        if len(self._waiting) > _LONGEST_SENTENCE and not self.denied:
            passed, self._waiting = passed + self._pass(self._waiting), ""
        return passed

    def close(self) -> str:
        """What may be told at the end of the text."""
        rest, self._waiting = self._waiting, ""
        return "" if self.denied or not rest else self._pass(rest)

    def resume(self) -> None:
        """Another telling follows, which goes on where this one stopped."""
        self.denied, self._resumed, self._waiting = False, True, ""

    @property
    def correction_due(self) -> bool:
        """Whether a sentence has to set things right: the second telling claimed the opposite, too."""
        return self._resumed and self.left_out > 1

    @property
    def correction(self) -> str:
        """That sentence."""
        return "But no: it does not succeed." if not self._resolution.succeeded else "And yet it succeeds."

    def _pass(self, sentence: str) -> str:
        if correction(self._resolution, sentence) is None:
            return sentence
        self.left_out += 1
        self.denied = not self._resumed
        return ""


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
    others = "".join(f", {names.get(one.who, one.who)} {one.roll.total}" for one in resolution.group)
    together = "together " if resolution.group else ""
    return f"{stat}: {resolution.roll.total}{others}{against}, {together}{level}.{pushback}{effects}"


def _whose(resolution: Resolution, names: dict[str, str]) -> str:
    opponent = resolution.check.opponent
    return "" if opponent is None or resolution.opposed is None else f"{names.get(opponent, opponent)}'s "
