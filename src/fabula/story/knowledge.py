"""Who may know a piece of a story, and when it may be told; pure.

Lore entries, facts of characters and notes of scenes are such pieces. Each may say two things:

- `known_by`: everyone (also when it says nothing), some characters by id, or nobody until a condition holds. What no
  character is named for (an empty list) none of them knows, and the narrator may tell: it is there to be found.
- `secret`: it is held back from the player until its condition holds. Only who is named knows it before; a secret
  that names nobody is known to nobody. The character of which a fact is told always knows it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeVar

from pydantic import Field

from fabula.story.conditions import Comparison, Condition, holds, tests_of
from fabula.story.state import WorldState
from fabula.story.values import Id, Sparse

EVERYONE: Literal["everyone"] = "everyone"


class Until(Sparse):
    """Nobody until the condition holds; then those who are named, or everyone."""

    optional = frozenset({"then"})
    until: Condition
    then: list[Id] | None = Field(default=None, max_length=200)


KnownBy = Literal["everyone"] | list[Id] | Until
"""Who knows a piece. `None` in its place means everyone, too."""


class Piece(Sparse):
    """Something that may be known."""

    optional: ClassVar[frozenset[str]] = frozenset({"known_by", "secret"})
    known_by: KnownBy | None = None
    secret: bool = False


class Fact(Piece):
    """Something that is true of a character. The character knows it, whoever else does."""

    text: str


class SceneNote(Piece):
    """Something about a scene that its description does not tell."""

    text: str


P = TypeVar("P", bound=Piece)


@dataclass(frozen=True, kw_only=True)
class Reader:
    """For whom pieces are chosen: one character, with `tells` whoever tells the scene to the player, or the player."""

    ids: frozenset[str]
    tells: bool

    @staticmethod
    def character(id: str) -> Reader:
        return Reader(ids=frozenset([id]), tells=False)

    @staticmethod
    def scene(cast: Iterable[str]) -> Reader:
        """Knows what somebody in the scene knows and may tell."""
        return Reader(ids=frozenset(cast), tells=True)

    @staticmethod
    def player() -> Reader:
        """Knows what everyone knows by now."""
        return Reader(ids=frozenset(), tells=False)

    def may_read(self, piece: Piece, state: WorldState, *, owner: str | None = None) -> bool:
        """Whether a piece may be in the reader's prompt."""
        if is_open(piece):
            return True
        if not self.ids and not self.tells:
            return is_revealed(piece, state) and known_to(piece) is None
        known = owner in self.ids or self._has_somebody_who_knows(piece, state)
        if not self.tells:
            return known
        return is_revealed(piece, state) and (known or not known_to(piece))

    def _has_somebody_who_knows(self, piece: Piece, state: WorldState) -> bool:
        # The condition is asked once, and not for each of those in the scene.
        if isinstance(piece.known_by, Until):
            named = piece.known_by.then
            somebody = bool(self.ids) if named is None else not self.ids.isdisjoint(named)
            return somebody and holds(piece.known_by.until, state)
        return any(may_know(piece, id, state) for id in self.ids)


def is_open(piece: Piece) -> bool:
    """Whether everyone may always know a piece, and tell it."""
    return piece.known_by in (None, EVERYONE) and not piece.secret


def may_know(piece: Piece, character: str, state: WorldState) -> bool:
    """Whether a character knows a piece that is not a fact of its own."""
    match piece.known_by:
        case None | "everyone":
            return not piece.secret
        case Until(until=condition, then=named):
            return holds(condition, state) and (named is None or character in named)
        case list() as named:
            return character in named


def is_revealed(piece: Piece, state: WorldState) -> bool:
    """Whether those who know a piece may tell it to the player."""
    if isinstance(piece.known_by, Until):
        return holds(piece.known_by.until, state)
    return not piece.secret


def known_to(piece: Piece) -> list[str] | None:
    """Who is named as knowing a piece, by id; None when everyone knows it, now or once its condition holds."""
    match piece.known_by:
        case None | "everyone":
            return None
        case Until(then=named):
            return named
        case list() as named:
            return named


def told_pieces(pieces: Collection[P], reader: Reader, state: WorldState, *, owner: str | None = None) -> list[P]:
    """Those pieces that the reader may be told; a secret whose condition holds is none any more."""
    return [open_if_revealed(piece, state) for piece in pieces if reader.may_read(piece, state, owner=owner)]


def open_if_revealed(piece: P, state: WorldState) -> P:
    return piece.model_copy(update={"secret": False}) if piece.secret and is_revealed(piece, state) else piece


def was_revealed(piece: Piece) -> bool:
    """Whether a piece that may be told could not be told before; asked of one that is `open_if_revealed`."""
    return isinstance(piece.known_by, Until) and not piece.secret


def waited_for(piece: Piece) -> list[Comparison]:
    """The comparisons that a piece waits for."""
    return list(tests_of(piece.known_by.until)) if isinstance(piece.known_by, Until) else []


def is_held(piece: Piece) -> bool:
    """Whether there may be a time at which a piece must not be told to the player."""
    return piece.secret or isinstance(piece.known_by, Until)


def piece_problems(pieces: Iterable[Piece], where: str) -> Iterator[str]:
    """What is wrong with the conditions of pieces, in sentences."""
    for piece in pieces:
        if isinstance(piece.known_by, Until):
            for test in tests_of(piece.known_by.until):
                if test.scope == "character" and test.character is None:
                    yield f"known_by of {where} has scope character but names none"
