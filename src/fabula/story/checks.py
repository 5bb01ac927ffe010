"""Checks and what came of them: a deed whose outcome the dice decide, and the decision with all its parts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from pydantic import Field

from fabula.story.game_systems import Level
from fabula.story.values import Id, Value

PLAYER = "player"
"""Who acts, when it is the player."""

Edge = Literal["none", "advantage", "disadvantage"]


class Modifier(Value):
    """What is added to a roll, and where it comes from."""

    source: str = Field(max_length=120)
    value: int


class Check(Value):
    """A deed that needs the dice. `actor` and `opponent` are the player or characters by id.

    `act` is the kind of deed, `because` the rule that asked for the check, in words. `declared` says that the player
    told the outcome along with the deed. `group` are those who do it with the actor, each with a roll of their own.
    """

    check_id: Id
    actor: str = PLAYER
    act: str = Field(max_length=60)
    deed: str = Field(max_length=400)
    stat: str | None = None
    skill: str | None = None
    target: int | None = None
    opponent: str | None = None
    edge: Edge = "none"
    modifiers: list[Modifier] = Field(default=[], max_length=20)
    forced: Level | None = None
    because: str = Field(default="", max_length=400)
    declared: bool = False
    group: list[Id] = Field(default=[], max_length=12)


Circumstance = Literal[
    "helped", "well_prepared", "by_surprise", "higher_ground", "hurried", "in_the_dark", "outnumbered", "poor_tools"
]
CIRCUMSTANCES: Final[Mapping[Circumstance, int]] = {
    "helped": 1,
    "well_prepared": 1,
    "by_surprise": 1,
    "higher_ground": 1,
    "hurried": -1,
    "in_the_dark": -1,
    "outnumbered": -1,
    "poor_tools": -1,
}
"""What may be said for (1) or against (-1) who acts."""
MOST_CIRCUMSTANCES: Final = 3


class CheckProposal(Value):
    """What a model would have the dice of a deed held against. It is checked; the rules stand where it is not on offer.

    `stat` is a skill or an attribute of the system, `difficulty` one that the system names.
    """

    stat: str | None = Field(default=None, max_length=40)
    difficulty: str | None = Field(default=None, max_length=60)
    circumstances: list[Circumstance] = Field(default=[], max_length=MOST_CIRCUMSTANCES)


class ShownDie(Value):
    """One die: its size (`%` and `F` as they are written), what it showed, and whether it counts."""

    size: int | Literal["%", "F"]
    shown: list[int]
    kept: bool


class RollView(Value):
    """A roll as it is shown: `raw` are all dice as they lie, `kept` those that count."""

    formula: str
    dice: list[ShownDie] = []
    raw: list[int] = []
    kept: list[int] = []
    total: int
    critical: bool = False
    fumble: bool = False


class Effect(Value):
    """What an outcome changed: a track from `before` to `after`, or a condition that came or went."""

    who: str
    kind: Literal["track", "condition_added", "condition_removed"]
    name: str
    before: int | None = None
    after: int | None = None
    lasting: bool = False
    sentence: str


class GroupRoll(Value):
    """What one of a group rolled, and how that went by itself."""

    who: str
    roll: RollView
    level: Level


class Resolution(Value):
    """What came of a check. `opposed` is the roll of who stood against it.

    In a group `roll` and `margin` are those of who acted, `group` those of the others, and `level` what they achieved
    together: what at least half of them reached.
    """

    check: Check
    roll: RollView
    opposed: RollView | None = None
    target: int | None = None
    margin: int
    level: Level
    effects: list[Effect] = []
    group: list[GroupRoll] = []

    @property
    def succeeded(self) -> bool:
        """Whether the deed was done, at whatever price."""
        return self.level in ("critical_success", "success", "partial")
