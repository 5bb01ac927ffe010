"""Worlds: what several stories and campaigns share, with the policy by which changes of its canon are judged."""

from __future__ import annotations

from pydantic import Field

from fabula.story.canon import Policy
from fabula.story.values import Id, Value


class World(Value):
    """A world. `game_system_id` is what campaigns in it are played by unless they say otherwise."""

    world_id: Id
    display_name: str = Field(min_length=1, max_length=200)
    description: str = Field(default="", max_length=20_000)
    genre: str = Field(default="", max_length=200)
    tone: str = Field(default="", max_length=200)
    game_system_id: Id | None = None
    policy: Policy = Policy()
