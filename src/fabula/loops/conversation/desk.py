"""The desk of one turn of an Ink play: what its steps work with. It is passed to the loop and never stored."""

from __future__ import annotations

from dataclasses import dataclass, field

from fabula.agents.knots.grounding import grounding_of
from fabula.agents.knots.published import Published
from fabula.loops.conversation.asking import Asker
from fabula.loops.scene.stage import Stage
from fabula.ports.gate import off_loop
from fabula.ports.plays import Turn
from fabula.ports.store import Store
from fabula.ports.world import Clock, Ids
from fabula.story.ink_stories import InkPlay
from fabula.story.plays import PlayState

GROUNDINGS_KEPT = 64


@dataclass(frozen=True, kw_only=True)
class InkWork:
    """A published story with what was learned of its characters, by character and seed."""

    published: Published
    _groundings: dict[tuple[str, int], tuple[str, ...]] = field(default_factory=dict)

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
    """`before` is the state that the turn starts from."""

    turn: Turn
    before: PlayState
    work: InkWork
    asker: Asker
    store: Store
    clock: Clock
    ids: Ids
    stage: Stage

    @property
    def ink(self) -> InkPlay:
        assert self.before.ink is not None, "only Ink plays come to this desk"
        return self.before.ink
