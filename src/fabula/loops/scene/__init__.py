"""The scene loop: one run per player turn."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fabula.loops.scene.graph import PlayScene


def is_loaded() -> bool:
    """Whether asking for the player takes no time."""
    return "fabula.loops.scene.graph" in sys.modules


def scene_player() -> PlayScene:
    """What plays a scene. LangGraph takes a second to import, so it is loaded here, at the first call."""
    from fabula.loops.scene.graph import play_scene

    return play_scene
