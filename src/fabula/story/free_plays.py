"""Free play: a world, a cast and a start, and no plot that was written beforehand; pure.

The places of a world are a map to walk about on. What somebody there keeps to themselves is what can be found out. A
scene is what is played at one place for one purpose: mostly to find one of these things out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from pydantic import Field

from fabula.story.graph import Comparison, MeantBy, Node, Transition
from fabula.story.knowledge import Fact, Until
from fabula.story.state import WorldState
from fabula.story.values import Id, Sparse, Value

FreePhase = Literal["open", "over", "advanced"]
"""A scene is being played, or is over, or is over and the world has moved on since: then the next one is chosen."""
Where = Literal["open", "over", "advanced", "ended"]
"""Where a free play stands: in a scene, between two, or at its end."""
SceneEnd = Literal["left", "met", "asked", "turns"]
"""How a scene of free play ended: its place was left, its purpose was met, somebody asked for it, or it had gone on for
as many turns as it may."""

USUAL_TURNS: Final = 50
"""So many turns a scene has at most, unless the play says otherwise."""
MOST_DISCOVERIES: Final = 60


def free_story_id(world_id: str) -> str:
    """The id of the story that a world's free plays are kept under; it is made when the first one starts."""
    return f"free.{world_id}"[:128]


class FreeStart(Sparse):
    """How free plays of a world begin: what is told first, where, with which lore, and what the player is made of.

    What is not said follows from the world: its description, the first place where somebody is met, no lore.
    """

    optional = frozenset({"introduction", "place", "lorebook_ids", "player_schema_id"})
    introduction: str = Field(default="", max_length=20_000)
    place: Id | None = None
    lorebook_ids: list[Id] = Field(default=[], max_length=20)
    player_schema_id: Id | None = None


class Discovery(Sparse):
    """Something that can be found out: who keeps it to themselves, where they are met, and what it is about.

    `truth` is told when they tell it, `purpose` is what a scene is for that is about it, and `means` are phrases by
    which a player sets out to have it told.
    """

    optional = frozenset({"hook"})
    discovery_id: Id
    place: Id
    subject: Id
    knower: Id
    knower_name: str
    about: str
    truth: str
    purpose: str
    hook: str = ""
    means: list[MeantBy] = Field(default=[], max_length=64)

    @property
    def key(self) -> str:
        """The variable that says that it is known."""
        return f"learned_{self.discovery_id}"

    @property
    def touches(self) -> frozenset[str]:
        """Whom and what it is about, by id."""
        return frozenset([self.subject, self.knower, self.place])

    def is_learned(self, state: WorldState) -> bool:
        return state.custom.get(self.key) is True


class FreeWorld(Value):
    """What makes a story one of free play."""

    discoveries: list[Discovery] = Field(default=[], max_length=MOST_DISCOVERIES)

    def open_ones(self, state: WorldState) -> list[Discovery]:
        """What is still to be found out."""
        return [one for one in self.discoveries if not one.is_learned(state)]

    def found_out(self, state: WorldState) -> frozenset[str]:
        """Whom and what nobody keeps anything back about any more, by id, where somebody did."""
        left = {id for one in self.open_ones(state) for id in one.touches}
        return frozenset(id for one in self.discoveries for id in one.touches) - left

    def found(self, discovery_id: str | None) -> Discovery | None:
        return next((one for one in self.discoveries if one.discovery_id == discovery_id), None)


class Remembered(Value):
    """A scene that is played in the past, and the present that waits: where, with whom, and what it was about.

    `minute` is when the remembered scene begins, `since` the turn with which it does.
    """

    minute: int
    since: int
    place: Id
    people: list[Id] = []
    aim: str | None = None
    turns: int = 0


class FreePlay(Sparse):
    """Where a free play stands between its scenes. `aim` is the discovery that the scene is about; the player `walked`
    into the scene by themselves, or was led to it. `flashback` is there while a scene of the past is played."""

    optional = frozenset({"aim", "outcome", "walked", "flashback"})
    phase: FreePhase = "open"
    number: int = 1
    aim: str | None = None
    walked: bool = False
    flashback: Remembered | None = None
    outcome: SceneEnd | None = None


def purpose_of(world: FreeWorld, free: FreePlay, node: Node, state: WorldState) -> str:
    """What the scene is for."""
    first = next(iter(_at_hand(world, free, node, state)), None)
    title = f"the{node.title[3:]}" if node.title.startswith("The ") else node.title
    return f"Look around {title}." if first is None else first.purpose


def node_now(world: FreeWorld, free: FreePlay, node: Node, state: WorldState) -> Node:
    """A place of the map as it is in a scene: with what it is for, and with what can still be found out there.

    The goal names every way, each in a part of its own: lines are read by it.
    """
    here = _at_hand(world, free, node, state)
    goal = "; ".join([*(one.purpose.rstrip(".") for one in here), node.goal])
    return node.model_copy(update={"goal": goal, "transitions": [*map(_way, here), *node.transitions]})


def _at_hand(world: FreeWorld, free: FreePlay, node: Node, state: WorldState) -> list[Discovery]:
    """What can be found out at a place now, what the scene is about first: one thing at a time from each who knows,
    since two ways that are meant by the same words could not be told apart."""
    left = [one for one in world.open_ones(state) if one.place == node.id]
    left.sort(key=lambda one: one.discovery_id != free.aim)
    return list({one.knower: one for one in reversed(left)}.values())[::-1]


def _way(discovery: Discovery) -> Transition:
    """The way to a discovery leads back to its place: with it the scene has served its purpose."""
    condition = Comparison(key=discovery.key, op="eq", value=True)
    return Transition(to=discovery.place, condition=condition, priority=1, means=discovery.means)


def facts_kept(world: FreeWorld, character_id: str) -> list[Fact]:
    """What a character keeps to itself until the player gets it out of it."""
    return [
        Fact(
            text=one.truth,
            secret=True,
            known_by=Until(until=Comparison(key=one.key, op="eq", value=True), then=[character_id]),
        )
        for one in world.discoveries
        if one.knower == character_id
    ]


def next_aim(
    world: FreeWorld,
    state: WorldState,
    *,
    here: str,
    outcome: SceneEnd | None,
    weights: Mapping[str, float] | None = None,
) -> Discovery | None:
    """What the next scene is about.

    1. Where the player went by themselves, something there, or nothing.
    2. Where the purpose of a scene was met, something else at the same place.
    3. Else what weighs most (`weights`, by discovery), and of that what comes first in the world; who asked for the end
       of a scene is led elsewhere, if anything is left elsewhere.
    """
    left = world.open_ones(state)
    at_hand = next((one for one in left if one.place == here), None)
    if outcome in (None, "left") or (outcome == "met" and at_hand is not None):
        return at_hand
    elsewhere = [one for one in left if one.place != here] or left
    return max(elsewhere, key=lambda one: (weights or {}).get(one.discovery_id, 0), default=None)
