"""The desk of one turn of an Ink play: what its steps work with. It is passed to the loop and never stored."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field

from fabula.agents.knots.grounding import grounding_of
from fabula.agents.knots.moments import Moment
from fabula.agents.knots.published import Published
from fabula.ink import Story
from fabula.loops.conversation.asking import Asker
from fabula.loops.scene.stage import Stage
from fabula.ports.gate import off_loop
from fabula.ports.plays import Turn
from fabula.ports.store import Store
from fabula.ports.world import Clock, Ids
from fabula.story.ink_stories import InkPlay
from fabula.story.plays import PlayState

GROUNDINGS_KEPT = 64
PLACES_KEPT = 64
SHORT_SAVE = 20_000
"""Saves up to this length are loaded faster than a thread is reached."""


@dataclass(frozen=True, kw_only=True)
class InkWork:
    """A published story with what was learned of its characters, by character and seed, and the places lately read."""

    published: Published
    _groundings: dict[tuple[str, int], tuple[str, ...]] = field(default_factory=dict)
    _places: OrderedDict[str, Story] = field(default_factory=OrderedDict)

    async def at(self, state: str) -> Story:
        """A play at a saved moment, to be played on; raises InkEditedError when the place is gone."""
        story = self._places.get(state)
        if story is None:
            load = self.published.at
            story = load(state) if len(state) <= SHORT_SAVE else await off_loop(load, state)
            self._places[state] = story
            while len(self._places) > PLACES_KEPT:
                self._places.popitem(last=False)
        return story.fork()

    async def grounding(self, character: str, seed: int) -> tuple[str, ...]:
        """The lines of a character, learned at the first question."""
        known = self._groundings.get((character, seed))
        if known is None:
            known = await off_loop(grounding_of, self.published, character, seed=seed)
            while len(self._groundings) >= GROUNDINGS_KEPT:
                self._groundings.pop(next(iter(self._groundings)))
            self._groundings[character, seed] = known
        return known


@dataclass(frozen=True, kw_only=True)
class KnotDesk:
    """`before` is the state that the turn starts from; `gathered` is its moment, once somebody asked for it."""

    turn: Turn
    before: PlayState
    work: InkWork
    asker: Asker
    store: Store
    clock: Clock
    ids: Ids
    stage: Stage
    gathered: list[Moment] = field(default_factory=list)

    @property
    def ink(self) -> InkPlay:
        assert self.before.ink is not None, "only Ink plays come to this desk"
        return self.before.ink

    @property
    def talks(self) -> bool:
        """Whether somebody is spoken to; it follows from what the story waits for."""
        return self.ink.waiting.kind in ("agent", "continue")
