"""The scene loop: one run per player turn."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fabula.loops.scene.graph import PlayScene


def is_loaded() -> bool:
    """Whether asking for the player takes no time."""
    # A module is listed while it is still being imported; its last name tells that it is whole.
    return hasattr(sys.modules.get("fabula.loops.scene.graph"), "PlayScene")


def scene_player() -> PlayScene:
    """What plays a scene. LangGraph takes a second to import, so it is loaded here, at the first call."""
    from fabula.loops.scene.graph import play_scene

    return play_scene
