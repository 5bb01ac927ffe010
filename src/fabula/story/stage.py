"""Who and what stands on the stage of a play, as its player may know it: no goals, no plans, no thoughts."""

from __future__ import annotations

from typing import Literal

from fabula.story.values import Value


class SceneOnStage(Value):
    """The scene that is being played. `number` counts the different scenes on the way here, this one included."""

    node_id: str
    title: str
    number: int


class CastMember(Value):
    """Somebody of a play: a character of the story, a guest who came in during play, or the player."""

    id: str
    kind: Literal["character", "guest", "player"]
    name: str
    in_scene: bool
    has_cover: bool = False


class OnStage(Value):
    """The scene, and everybody who may appear in it; the player stands last."""

    scene: SceneOnStage
    cast: list[CastMember]
