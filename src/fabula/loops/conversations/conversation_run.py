"""The run of one turn of a conversation: that of a scene in which nobody is but those who talk."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from fabula.loops.scene.scene_run import SceneRun
from fabula.loops.turns.turn_recorder import TurnRecorder
from fabula.story.conversations import Conversation
from fabula.story.plays import PlayState


@dataclass(frozen=True, kw_only=True)
class Noting:
    """Where the steps of a run are noted that tells nobody anything."""

    recorder: TurnRecorder


@dataclass(frozen=True, kw_only=True)
class ConversationRun:
    """`scene` is the turn to be played, if the player has said something; `close` ends the conversation instead.

    `stage` is where steps are noted; `there` is who is in the scene in which the conversation stands.
    """

    conversation: Conversation
    stage: Noting
    scene: SceneRun | None = None
    there: tuple[str, ...] = ()
    close: Callable[[], Awaitable[None]] | None = None

    @property
    def turn(self) -> SceneRun:
        assert self.scene is not None, "a turn is played"
        return self.scene


def apart(state: PlayState, conversation: Conversation) -> PlayState:
    """The state as those in a conversation see it: nobody else is there."""
    return state.with_world(state.world.model_copy(update={"active_characters": list(conversation.character_ids)}))
