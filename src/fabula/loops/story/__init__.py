"""The story loop: from scene to scene of a free play, over days or months."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fabula.loops.story.graph import GoOn


def story_loop() -> GoOn:
    """What leads a play on. LangGraph takes a second to import, so it is loaded here, at the first call."""
    from fabula.loops.story.graph import go_on

    return go_on
