"""The world beyond the scenes of a play moves: pure, from the state of the play and the clocks of its world.

1. A play begins with the clocks of its world as they stand there, and moves them in its own state alone.
2. When a scene ends, or a day has passed since they moved, they move for the story time that passed.
3. What came to pass is noticed once, as a scene begins, at its place or by those who know.
4. After each turn plot threads and conflicts follow what happened in it. Conflicts have a tick whenever the world
   moves.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from fabula.rules.agendas import Advanced, advance, world_draws
from fabula.rules.conflicts import Circumstances, ConflictChange, push_conflicts, tick_conflicts
from fabula.rules.plot import Happened, ThreadChange, threads_after
from fabula.story.agendas import AgendaClock, FiredAgenda
from fabula.story.calendars import MINUTES_PER_HOUR
from fabula.story.checks import PLAYER
from fabula.story.conflicts import Conflict
from fabula.story.free_plays import FreeWorld
from fabula.story.off_screen import OffScreen
from fabula.story.plays import PlayState
from fabula.story.plot_threads import PlotThread
from fabula.story.quests import Quest

LONGEST_STILL: Final = 24 * MINUTES_PER_HOUR
"""A scene that goes on for so long does not hold up the world."""


def begin_off_screen(
    play: PlayState,
    clocks: Sequence[AgendaClock],
    threads: Sequence[PlotThread] = (),
    conflicts: Sequence[Conflict] = (),
    *,
    minute: int | None = None,
) -> PlayState:
    """The play with the clocks of its world, as they stand from now on, or from `minute` on in a play that begins."""
    if play.off_screen is not None or not (clocks or threads or conflicts or minute):
        return play
    if minute is not None and play.snapshot.time is None:
        # Without a calendar the turns count the time; what passed before the first one is added.
        play = play.model_copy(update={"off_screen": OffScreen(passed=minute)})
    begun = play.off_screen or OffScreen()
    return play.model_copy(update={"off_screen": begun.moved_to(play.minute, 0, clocks)})


def is_time_to_move(play: PlayState, *, scene_ended: bool) -> bool:
    """Whether the world beyond the scene moves with this turn."""
    off_screen = play.off_screen
    if off_screen is None:
        return False
    return scene_ended or play.minute - off_screen.minute >= LONGEST_STILL


def move_off_screen(
    play: PlayState, clocks: Sequence[AgendaClock], conflicts: Sequence[Conflict] = (), *, tree_id: str
) -> tuple[PlayState, Advanced]:
    """The play after its agendas moved for the time that passed since they last did, and what came of it; each time
    its conflicts have one tick.

    `clocks` are those of the world as they are written; all lines of one tree draw from one seed.
    """
    before = play.off_screen or OffScreen(minute=play.minute)
    draws = world_draws(tree_id if play.dice_seed is None else play.dice_seed, before.cursor)
    advanced = advance(
        before.all_clocks(clocks),
        max(0, play.minute - before.minute),
        draws,
        now=before.minute,
        turn_index=play.snapshot.turn_index,
        state=play.world,
    )
    after = before.moved_to(max(play.minute, before.minute), draws.cursor, advanced.clocks, advanced.fired)
    play = play.model_copy(update={"off_screen": after})
    if not conflicts:
        return play, advanced
    moved = tick_conflicts(conflicts, after.conflicts, circumstances(play))
    after = after.after_conflicts(moved.now, moved.news)
    told = replace(advanced, fired=[*advanced.fired, *moved.news], conflicts=moved.changes)
    return play.model_copy(update={"off_screen": after}), told


def circumstances(play: PlayState, fired: Iterable[FiredAgenda] = ()) -> Circumstances:
    """What conflicts of a play are moved by, where it stands."""
    return Circumstances(
        state=play.world,
        relations=play.relations,
        turn_index=play.snapshot.turn_index,
        minute=play.minute,
        fired=frozenset(one.clock_id for one in fired),
    )


def follow_conflicts(
    play: PlayState, conflicts: Sequence[Conflict], fired: Sequence[FiredAgenda] = ()
) -> tuple[PlayState, list[ConflictChange]]:
    """The play after what happened in a turn pushed its conflicts, and which of them that moved."""
    off_screen = play.off_screen
    if off_screen is None or not conflicts:
        return play, []
    moved = push_conflicts(conflicts, off_screen.conflicts, circumstances(play, fired))
    if moved.now == off_screen.conflicts:
        return play, []
    after = off_screen.after_conflicts(moved.now, moved.news)
    return play.model_copy(update={"off_screen": after}), moved.changes


def news_here(play: PlayState, knowing: Iterable[str]) -> list[FiredAgenda]:
    """What came to pass off-screen, and these notice or know where the play stands, if it was not told before."""
    if play.off_screen is None:
        return []
    return play.off_screen.news_at(play.world.current_node, knowing, play.snapshot.turn_index)


def notice_news(before: PlayState, after: PlayState) -> PlayState:
    """The play after a turn; where that began a scene, what was noticed in it is not told again."""
    stays = before.world.current_node == after.world.current_node and before.scenes[-1:] == after.scenes[-1:]
    if after.off_screen is None or stays:
        return after
    return notice_here(after)[0]


def notice_here(play: PlayState) -> tuple[PlayState, list[FiredAgenda]]:
    """The play after those in the scene noticed what came to pass off-screen, and what of it nobody had told before.

    What was told with the turn of the same number is news of that turn still, and is not among it.
    """
    found = news_here(play, [PLAYER, *play.world.active_characters])
    fresh = [one for one in found if one.noticed is None]
    if play.off_screen is None or not fresh:
        return play, []
    after = play.off_screen.noticed(fresh, play.snapshot.turn_index)
    return play.model_copy(update={"off_screen": after}), fresh


def follow_threads(
    play: PlayState,
    threads: Sequence[PlotThread],
    *,
    quests: Sequence[Quest] = (),
    fired: Sequence[FiredAgenda] = (),
    touched: Mapping[str, str] | None = None,
    free: FreeWorld | None = None,
) -> tuple[PlayState, list[ThreadChange]]:
    """The play after its plot threads followed a turn, and which of them that moved.

    `touched` says by id to whom or what something happened; an agenda that came to its end touches whose it was, and
    where. `free` is what can be found out, in a free play.
    """
    off_screen = play.off_screen
    if off_screen is None:
        return play, []
    by_agendas = {id: one.event for one in fired for id in (one.owner, one.where) if id is not None}
    happened = Happened(
        play=play,
        quests=quests,
        fired={one.clock_id: one.event for one in fired},
        touched={**by_agendas, **(touched or {})},
        found_out=frozenset() if free is None else free.found_out(play.world),
    )
    after, changes = threads_after(off_screen.all_threads(threads), off_screen.threads, happened)
    if not changes:
        return play, []
    return play.model_copy(update={"off_screen": off_screen.model_copy(update={"threads": after})}), changes
