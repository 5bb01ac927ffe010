"""How plot threads move, and what arc and tension follow from them; pure.

After each turn, in this order:

1. A thread is set up from the beginning, by its rule, when its quest opens, or by its clock if that says so.
2. It is paid off by its rule, when its quest is done, by its clock if that says so, or in free play when all that
   somebody kept back about each of those that it is about was found out.
3. It is dropped by its rule, when its quest fails, by its clock, when its time is over, or when the story ends.
4. It advances when its clock fires, or when something happens to whom or what it is about: a check that succeeded, a
   change of canon, an agenda that came to its end.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from fabula.story.agendas import AgendaClock
from fabula.story.plays import PlayState
from fabula.story.plot_threads import LONGEST_REASON, PlotThread, ThreadMove, ThreadNow, ThreadStatus, standing
from fabula.story.quests import Quest, QuestRule
from fabula.story.values import Value

ArcLabel = Literal["opening", "rising", "crisis", "falling", "ended"]
CRISIS, RISING = 0.7, 0.4


@dataclass(frozen=True, kw_only=True)
class Happened:
    """What a turn left behind: the play after it, the quests of the story, the clocks that fired with what they did,
    by id to whom or what something happened, with what it was, and about whom or what all was found out."""

    play: PlayState
    quests: Sequence[Quest] = ()
    fired: Mapping[str, str] = field(default_factory=dict)
    touched: Mapping[str, str] = field(default_factory=dict)
    found_out: frozenset[str] = frozenset()

    def fits(self, rule: QuestRule | None) -> bool:
        return rule is not None and rule.applies(self.play.visited, self.play.world)

    def quest(self, id: str | None) -> Quest | None:
        return next((one for one in self.quests if one.quest_id == id), None)

    def opens(self, quest: Quest) -> bool:
        return quest.opens is None or self.fits(quest.opens)


@dataclass(frozen=True, kw_only=True)
class ThreadChange:
    """That a turn moved a thread."""

    thread: PlotThread
    move: ThreadMove


def threads_after(
    threads: Iterable[PlotThread], before: Mapping[str, ThreadNow], happened: Happened
) -> tuple[dict[str, ThreadNow], list[ThreadChange]]:
    """Where the threads stand after a turn, and which of them it moved."""
    after, changes = dict(before), []
    for thread in threads:
        now = standing(thread, before)
        for status, why in _moves_of(thread, now, happened):
            move = ThreadMove(
                status=status,
                turn_index=happened.play.snapshot.turn_index,
                minute=happened.play.minute,
                why=why[:LONGEST_REASON],
            )
            if now.status == "waiting" and thread.lasts is not None:
                now = now.model_copy(update={"deadline": move.minute + thread.lasts})
            now = after[thread.thread_id] = now.moved(move)
            changes.append(ThreadChange(thread=thread, move=move))
    return after, changes


def _moves_of(thread: PlotThread, now: ThreadNow, happened: Happened) -> list[tuple[ThreadStatus, str]]:
    moves: list[tuple[ThreadStatus, str]] = []
    if now.status == "waiting":
        why = _set_up(thread, happened)
        if why is None:
            return []
        moves.append(("open", why))
    elif not now.is_live:
        return []
    settled = _settled(thread, now, happened)
    if settled is not None:
        return [*moves, settled]
    touched = None if moves else _touched(thread, happened)
    return moves if touched is None else [*moves, ("advanced", touched)]


def _set_up(thread: PlotThread, happened: Happened) -> str | None:
    quest = happened.quest(thread.quest_id)
    if happened.fits(thread.set_up):
        return "It was set up."
    if quest is not None and happened.opens(quest):
        return f"The quest began: {quest.title}."
    if thread.on_full == "open":
        return happened.fired.get(thread.clock_id or "")
    return "It was there from the beginning." if thread.set_up is None and thread.quest_id is None else None


def _settled(thread: PlotThread, now: ThreadNow, happened: Happened) -> tuple[ThreadStatus, str] | None:
    quest, fired = happened.quest(thread.quest_id), happened.fired.get(thread.clock_id or "")
    if happened.fits(thread.pay_off):
        return "resolved", "It was paid off."
    if quest is not None and happened.fits(quest.done):
        return "resolved", f"The quest is done: {quest.title}."
    if thread.about and happened.found_out.issuperset(thread.about):
        return "resolved", "Nothing about it is kept back any more."
    if fired is not None and thread.on_full in ("resolved", "abandoned"):
        return thread.on_full, fired
    if happened.fits(thread.drop):
        return "abandoned", "It was dropped."
    if quest is not None and happened.fits(quest.fails):
        return "abandoned", f"The quest has failed: {quest.title}."
    if now.deadline is not None and happened.play.minute >= now.deadline:
        return "abandoned", "Its time is over."
    return ("abandoned", "The story ended.") if happened.play.ended else None


def _touched(thread: PlotThread, happened: Happened) -> str | None:
    fired = happened.fired.get(thread.clock_id or "")
    return fired or next((happened.touched[id] for id in thread.about if id in happened.touched), None)


class Arc(Value):
    """Where a story stands: `tension` is from 0 to 1."""

    label: ArcLabel
    tension: float


def urgency(now: ThreadNow, minute: int) -> float:
    """How much a live thread asks for its turn, from 0 to 1: 0.6 by its priority, the rest as its time runs out."""
    if not now.is_live:
        return 0.0
    began = now.moves[0].minute if now.moves else minute
    near = 0.0
    if now.deadline is not None:
        near = 1.0 if now.deadline <= began else (minute - began) / (now.deadline - began)
    return round(0.6 * now.priority / 5 + 0.4 * max(0.0, min(1.0, near)), 4)


def arc_of(threads: Iterable[ThreadNow], clocks: Iterable[AgendaClock], minute: int) -> Arc:
    """The arc and tension of a story: the mean of its most urgent thread and its fullest running clock.

    It has `ended` when nothing is owed any more; it is a `crisis` from 0.7 on, `falling` when more than half of what
    was set up (by priority) is settled, and `rising` when a thread has advanced, or from 0.4 on.
    """
    known = list(threads)
    set_up = [one for one in known if one.status != "waiting"]
    live = [one for one in set_up if one.is_live]
    parts = [max((urgency(one, minute) for one in live), default=None)]
    parts.append(max((one.filled / one.segments for one in clocks if one.status == "active"), default=None))
    counted = [part for part in parts if part is not None]
    tension = round(sum(counted) / len(counted), 4) if counted else 0.0
    weight = sum(one.priority for one in set_up)
    if known and len(set_up) == len(known) and not live:
        label: ArcLabel = "ended"
    elif tension >= CRISIS:
        label = "crisis"
    elif weight and 2 * sum(one.priority for one in live) < weight:
        label = "falling"
    elif tension >= RISING or any(one.status == "advanced" for one in live):
        label = "rising"
    else:
        label = "opening"
    return Arc(label=label, tension=tension)
