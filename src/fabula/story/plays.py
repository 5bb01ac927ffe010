"""The state of a play after a turn: the snapshot that clients see, and what the engine keeps beside it."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from fabula.story.conversations import Conversation
from fabula.story.directives import Directive
from fabula.story.free_plays import FreePlay
from fabula.story.ink_stories import InkPlay
from fabula.story.minds import InnerLife
from fabula.story.off_screen import OffScreen
from fabula.story.readings import OpenQuestion
from fabula.story.relations import Relations
from fabula.story.scene_lore import ScenePiece
from fabula.story.session_zero import SessionZero
from fabula.story.state import Snapshot, WorldState
from fabula.story.story_templates import TemplateNow
from fabula.story.values import Id, JsonObject, Value

CanonReason = Literal["scene", "ended", "death", "discovery", "turns", "asked", "world"]
"""Why canon is committed: a scene or the story ended, somebody died, something new was found, the scene went on for
long, somebody asked for it, or the world moved off-screen."""

MINUTES_PER_TURN = 10
"""Story time where the story has no calendar."""


def _is_unsaid(value: object) -> bool:
    return value is None


def _is_none_of(value: object) -> bool:
    return not value


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
    """A scene that was entered: the turn with which it began, its node, and when it was, where there is a calendar.
    `lore` is what was chosen to be said of it as it began."""

    turn_index: int
    node_id: Id
    minute: int | None = Field(default=None, exclude_if=_is_unsaid)
    lore: list[ScenePiece] = Field(default=[], exclude_if=_is_none_of)


SCENES_REMEMBERED = 24
SCENES_WITH_LORE = 12
"""So many of these keep their lore when the others lose theirs, as soon as twice as many have it: prompts tell of it
where a scene began, and would be other prompts from there on with each scene."""


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
    `inner` where the cast has an inner life, `off_screen` where the world has agendas, `conversation` while
    the player talks with somebody, `relations` where somebody stands to somebody in a way that was moved,
    `directives` where agents or characters are told something in this play alone, `template` where it follows
    one, `free` in free play.
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
    off_screen: OffScreen | None = None
    conversation: Conversation | None = None
    relations: Relations = {}
    session_zero: SessionZero | None = None
    directives: list[Directive] = []
    template: TemplateNow | None = None
    free: FreePlay | None = None

    def as_json(self) -> JsonObject:
        """As stored, without what there is none of: Ink, earlier scenes, a question, a seed, a world, an inner life,
        a conversation, relations, directives."""
        plain = super().as_json()
        if self.ink is None:
            del plain["ink"]
        if self.world_mark is None:
            del plain["world_mark"]
        if self.canon_mark is None:
            del plain["canon_mark"]
        if self.inner is None:
            del plain["inner"]
        if self.off_screen is None:
            del plain["off_screen"]
        if self.conversation is None:
            del plain["conversation"]
        if not self.relations:
            del plain["relations"]
        if self.session_zero is None:
            del plain["session_zero"]
        if not self.directives:
            del plain["directives"]
        if self.template is None:
            del plain["template"]
        if self.free is None:
            del plain["free"]
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
        """When it is in the story, in minutes since the world's time began; mostly the play began with it."""
        past = None if self.free is None else self.free.flashback
        if past is not None:
            return past.minute + (self.snapshot.turn_index - past.since) * MINUTES_PER_TURN
        time = self.snapshot.time
        if time is not None:
            return time.minutes
        return self.snapshot.turn_index * MINUTES_PER_TURN + (0 if self.off_screen is None else self.off_screen.passed)

    def entering(self, node_id: str) -> PlayState:
        """The same play at the beginning of a scene."""
        mark = SceneMark(turn_index=self.snapshot.turn_index, node_id=node_id)
        scenes = [*self.scenes, mark]
        left = dict.fromkeys([*self.earlier_scenes, *(one.node_id for one in scenes[:-SCENES_REMEMBERED])])
        update = {"turns_in_scene": 0, "scenes": scenes[-SCENES_REMEMBERED:], "earlier_scenes": list(left)}
        return self.model_copy(update=update)

    def arrived(self) -> PlayState:
        """The same play, whose last scene says when it began; without a calendar its turn tells."""
        time = self.snapshot.time
        if time is None or not self.scenes:
            return self
        mark = self.scenes[-1].model_copy(update={"minute": time.minutes})
        return self.model_copy(update={"scenes": [*self.scenes[:-1], mark]})

    def with_scene_lore(self, lore: list[ScenePiece]) -> PlayState:
        """The same play, whose last scene has this lore; scenes of long ago lose theirs, many at once."""
        if not self.scenes:
            return self
        scenes = [*self.scenes[:-1], self.scenes[-1].model_copy(update={"lore": lore})]
        if sum(bool(one.lore) for one in scenes) >= 2 * SCENES_WITH_LORE:
            old = [one.model_copy(update={"lore": []}) if one.lore else one for one in scenes[:-SCENES_WITH_LORE]]
            scenes = [*old, *scenes[-SCENES_WITH_LORE:]]
        return self.model_copy(update={"scenes": scenes})

    @property
    def visited(self) -> frozenset[str]:
        """All nodes that were entered on the way here."""
        return frozenset([*self.earlier_scenes, *(mark.node_id for mark in self.scenes), self.world.current_node])

    def with_world(self, world: WorldState) -> PlayState:
        """The same play with another world state in its snapshot."""
        return self.model_copy(update={"snapshot": self.snapshot.model_copy(update={"world_state": world})})


class SessionSettings(Value):
    """What a session is bound to; kept as a resource, so that what it uses cannot be deleted under it.

    Its `player_profile_id` keeps a profile from being deleted. Who the player is, the state at the head says. `rules`
    is the game system of this play where it is not that of its story, `max_turns` how many turns a scene of free play
    has at most.
    """

    session_id: Id
    story_id: Id
    display_name: str
    player_profile_id: str | None = None
    player_schema_id: str
    api_group_id: str
    preset_id: str
    rules: str | None = Field(default=None, exclude_if=_is_unsaid)
    max_turns: int | None = Field(default=None, exclude_if=_is_unsaid)
