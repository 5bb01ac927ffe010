"""A wish for the telling of a turn that nobody can follow: the player is told so, out of character."""

from __future__ import annotations

from typing import Final

from fabula.loops.scene.scene_run import SceneRun
from fabula.story.events import WishLeft
from fabula.story.resources import AgentRole
from fabula.understudy.wishes import reading_of

WISH_LEFT: Final = (
    "Out of character: no model tells this story, so only a wish for a shorter, longer, plainer or different telling"
    " can be followed."
)
_TELLERS: Final[tuple[AgentRole, ...]] = ("director", "narrator", "actor")


def tell_wish_left(run: SceneRun) -> None:
    """Tells that a wish is not followed, where every role that tells the turn is played by rule, and no rule fits it.

    It is an event and no line: what stands in the transcript is remembered by the cast, and summed up.
    """
    if run.turn.wish and reading_of(run.turn.wish) is None and _is_told_by_rule(run):
        run.stage.tell(WishLeft(sentence=WISH_LEFT))


def _is_told_by_rule(run: SceneRun) -> bool:
    tellers = _TELLERS[:1] if run.setup.swift else _TELLERS
    return all(run.setup.is_by_rule(role) for role in tellers)
