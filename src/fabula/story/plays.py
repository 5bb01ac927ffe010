"""The state of a play after a turn: the snapshot that clients see, and what the engine keeps beside it."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from fabula.story.ink_stories import InkPlay
from fabula.story.minds import InnerLife
from fabula.story.readings import OpenQuestion
from fabula.story.state import Snapshot, WorldState
from fabula.story.values import Id, JsonObject, Value

CanonReason = Literal["scene", "ended", "death", "discovery", "turns", "asked"]
"""Why canon is committed: a scene or the story ended, somebody died, something new was found, the scene went on for
long, or somebody asked for it."""

MINUTES_PER_TURN = 10
"""Story time where the story has no calendar."""


class SessionCharacter(Value):
    """A character that entered the stage during play."""

    session_character_id: Id
    display_name: str
    personality: str
    style: str
    system_prompt: str
    created_at_ms: int
    updated_at_ms: int


class GuestOnStage(SessionCharacter):
    """A guest, and whether everyone in the scene sees it."""

    in_scene: bool


class SceneMark(Value):
    """A scene that was entered: the turn with which it began, and its node."""

    turn_index: int
    node_id: Id


SCENES_REMEMBERED = 24


class WorldMark(Value):
    """The last turn on a line after which followers had the world to change, and the one before that."""

    turn_id: Id
    before: Id | None = None


class CanonMark(Value):
    """The last turn on a line at which the canon keeper had something to commit, why, and the one before that.

    `turn_index` is its own, `since` that of the one before: what was told after that is looked through for changes.
    """

    turn_id: Id
    turn_index: int
    since: int = 0
    before: Id | None = None
    why: CanonReason


class PlayState(Value):
    """Everything volatile of a play. Going back to a turn is taking up its state again, nothing else.

    `graph` names the version of the story's graph that is played (the hash of its bytes).
    `scenes` are the scenes that were entered lately, the last one being played; `earlier_scenes` are the nodes of those
    before. `dice_cursor` counts the numbers drawn from the play's seeded generator, `dice_seed` is the seed that was
    asked for. `question` is what the storyteller asked back last and the next line may answer. `ink` is there for Ink
    stories, `world_mark` where the story has a calendar, `canon_mark` where it belongs to a world and canon was made,
    `inner` where the cast has an inner life.
    """

    snapshot: Snapshot
    graph: str
    session_characters: dict[str, SessionCharacter] = {}
    player_profile_id: str | None = None
    player_name: str = "User"
    turns_in_scene: int = 0
    scenes: list[SceneMark] = []
    earlier_scenes: list[Id] = []
    message_count: int = 0
    dice_cursor: int = 0
    dice_seed: int | None = None
    ended: bool = False
    question: OpenQuestion | None = None
    ink: InkPlay | None = None
    world_mark: WorldMark | None = None
    canon_mark: CanonMark | None = None
    inner: InnerLife | None = None

    def as_json(self) -> JsonObject:
        """As stored, without what there is none of: Ink, earlier scenes, a question, a seed, a world, an inner life."""
        plain = super().as_json()
        if self.ink is None:
            del plain["ink"]
        if self.world_mark is None:
            del plain["world_mark"]
        if self.canon_mark is None:
            del plain["canon_mark"]
        if self.inner is None:
            del plain["inner"]
        if self.dice_seed is None:
            del plain["dice_seed"]
        if not self.earlier_scenes:
            del plain["earlier_scenes"]
        if self.question is None:
            del plain["question"]
        return plain

    @property
    def world(self) -> WorldState:
        return self.snapshot.world_state

    @property
    def minute(self) -> int:
        """When it is in the story, in minutes since the play began."""
        time = self.snapshot.time
        return self.snapshot.turn_index * MINUTES_PER_TURN if time is None else time.minutes

    def entering(self, node_id: str) -> PlayState:
        """The same play at the beginning of a scene."""
        mark = SceneMark(turn_index=self.snapshot.turn_index, node_id=node_id)
        scenes = [*self.scenes, mark]
        left = dict.fromkeys([*self.earlier_scenes, *(one.node_id for one in scenes[:-SCENES_REMEMBERED])])
        update = {"turns_in_scene": 0, "scenes": scenes[-SCENES_REMEMBERED:], "earlier_scenes": list(left)}
        return self.model_copy(update=update)

    @property
    def visited(self) -> frozenset[str]:
        """All nodes that were entered on the way here."""
        return frozenset([*self.earlier_scenes, *(mark.node_id for mark in self.scenes), self.world.current_node])

    def with_world(self, world: WorldState) -> PlayState:
        """The same play with another world state in its snapshot."""
        return self.model_copy(update={"snapshot": self.snapshot.model_copy(update={"world_state": world})})


def _is_unsaid(value: object) -> bool:
    return value is None


class SessionSettings(Value):
    """What a session is bound to; kept as a resource, so that what it uses cannot be deleted under it.

    Its `player_profile_id` keeps a profile from being deleted. Who the player is, the state at the head says. `rules`
    is the game system of this play where it is not that of its story.
    """

    session_id: Id
    story_id: Id
    display_name: str
    player_profile_id: str | None = None
    player_schema_id: str
    api_group_id: str
    preset_id: str
    rules: str | None = Field(default=None, exclude_if=_is_unsaid)
