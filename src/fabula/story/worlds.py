"""Worlds: what several stories and campaigns share, with the policy by which changes of its canon are judged."""

from __future__ import annotations

from pydantic import Field

from fabula.story.agendas import MOST_CLOCKS, AgendaClock
from fabula.story.boundaries import Boundaries
from fabula.story.canon import Policy
from fabula.story.caps import Caps
from fabula.story.conflicts import MOST_CONFLICTS, Conflict
from fabula.story.directives import MOST_DIRECTIVES, Directive
from fabula.story.free_plays import FreeStart
from fabula.story.plot_threads import MOST_THREADS, PlotThread
from fabula.story.session_zero import SessionZero
from fabula.story.story_templates import MOST_TEMPLATES, StoryTemplate
from fabula.story.values import Id, Sparse, Value

LONGEST_WORLD_NAME = 200
LONGEST_WORLD_TEXT = 20_000


def private_world_id(story_id: str) -> str:
    """The id of the world of a story that belongs to none."""
    return f"private.{story_id}"[:128]


class WorldTime(Value):
    """How far a world has moved with no play: so many minutes, and so many numbers drawn for it."""

    minute: int = 0
    cursor: int = 0


MOST_PAST_BOUNDARIES = 50


class PastBoundaries(Value):
    """Boundaries of a world that counted until a moment."""

    until_ms: int
    boundaries: Boundaries


class World(Sparse):
    """A world. `game_system_id` is what campaigns in it are played by unless they say otherwise.

    `clocks` are the agendas in it, as they stand when a play begins, `threads` what its stories set up and owe an
    answer to, and `conflicts` what people in it are at odds about. `time` is there once it was moved on with no play:
    plays that begin afterwards begin then. `story_id` is there in a private world: it was made for the plays of that
    one story. `free` says how free plays of it begin, `session_zero` what was agreed upon for plays in it, with its
    boundaries; `boundaries_before` are those that counted earlier, the last ones last. `directives` are
    what agents and characters are told in them, `templates` preset stories that plays may follow, `caps` how far its
    technology and magic go.
    """

    optional = frozenset(
        {"clocks", "threads", "conflicts", "time", "free", "session_zero", "boundaries_before"}
        | {"directives", "templates", "caps"}
    )

    world_id: Id
    display_name: str = Field(min_length=1, max_length=LONGEST_WORLD_NAME)
    description: str = Field(default="", max_length=LONGEST_WORLD_TEXT)
    genre: str = Field(default="", max_length=LONGEST_WORLD_NAME)
    tone: str = Field(default="", max_length=LONGEST_WORLD_NAME)
    game_system_id: Id | None = None
    policy: Policy = Policy()
    story_id: Id | None = None
    clocks: list[AgendaClock] = Field(default=[], max_length=MOST_CLOCKS)
    threads: list[PlotThread] = Field(default=[], max_length=MOST_THREADS)
    conflicts: list[Conflict] = Field(default=[], max_length=MOST_CONFLICTS)
    time: WorldTime | None = None
    free: FreeStart | None = None
    session_zero: SessionZero | None = None
    directives: list[Directive] = Field(default=[], max_length=MOST_DIRECTIVES)
    templates: list[StoryTemplate] = Field(default=[], max_length=MOST_TEMPLATES)
    boundaries_before: list[PastBoundaries] = Field(default=[], max_length=MOST_PAST_BOUNDARIES)

    caps: Caps | None = None

    def agreeing(self, agreed: SessionZero, *, now_ms: int) -> World:
        """The world after something else was agreed upon; boundaries that no longer count are kept."""
        old, new = (one.boundaries for one in (self.session_zero or SessionZero(), agreed))
        before = self.boundaries_before
        if old != new:
            before = [*before, PastBoundaries(until_ms=now_ms, boundaries=old)][-MOST_PAST_BOUNDARIES:]
        kept = None if agreed.is_empty else agreed
        return self.model_copy(update={"session_zero": kept, "boundaries_before": before})

    @property
    def minute(self) -> int:
        """When it is in the world, in minutes, for plays that begin now."""
        return 0 if self.time is None else self.time.minute
