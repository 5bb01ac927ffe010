"""What a play keeps of the world beyond its scenes: how far its agendas have come, what came to pass, and its threads.

It is a part of the state of each turn, so going back, forking and another branch find it exactly as it was there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from pydantic import Field

from fabula.story.agendas import MOST_FIRED, AgendaClock, AgendaNow, FiredAgenda, clocks_at
from fabula.story.conflicts import ConflictNow
from fabula.story.plot_threads import PlotThread, ThreadNow
from fabula.story.values import Value

MOST_NEWS: Final = 2


def _is_empty(value: object) -> bool:
    return not value


class OffScreen(Value):
    """`minute` is up to when the world has moved, `cursor` counts the numbers that were drawn for it.

    `passed` are minutes that passed beside those of the turns, where the story has no calendar. `clocks` is what moved
    of the world's clocks and of this play's own (`own_clocks`), `fired` what came to pass lately. `threads` is where
    plot threads stand, of the world and of this play (`own_threads`). `conflicts` is where conflicts of the world stand
    that have moved.
    """

    minute: int = 0
    cursor: int = 0
    passed: int = 0
    clocks: dict[str, AgendaNow] = {}
    own_clocks: list[AgendaClock] = []
    fired: list[FiredAgenda] = []
    threads: dict[str, ThreadNow] = {}
    own_threads: list[PlotThread] = []
    conflicts: dict[str, ConflictNow] = Field(default={}, exclude_if=_is_empty)

    def all_clocks(self, written: Sequence[AgendaClock]) -> list[AgendaClock]:
        """The clocks of the world as they stand in this play, then its own."""
        known = {clock.clock_id for clock in written}
        own = [clock for clock in self.own_clocks if clock.clock_id not in known]
        return clocks_at([*written, *own], self.clocks)

    def all_threads(self, written: Sequence[PlotThread]) -> list[PlotThread]:
        """The threads of the world, then those of this play."""
        known = {thread.thread_id for thread in written}
        return [*written, *(thread for thread in self.own_threads if thread.thread_id not in known)]

    def moved_to(
        self, minute: int, cursor: int, clocks: Sequence[AgendaClock], fired: Sequence[FiredAgenda] = ()
    ) -> OffScreen:
        """The same after the world moved."""
        now = {**self.clocks, **{clock.clock_id: clock.now for clock in clocks}}
        kept = [*self.fired, *fired][-MOST_FIRED:]
        return self.model_copy(update={"minute": minute, "cursor": cursor, "clocks": now, "fired": kept})

    def after_conflicts(self, now: dict[str, ConflictNow], news: Sequence[FiredAgenda]) -> OffScreen:
        """The same after conflicts moved, with what came to pass in them."""
        return self.model_copy(update={"conflicts": now, "fired": [*self.fired, *news][-MOST_FIRED:]})

    def news_at(self, place: str, knowing: Iterable[str], turn_index: int) -> list[FiredAgenda]:
        """What came to pass and is noticed with this turn: what was not told before, and these may know at this place,
        the oldest first, and never very much at once."""
        known = frozenset(knowing)
        fresh = [one for one in self.fired if one.noticed in (None, turn_index)]
        return [one for one in fresh if one.is_known_in(place, known)][:MOST_NEWS]

    def noticed(self, news: Iterable[FiredAgenda], turn_index: int) -> OffScreen:
        """The same after this was told."""
        told = {(one.clock_id, one.minute) for one in news}
        fired = [
            one.model_copy(update={"noticed": turn_index}) if (one.clock_id, one.minute) in told else one
            for one in self.fired
        ]
        return self.model_copy(update={"fired": fired})
