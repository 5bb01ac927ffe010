"""Guardrails: the named checks that every word passes, a player's before it is played and a model's before it is told.

1. Input: `INPUT_CHECKS` look at what a player says. What they refuse is not played.
2. Output: `OUTPUT_CHECKS` look at every sentence that is about to be told, whoever wrote it. What they refuse is asked
   for once more; what they refuse then is cut, and a mark stands in its place. What they cut is cut at once.

Here they are decided. `loops/guardrails` has every road on which words travel pass them, and refuses where a check
itself fails. To add a check, write a function from what is seen to an outcome, and put it into its list with a name.
What it needs to know beyond that belongs into `WordsSeen`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from fabula.language.terms import Terms
from fabula.story.boundaries import Limits


@dataclass(frozen=True, kw_only=True)
class WordsSeen:
    """What a check looks at: the words, the boundaries that count, phrases that directives forbid, and what a character
    hides of itself. `behind_veil` says that the sentences before have looked behind a veil already, `is_thought` that
    the words are only thought."""

    words: str
    limits: Limits | None = None
    forbidden: Terms | None = None
    hidden: Terms | None = None
    behind_veil: bool = False
    is_thought: bool = False


@dataclass(frozen=True, kw_only=True)
class Pass:
    """Nothing stands against it."""


@dataclass(frozen=True, kw_only=True)
class Objection:
    """What stands against it: the check, what it goes by, and why, in a sentence."""

    check: str
    rule: str
    sentence: str


@dataclass(frozen=True, kw_only=True)
class Cut(Objection):
    """The words are left out; `mark` stands in their place."""

    mark: str


@dataclass(frozen=True, kw_only=True)
class Refuse(Objection):
    """The words are not taken as they are: a player says something else, a model is asked again."""


Outcome = Pass | Cut | Refuse
PASS: Final = Pass()

LINE_MARK: Final = "[Left out: it would cross a line of this table.]"
VEIL_MARK: Final = "[The story looks away.]"
PROHIBITED_MARK: Final = "[Left out: it is not to be told here.]"
FAILED_MARK: Final = "[Left out: it could not be checked.]"


@dataclass(frozen=True, kw_only=True)
class GuardrailCheck:
    """A check by its name."""

    name: str
    judge: Callable[[WordsSeen], Outcome]


def _words_cross_no_line(seen: WordsSeen) -> Outcome:
    line = None if seen.limits is None else seen.limits.line_in(seen.words)
    if line is None:
        return PASS
    sentence = f"This table does not want '{line}' in its story. Nothing was played: say it another way."
    return Refuse(check="lines", rule=line, sentence=sentence)


def _sentence_crosses_no_line(seen: WordsSeen) -> Outcome:
    line = None if seen.limits is None else seen.limits.line_in(seen.words)
    if line is None:
        return PASS
    return Refuse(check="lines", rule=line, sentence=f"The telling crosses the line '{line}'.")


def _veil_is_not_lifted(seen: WordsSeen) -> Outcome:
    """One sentence may name what is veiled; the second in a row shows it."""
    veil = None if seen.limits is None or not seen.behind_veil else seen.limits.veil_in(seen.words)
    if veil is None:
        return PASS
    return Cut(check="veils", rule=veil, sentence=f"The telling shows what is veiled: '{veil}'.", mark=VEIL_MARK)


def _nothing_forbidden_is_told(seen: WordsSeen) -> Outcome:
    phrase = None if seen.forbidden is None else seen.forbidden.find(seen.words)
    if phrase is None:
        return PASS
    return Refuse(check="prohibitions", rule=phrase, sentence=f"A directive forbids to tell '{phrase}'.")


def _nothing_hidden_is_said(seen: WordsSeen) -> Outcome:
    """A character may think what it hides. The objection does not name it: others read it."""
    if seen.hidden is None or seen.is_thought or seen.hidden.find(seen.words) is None:
        return PASS
    return Refuse(check="hidden_traits", rule="a hidden trait", sentence="A character names a trait that it hides.")


INPUT_CHECKS: Final[tuple[GuardrailCheck, ...]] = (GuardrailCheck(name="lines", judge=_words_cross_no_line),)
OUTPUT_CHECKS: Final[tuple[GuardrailCheck, ...]] = (
    GuardrailCheck(name="lines", judge=_sentence_crosses_no_line),
    GuardrailCheck(name="veils", judge=_veil_is_not_lifted),
    GuardrailCheck(name="prohibitions", judge=_nothing_forbidden_is_told),
    GuardrailCheck(name="hidden_traits", judge=_nothing_hidden_is_said),
)


CHECK_FAILED: Final = "check_failed"
"""The rule of a refusal that was made because a check failed itself."""


def failed_check(name: str) -> Refuse:
    """What is answered for a check that failed itself."""
    return Refuse(check=name, rule=CHECK_FAILED, sentence=f"The check '{name}' failed.")


def mark_of(objection: Objection) -> str:
    """What stands in the place of words that were left out."""
    if isinstance(objection, Cut):
        return objection.mark
    if objection.rule == CHECK_FAILED:
        return FAILED_MARK
    return LINE_MARK if objection.check == "lines" else PROHIBITED_MARK
