"""The world-building loop: an author talks about a world, and what they say becomes true in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fabula.loops.building.graph import BuildWorld


def world_builder() -> BuildWorld:
    """What takes a turn of building. LangGraph takes a second to import, so it is loaded here."""
    from fabula.loops.building.graph import build_world

    return build_world
