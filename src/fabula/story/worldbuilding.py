"""Building a world in conversation: what the architect is told, and what came of a turn."""

from __future__ import annotations

from typing import Final, Literal

from pydantic import Field

from fabula.story.canon import Content
from fabula.story.values import Id, Value

Aspect = Literal["places", "people", "factions", "things", "ties", "laws", "past"]
ASPECTS: Final[tuple[Aspect, ...]] = ("places", "people", "factions", "ties", "laws", "past", "things")
LONGEST_SAID: Final = 8_000


class Coverage(Value):
    """`counts` is how much there is of each aspect, `gaps` are those with too little, the emptiest first; `bare` are
    names of whom nothing but the name is known."""

    counts: dict[Aspect, int]
    gaps: list[Aspect]
    bare: list[str]


class WorldContext(Value):
    """What the architect is told: the world as it stands, what was asked lately, and what the author has just said.

    `a_place`, `a_person` and `a_faction` are names to ask about.
    """

    world_id: Id
    name: str
    description: str = ""
    known: list[str] = []
    coverage: Coverage
    asked: list[str] = []
    said_so_far: int = 0
    a_place: str = ""
    a_person: str = ""
    a_faction: str = ""
    text: str = ""


class TakenDown(Value):
    """Something that an author said, before it is canon: the change it will be, and the sentence that says it."""

    change_id: Id
    content: Content
    quote: str = Field(max_length=1000)


class BuildingTurn(Value):
    """What the architect made of the author's words."""

    taken: list[TakenDown] = Field(default=[], max_length=40)
    reply: str = Field(default="", max_length=4000)
