"""Session zero: what those at the table agree upon before a story begins, and may change while it goes on.

Three questions, answered in plain words. The third one sets boundaries: session zero is one way to set them, and they
are kept nowhere else (`story/boundaries`).
"""

from __future__ import annotations

import re
from typing import Final, Literal

from pydantic import Field

from fabula.story.boundaries import MOST_NAMED, Boundaries, Named

Question = Literal["premise", "themes", "boundaries"]
QUESTIONS: Final[dict[Question, str]] = {
    "premise": "What is this story about, in a sentence or two?",
    "themes": "Which themes and tones should it have? (A few words: hope, betrayal, dry humour.)",
    "boundaries": "What must not happen in it, and what may happen but not be shown? "
    "(No harm to children. Fade to black at torture.)",
}
LONGEST_PREMISE: Final = 1_000
LONGEST_ANSWER: Final = 2_000

_PARTS: Final = re.compile(r"[.;\n]|,(?! and\b)")
_VEIL: Final = re.compile(
    r"\b(?:fade|off[- ]?screen|veil\w*|not (?:be )?shown?|behind a curtain|only hinted|hint at)\b", re.IGNORECASE
)
_LEAD: Final = re.compile(
    r"^(?:and |but |please |also )?(?:(?:no|never|nothing about|avoid|without|not) (?:any )?"
    r"|(?:fade to black|fade|veils?|off[- ]?screen)(?: (?:at|for|over|on|when|during))?:? ?|lines?: )",
    re.IGNORECASE,
)
_TAIL: Final = re.compile(
    r"(?: (?:should|must|may|shall|can|will|is|are|be))*(?: not| never| only)?(?: be)?"
    r" (?:shown|off[- ]?screen|veiled|hinted at|happen|faded?(?: to black| out)?)$",
    re.IGNORECASE,
)


class SessionZero(Boundaries):
    """What was agreed upon, with the boundaries. Empty fields mean that nothing was said about them."""

    premise: str = Field(default="", max_length=LONGEST_PREMISE)
    themes: list[Named] = Field(default=[], max_length=MOST_NAMED)

    @property
    def is_empty(self) -> bool:
        return not (self.premise or self.themes or self.has_limits or self.categories)

    @property
    def boundaries(self) -> Boundaries:
        """The boundaries alone."""
        return Boundaries(lines=self.lines, veils=self.veils, rating=self.rating, categories=self.categories)


def themes_in(text: str) -> list[str]:
    """The themes that an answer names."""
    parts = re.split(r"[,;.\n]| and ", text[:LONGEST_ANSWER])
    return _named(parts)


def boundaries_in(text: str) -> tuple[list[str], list[str]]:
    """The lines and the veils that an answer names. What is neither said to fade nor to be hidden is a line."""
    lines: list[str] = []
    veils: list[str] = []
    for part in _PARTS.split(text[:LONGEST_ANSWER]):
        plain = " ".join(part.split())
        (veils if _VEIL.search(plain) else lines).append(_TAIL.sub("", _LEAD.sub("", plain)))
    return _named(lines), _named(veils)


def _named(parts: list[str]) -> list[str]:
    plain = [" ".join(part.split()).strip(" .!") for part in parts]
    return list(dict.fromkeys(part[:200] for part in plain if len(part) > 1))[:MOST_NAMED]
