"""Game systems as data: what a character is made of in numbers, how a check is rolled, and what its outcome does."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from fabula.story.values import Id, Value

NO_RULES = "none"
"""What is named instead of a system where a story or a play has none."""

Level = Literal["critical_success", "success", "partial", "failure", "critical_failure"]
"""How well a check went, best first."""
LEVELS: tuple[Level, ...] = ("critical_success", "success", "partial", "failure", "critical_failure")

StatName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,39}$")]
"""The name of a stat: the variable of a character's state that holds it, and its name in formulas."""
FormulaText = Annotated[str, StringConstraints(max_length=200)]
Word = Annotated[str, StringConstraints(min_length=1, max_length=60, strip_whitespace=True)]
Label = Annotated[str, StringConstraints(min_length=1, max_length=120, strip_whitespace=True)]


class Attribute(Value):
    """A number that describes a character. `modifier` is what it adds to a roll, from its `value`."""

    display_name: Label
    default: int = 0
    least: int = -1000
    most: int = 1000
    modifier: FormulaText = "value"
    words: list[Word] = Field(default=[], max_length=100)


class Skill(Value):
    """What a character has learned: its rank is a number beside the attribute that it goes with.

    `words` are verbs and things by which a player's line is about it.
    """

    display_name: Label
    attribute: StatName
    default: int = 0
    modifier: FormulaText = "value"
    words: list[Word] = Field(default=[], max_length=100)


class Threshold(Value):
    """What a track does when it falls to a number or rises to it: a condition comes, or goes."""

    at: int
    falling: bool = True
    condition: StatName
    removes: bool = False


class Track(Value):
    """A resource that is spent and regained: hit points, stress, harm."""

    display_name: Label
    start: int = 0
    least: int = 0
    most: int = 1000
    thresholds: list[Threshold] = Field(default=[], max_length=20)


class ConditionRule(Value):
    """A state of body or mind: what it adds to checks (of some stats, or of all), and whether nothing can be done."""

    display_name: Label
    modifier: int = 0
    stats: list[StatName] = Field(default=[], max_length=40)
    prevents: bool = False


class Band(Value):
    """A level, and the least measure (margin, total or count) with which it is reached; None is for all below."""

    level: Level
    at_least: int | None = None


class Natural(Value):
    """A face that decides by itself, whatever the sum: on a kept die of this size."""

    size: int
    face: int
    level: Level


class CoreMechanic(Value):
    """How a check is rolled.

    The formulas know `stat`, `skill` and `bonus`: the modifiers of attribute and skill, and the sum of all others.
    `measure` is what the bands are read with: the total less the target, the total itself, or how many kept dice show
    the target or more. With `needs_target` a check without one takes `default_target`.
    """

    formula: FormulaText
    advantage: FormulaText | None = None
    disadvantage: FormulaText | None = None
    measure: Literal["margin", "total", "count"] = "margin"
    default_target: int = 0
    bands: list[Band] = Field(min_length=1, max_length=5)
    naturals: list[Natural] = Field(default=[], max_length=10)


class EffectRule(Value):
    """What an outcome does: to who acts or to who stands against it, when the check is of one of these `acts`.

    `change` is a formula that is added to a track; it knows `margin`, `stat` and `skill`. `adds` and `removes` are
    conditions. A `lasting` effect is proposed as canon, too.
    """

    levels: list[Level] = Field(min_length=1, max_length=5)
    acts: list[Word] = Field(default=[], max_length=40)
    on: Literal["actor", "opponent"] = "actor"
    track: StatName | None = None
    change: FormulaText | None = None
    adds: StatName | None = None
    removes: StatName | None = None
    lasting: bool = False


class GameSystem(Value):
    """A whole system. `difficulties` name targets; `risky` are words that make a deed risky in this system."""

    system_id: Id
    display_name: Label
    description: str = Field(default="", max_length=4000)
    core: CoreMechanic
    attributes: dict[StatName, Attribute] = Field(default={}, max_length=40)
    skills: dict[StatName, Skill] = Field(default={}, max_length=100)
    tracks: dict[StatName, Track] = Field(default={}, max_length=40)
    conditions: dict[StatName, ConditionRule] = Field(default={}, max_length=60)
    difficulties: dict[Word, int] = Field(default={}, max_length=20)
    effects: list[EffectRule] = Field(default=[], max_length=60)
    risky: list[Word] = Field(default=[], max_length=200)
