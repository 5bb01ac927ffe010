"""The run of one turn of an Ink play: what its steps work with. It is passed to the loop and never stored."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field

from fabula.ink import Story
from fabula.knots.character_lines import Learned, learn
from fabula.knots.published import Published
from fabula.knots.talk_context import TalkContext, goal_passage
from fabula.loops.ink.questions import Asker
from fabula.loops.ink.shared_cache import PlaceCache, SharedCache
from fabula.loops.ink.turn_record import Kept
from fabula.loops.turns.stage import Stage
from fabula.loops.turns.turn_state_cache import TurnStateCache
from fabula.ports.plays import Turn
from fabula.ports.store import Store
from fabula.ports.threads import run_in_thread
from fabula.ports.work import Work
from fabula.ports.world import Clock, Ids
from fabula.story.contexts import RecalledLine
from fabula.story.ink_stories import InkPlay
from fabula.story.plays import PlayState

Room = Callable[[], AbstractAsyncContextManager[None]]
CHARACTERS_PREPARED = 64
CHARACTERS_KEPT = 64 + CHARACTERS_PREPARED
"""Those that were prepared, and those that were talked to last."""
SHORT_SAVE = 20_000
"""Saves up to this length are loaded faster than a thread is reached."""


@dataclass(frozen=True, kw_only=True)
class PlacesRead:
    """The places of plays that were lately read, and the passages to which talks there lead; for all stories."""

    stories: PlaceCache[Story] = field(default_factory=PlaceCache)
    goals: PlaceCache[tuple[str, ...]] = field(default_factory=PlaceCache)

    def keep_only(self, owners: Collection[object]) -> None:
        """Lets go of what belongs to other stories."""
        self.stories.keep_only(owners)
        self.goals.keep_only(owners)


@dataclass(frozen=True, kw_only=True)
class CompiledStory:
    """A published story with what was learned of its characters, by character and seed, and the places lately read.

    `owner` stands for the story where places of several are kept: what keeps it does not keep the story."""

    published: Published
    places: PlacesRead = field(default_factory=PlacesRead)
    owner: object = field(default_factory=object)
    _characters: SharedCache[tuple[str, int], Learned] = field(default_factory=lambda: SharedCache(CHARACTERS_KEPT))

    def find(self, state: str) -> Story:
        """A play at a saved place, to be looked at; raises InkEditedError when the place is gone."""
        places = self.places.stories
        return places.get(self.owner, state) or places.put(self.owner, state, self.published.at(state))

    def at(self, state: str) -> Story:
        """A play at a saved place, to be played on; raises InkEditedError when the place is gone."""
        return self.find(state).fork()

    def is_near(self, state: str) -> bool:
        """Whether reading a place takes no time that anybody would notice."""
        return len(state) <= SHORT_SAVE or self.places.stories.get(self.owner, state) is not None

    async def story_at(self, state: str) -> Story:
        """The same from the event loop, which a long save would hold up."""
        return self.at(state) if self.is_near(state) else await run_in_thread(self.at, state)

    def goal(self, state: str, story: Story, target: str) -> tuple[str, ...]:
        """The passage to which a talk at this place leads. The place stays the same as long as one talks."""
        goals = self.places.goals
        known = goals.get(self.owner, state)
        return goals.put(self.owner, state, goal_passage(self.published, story, target)) if known is None else known

    def knows(self, state: str) -> bool:
        """Whether a talk went on at this place before, so that what it needs is at hand."""
        return self.is_near(state) and self.places.goals.get(self.owner, state) is not None

    def character_lines(self, character: str, seed: int) -> tuple[str, ...]:
        """The lines of a character, learned at the first question."""
        known = self._characters.get((character, seed))
        return self._learn(character, seed).lines if known is None else known.lines

    def learn(self, character: str, seed: int) -> int:
        """Learns a character before anybody asks it; answers the steps that it took, none if it was known."""
        return 0 if self._characters.get((character, seed)) else self._learn(character, seed).steps

    def _learn(self, character: str, seed: int) -> Learned:
        return self._characters.put((character, seed), learn(self.published, character, seed=seed))


@dataclass(frozen=True, kw_only=True)
class InkRun:
    """`before` is the state that the turn starts from; `gathered` is its context, and `kept` what is to be kept
    of it, once they are known: later steps need not compute them again. `room` is entered while a thread runs the
    story. `recalled` comes to the mind of whoever is spoken to."""

    turn: Turn
    held: Work
    before: PlayState
    work: CompiledStory
    asker: Asker
    turn_states: TurnStateCache
    store: Store
    clock: Clock
    ids: Ids
    stage: Stage
    recalled: Sequence[RecalledLine] = ()
    room: Room = nullcontext
    gathered: list[TalkContext] = field(default_factory=list)
    kept: list[Kept] = field(default_factory=list)

    @property
    def ink(self) -> InkPlay:
        assert self.before.ink is not None, "only Ink plays come to this run"
        return self.before.ink

    @property
    def talks(self) -> bool:
        """Whether somebody is spoken to; it follows from what the story waits for."""
        return self.ink.waiting.kind in ("agent", "continue")
