"""Scenes that have ended, each kept with the turn that ended it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Protocol

from fabula.story.scenes import SceneRecord

MOST_SCENES: Final = 2000
"""So many scenes of a tree of turns are looked through for those of one line."""


@dataclass(frozen=True, kw_only=True)
class EndedScene:
    """A scene, the turn that ended it, and how deep that is in its tree."""

    record: SceneRecord
    turn_id: str
    depth: int


class Scenes(Protocol):
    """Law:

    - `at` answers the scenes that ended on the line which ends at a turn, the newest first, and no others; with
      `above` only those that ended above that depth. A scene of another branch is never among them.
    - They are kept with the turn that ends them, and go with the last play of their tree.
    """

    async def at(self, turn_id: str, *, above: int | None = None, limit: int = 100) -> list[EndedScene]: ...
