"""Scene lore: what a place is like for who comes there. Features, customs, gossip, tension, and who may go where.

What can be said of a place is prepared by rule from what is written and true (`PlaceLore`). When a scene begins, a few
pieces of it are chosen for this scene, and stay with its mark in the state of the play: so prompts tell them with the
same words for as long as the scene is told of, and going back finds them as they were. How both is decided stands in
`fabula.rules.scene_lore`.
"""

from __future__ import annotations

from typing import Final, Literal

from pydantic import Field

from fabula.story.canon import KnownTo, Moment
from fabula.story.values import Id, Sparse, Value

SceneLoreKind = Literal["feature", "custom", "gossip", "tension", "access"]
SourceKind = Literal["lore", "canon", "event", "conflict", "relation", "quest"]
LONGEST_PIECE: Final = 240
"""Longer texts are no pieces: an aside is short, and the state keeps it."""

SOURCES: Final[dict[SourceKind, str]] = {
    "lore": "a lore entry that everybody may know now says it",
    "canon": "it is true in the world, and nobody is named as the only one to know it",
    "event": "it came to pass elsewhere, where everybody could notice it, and word had the time to get here",
    "conflict": "a conflict is felt here: one of those in it is there, or it names the place",
    "relation": "two who are there stand like that to each other",
    "quest": "the journal says that it is done",
}


class PieceSource(Value):
    """What a piece was made of: an entry of a lorebook, a change of canon, a clock or conflict, a quest; by its id."""

    kind: SourceKind
    id: str = Field(max_length=200)


class ScenePiece(Sparse):
    """One thing to be said of a scene. `known_to` are the only ones who know it, by id; nobody named means everybody.
    `teller` is who of those there would say it, where it is gossip."""

    optional = frozenset({"known_to", "teller"})
    kind: SceneLoreKind
    text: str = Field(max_length=LONGEST_PIECE)
    source: PieceSource
    known_to: KnownTo = []
    teller: Id | None = None


class PlacePiece(Sparse):
    """Something that may be said of a place, or at it. `about` are those whom it is about, by id: nobody gossips about
    who stands there. It holds from `since` on and before `until`, in minutes of story time."""

    optional = frozenset({"about", "since", "until"})
    kind: SceneLoreKind
    text: str = Field(max_length=LONGEST_PIECE)
    source: PieceSource
    about: list[Id] = []
    since: Moment | None = None
    until: Moment | None = None


class PlaceLore(Value):
    """All that may be said at a place, as far as it does not depend on who comes there, and when."""

    place: Id
    pieces: list[PlacePiece] = []
