"""Worlds: what several stories and campaigns share, with the policy by which changes of its canon are judged."""

from __future__ import annotations

from pydantic import Field

from fabula.story.canon import Policy
from fabula.story.values import Id, Value

LONGEST_WORLD_NAME = 200
LONGEST_WORLD_TEXT = 20_000


def private_world_id(story_id: str) -> str:
    """The id of the world of a story that belongs to none."""
    return f"private.{story_id}"[:128]


class World(Value):
    """A world. `game_system_id` is what campaigns in it are played by unless they say otherwise.

    `story_id` is there in a private world: it was made for the plays of that one story.
    """

    world_id: Id
    display_name: str = Field(min_length=1, max_length=LONGEST_WORLD_NAME)
    description: str = Field(default="", max_length=LONGEST_WORLD_TEXT)
    genre: str = Field(default="", max_length=LONGEST_WORLD_NAME)
    tone: str = Field(default="", max_length=LONGEST_WORLD_NAME)
    game_system_id: Id | None = None
    policy: Policy = Policy()
    story_id: Id | None = None
