"""Masks: how what a character presents wears thin, and when what it hides shows; decided purely, by stated odds.

In each turn in which its wearer is there, in this order:

1. *Rest*: a mask recovers a hundredth for each ten minutes of the story, up to how firmly it sat at first.
2. *Wear*: a tenth when the player's words touch what is hidden, three twentieths when they accuse its wearer of hiding
   something, a twentieth when its wearer is very upset, three twentieths when it lives through something again.
3. *Slip*: above three quarters nothing shows. Down to a half there may be a hint (1 in 10), down to a quarter a slip (1
   in 4), below it the mask may break (1 in 2). Who is touched or accused in that very turn slips twice as easily.
4. *Relief*: after a break one of the hidden traits is in the open and need not be hidden; the mask sits a quarter
   firmer.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from fabula.recall.touch import touched_by
from fabula.story.minds import Mask, SlipGrade, WornMask

REST_MINUTES: Final = 10
REST: Final = 0.01
TOUCHED: Final = 0.10
ACCUSED: Final = 0.15
UPSET: Final = 0.05
RELIVED: Final = 0.15
RELIEF: Final = 0.25
UPSET_AROUSAL: Final = 0.35
"""A mood as a whole that is so stirring, and unpleasant, is very upset."""
ODDS: Final[tuple[tuple[float, float, SlipGrade], ...]] = (
    (0.25, 0.5, "break"),
    (0.5, 0.25, "slip"),
    (0.75, 0.1, "hint"),
)
"""Below which integrity, how likely, and how far a mask slips."""
ACCUSING: Final = re.compile(
    r"\b(?:liar|lying|lied|you(?:'re| are) hiding|hiding (?:something|who)|what (?:are|do) you hid(?:e|ing)|pretend\w*"
    r"|who (?:are you|you are) really|who you really are|(?:i )?(?:don't|do not) believe (?:you|her|him|them)|admit it"
    r"|confess|your mask|tell me the truth|i know what you (?:did|are)|drop the act|lügner\w*|gib es zu)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True)
class Pressure:
    """What a turn does to a mask: the stems of the player's words, whether they accuse its wearer, and how it feels."""

    said: frozenset[str] = frozenset()
    accused: bool = False
    valence: float = 0.0
    arousal: float = 0.0
    relived: bool = False


@dataclass(frozen=True, kw_only=True)
class MaskTurn:
    """How a mask sits after a turn has pressed on it, whether it slips, and why, for whoever asks."""

    worn: WornMask
    slip: SlipGrade | None = None
    reasons: tuple[str, ...] = ()


def wear(mask: Mask, before: WornMask | None, pressure: Pressure, *, minute: int, draw: float) -> MaskTurn:
    """The mask in a turn; `draw` is a number from 0 to 1 by which it is decided whether it slips."""
    worn = before or WornMask(integrity=mask.integrity, minute=minute)
    rested = worn.integrity + REST * (max(0, minute - worn.minute) // REST_MINUTES)
    # Whoever was made firmer by hand than the author wrote does not lose that by resting.
    integrity = max(worn.integrity, min(mask.integrity, rested))
    reasons = _reasons(mask, pressure)
    integrity = round(max(0.0, integrity - sum(cost for _, cost in reasons)), 3)
    pressed = any(why in ("touched", "accused") for why, _ in reasons)
    slip = slip_at(integrity, pressed=pressed, draw=draw)
    shown = worn.shown
    if slip == "break":
        shown, integrity = min(shown + 1, len(mask.hidden)), round(min(1.0, integrity + RELIEF), 3)
    # What is left of a part of ten minutes counts for the next turn.
    rest_left = max(0, minute - worn.minute) % REST_MINUTES
    after = WornMask(integrity=integrity, shown=shown, minute=minute - rest_left)
    return MaskTurn(worn=after, slip=slip, reasons=tuple(why for why, _ in reasons))


def slip_at(integrity: float, *, pressed: bool, draw: float) -> SlipGrade | None:
    """Whether, and how far, a mask of this integrity slips."""
    for below, odds, grade in ODDS:
        if integrity < below:
            return grade if draw < odds * (2 if pressed else 1) else None
    return None


def _reasons(mask: Mask, pressure: Pressure) -> list[tuple[str, float]]:
    upset = pressure.valence < 0 and pressure.arousal >= UPSET_AROUSAL
    found = [
        ("touched", TOUCHED, touched_by(pressure.said, [*mask.touches, *mask.hidden]) is not None),
        ("accused", ACCUSED, pressure.accused),
        ("upset", UPSET, upset),
        ("relived", RELIVED, pressure.relived),
    ]
    return [(why, cost) for why, cost, applies in found if applies]
