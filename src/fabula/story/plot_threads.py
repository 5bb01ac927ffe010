"""Plot threads: what a story has set up and owes an answer to, from set-up to pay-off.

An author writes threads into a world; a play keeps of them where they stand (`ThreadNow`), with each turn. What moves
them is decided in `fabula.rules.plot`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Literal

from pydantic import Field

from fabula.story.agendas import AgendaText, Minutes
from fabula.story.canon import Moment, Name
from fabula.story.conditions import tests_of
from fabula.story.quests import QuestRule
from fabula.story.values import Id, Sparse, Value

MOST_THREADS: Final = 40
MOST_THREAD_MOVES: Final = 8
MOST_THREAD_TESTS: Final = 400
LONGEST_REASON: Final = 200

ThreadStatus = Literal["waiting", "open", "advanced", "resolved", "abandoned"]
"""A thread waits to be set up; it is open, has advanced, was paid off, or was dropped."""
OnFull = Literal["open", "advanced", "resolved", "abandoned"]
"""What becomes of a thread when its clock fires; one that is to be open then waits for it."""


class PlotThread(Sparse):
    """A thread as it is written.

    It is open from the beginning, unless it has a rule to be `set_up` or a quest. It is paid off by `pay_off` or when
    its quest is done, and dropped by `drop`, when its quest fails or its time is over: at the minute `deadline` of
    story time, or when it `lasts` no longer after it was set up. `about` are the entities and scenes that it is about:
    what happens to them advances it. `on_full` is what becomes of it when its clock fires. One that `foreshadows` is
    a promise: it is owed until it is paid or dropped.
    """

    optional = frozenset(
        {"about", "quest_id", "clock_id", "set_up", "pay_off", "drop", "deadline", "lasts", "foreshadows"}
    )
    thread_id: Id
    title: Name
    text: AgendaText = ""
    priority: int = Field(default=3, ge=1, le=5)
    foreshadows: bool = False
    about: list[Id] = Field(default=[], max_length=20)
    quest_id: Id | None = None
    clock_id: Id | None = None
    on_full: OnFull = "advanced"
    set_up: QuestRule | None = None
    pay_off: QuestRule | None = None
    drop: QuestRule | None = None
    deadline: Moment | None = None
    lasts: Minutes | None = None


class ThreadMove(Value):
    """A turn that moved a thread: to what, when in story time, and why."""

    status: ThreadStatus
    turn_index: int
    minute: Moment
    why: str = Field(default="", max_length=LONGEST_REASON)


class ThreadNow(Value):
    """Where a thread stands. Its first move set it up; of very many the newest are kept beside that one."""

    status: ThreadStatus
    priority: int = Field(ge=1, le=5)
    deadline: Moment | None = None
    moves: list[ThreadMove] = []

    @property
    def is_live(self) -> bool:
        """Whether the story still owes something about it."""
        return self.status in ("open", "advanced")

    @property
    def paid_off(self) -> ThreadMove | None:
        """The move that paid it off."""
        return self.moves[-1] if self.status == "resolved" and self.moves else None

    def moved(self, move: ThreadMove) -> ThreadNow:
        moves = [*self.moves[:1], *self.moves[1:][-(MOST_THREAD_MOVES - 2) :], move]
        return self.model_copy(update={"status": move.status, "moves": moves})


def standing(thread: PlotThread, now: Mapping[str, ThreadNow]) -> ThreadNow:
    """Where a thread stands; one of which nothing is kept waits to be set up."""
    return now.get(thread.thread_id) or ThreadNow(status="waiting", priority=thread.priority, deadline=thread.deadline)


def thread_problems(threads: Sequence[PlotThread], clocks: frozenset[str]) -> list[str]:
    """What is wrong with the threads of a world, in sentences; empty when all is well."""
    ids = [thread.thread_id for thread in threads]
    problems = [f"the thread '{id}' is there twice" for id in sorted({id for id in ids if ids.count(id) > 1})]
    if len(threads) > MOST_THREADS:
        problems.append(f"there are {len(threads)} threads, and {MOST_THREADS} are the most")
    rules = [rule for one in threads for rule in (one.set_up, one.pay_off, one.drop) if rule is not None]
    tests = sum(1 for rule in rules for _ in tests_of(rule.condition) if rule.condition is not None)
    if tests > MOST_THREAD_TESTS:
        problems.append(f"the rules of the threads have {tests} comparisons, and {MOST_THREAD_TESTS} are the most")
    problems += [
        f"the thread '{one.thread_id}' names the clock '{one.clock_id}', which does not exist"
        for one in threads
        if one.clock_id is not None and one.clock_id not in clocks
    ]
    return problems
