"""Keep the plot threads of a world, or of a play: they are listed with arc and tension, written, and moved by hand.

A session in the envelope stands for its play; what is changed there is a turn, so going back undoes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from pydantic import Field

from fabula.actions.authority import allowed
from fabula.actions.canon.clocks import begun, setup_of
from fabula.actions.house import House
from fabula.actions.outside_values import outside_value
from fabula.actions.plays.amend import Amendment, AtHead, amend
from fabula.actions.plays.play_states import head_state
from fabula.actions.repositories import WORLDS, checked_new_name
from fabula.actions.views import Command, View, changed, refuse
from fabula.ports.actors import Actor
from fabula.ports.errors import InvalidRequest
from fabula.rules.plot import Arc, arc_of, urgency
from fabula.story.agendas import AgendaText, Minutes
from fabula.story.canon import Moment, Name
from fabula.story.off_screen import OffScreen
from fabula.story.plays import PlayState
from fabula.story.plot_threads import (
    LONGEST_REASON,
    OnFull,
    PlotThread,
    ThreadMove,
    ThreadNow,
    ThreadStatus,
    standing,
    thread_problems,
)
from fabula.story.quests import QuestRule
from fabula.story.values import Id

MOVING = ("status", "priority", "deadline")
"""What a play may set of a thread that its world has."""
WRITTEN = (
    "title",
    "text",
    "priority",
    "foreshadows",
    "about",
    "quest_id",
    "clock_id",
    "on_full",
    "set_up",
    "pay_off",
    "drop",
    "deadline",
    "lasts",
)


class ListThreads(Command):
    """`world_id` is left out where the envelope names a session. `status` keeps only those that stand so."""

    world_id: str = ""
    status: ThreadStatus | None = None


class UpdateThread(Command):
    """What is not given stays. A `thread_id` that is not there yet makes a thread; it needs a `title`.

    `status` moves it, in a play, by hand, and `why` says why. In a play, of a thread that its world has, only `status`,
    `priority` and `deadline` can be set.
    """

    world_id: str = ""
    thread_id: str
    status: ThreadStatus | None = None
    why: str = Field(default="", max_length=LONGEST_REASON)
    title: Name | None = None
    text: AgendaText | None = None
    priority: int | None = Field(default=None, ge=1, le=5)
    foreshadows: bool | None = None
    about: list[Id] | None = Field(default=None, max_length=20)
    quest_id: Id | None = None
    clock_id: Id | None = None
    on_full: OnFull | None = None
    set_up: QuestRule | None = None
    pay_off: QuestRule | None = None
    drop: QuestRule | None = None
    deadline: Moment | None = None
    lasts: Minutes | None = None


class ThreadView(View):
    """A thread as it is written, and where it stands. `owed` says that it foreshadows something that is neither paid
    nor dropped yet; `urgency` is how much it asks for its turn, from 0 to 1. `moves` are the turns that moved it: the
    first set it up, and of one that is resolved the last paid it off. `own` says that the play made it itself."""

    optional = frozenset(
        {"deadline", "quest_id", "clock_id", "set_up", "pay_off", "drop", "lasts", "own", "about", "foreshadows"}
    )
    type: Literal["thread"] = "thread"
    thread_id: str
    title: str
    text: str
    status: ThreadStatus
    priority: int
    urgency: float
    owed: bool
    foreshadows: bool = False
    about: list[str] = []
    quest_id: str | None = None
    clock_id: str | None = None
    on_full: OnFull
    set_up: QuestRule | None = None
    pay_off: QuestRule | None = None
    drop: QuestRule | None = None
    deadline: int | None = None
    lasts: int | None = None
    moves: list[ThreadMove]
    own: bool = False


class ThreadsListed(View):
    """Threads, the most urgent first, and the arc that follows from them and from the clocks."""

    may_be_large = True
    type: Literal["threads_listed"] = "threads_listed"
    minute: int
    arc: Arc
    threads: list[ThreadView]


@allowed("author")
async def list_threads(house: House, actor: Actor, session_id: str | None, command: ListThreads) -> ThreadsListed:
    """Lists the plot threads of a world, or of a play as they stand at its head, with its arc and tension."""
    async with house.store.reading() as unit:
        if session_id is None:
            world = await WORLDS.get(unit, command.world_id)
            threads, clocks, minute = world.threads, world.clocks, world.minute
            off_screen = OffScreen(minute=minute)
        else:
            _, state = await head_state(unit, actor, session_id)
            setup = await setup_of(house, unit, session_id, state)
            off_screen, minute = begun(state, setup), state.minute
            threads, clocks = off_screen.all_threads(setup.threads), off_screen.all_clocks(setup.clocks)
    stand = [standing(one, off_screen.threads) for one in threads]
    own = {one.thread_id for one in off_screen.own_threads}
    views = [_view(one, now, minute, own=one.thread_id in own) for one, now in zip(threads, stand, strict=True)]
    shown = [one for one in views if command.status in (None, one.status)]
    return ThreadsListed(
        minute=minute,
        arc=arc_of(stand, clocks, minute),
        threads=sorted(shown, key=lambda one: (-one.urgency, -one.priority)),
    )


@allowed("author")
async def update_thread(house: House, actor: Actor, session_id: str | None, command: UpdateThread) -> ThreadView:
    """Writes a plot thread into a world, or moves it in a play by hand."""
    if session_id is None:
        return await _write_thread(house, command)

    async def change(at: AtHead) -> tuple[Amendment, ThreadView]:
        setup = await setup_of(house, at.looking, session_id, at.state)
        off_screen = begun(at.state, setup)
        is_own = not any(one.thread_id == command.thread_id for one in setup.threads)
        thread, own = _thread_in_play(command, off_screen, setup.threads, is_own=is_own)
        clocks = frozenset(one.clock_id for one in off_screen.all_clocks(setup.clocks))
        refuse(thread_problems([*setup.threads, *own], clocks), "thread")
        now = _moved(command, thread, standing(thread, off_screen.threads), at.state)
        threads = {**off_screen.threads, thread.thread_id: now}
        after = off_screen.model_copy(update={"threads": threads, "own_threads": own})
        state = at.state.model_copy(update={"off_screen": after})
        return Amendment(state=state), _view(thread, now, state.minute, own=is_own)

    return (await amend(house, actor, session_id, change))[1]


async def _write_thread(house: House, command: UpdateThread) -> ThreadView:
    if command.status is not None:
        raise InvalidRequest("A thread of a world stands nowhere: it moves in plays. Name a session to move it there.")
    async with house.store.writing() as unit:
        world = await WORLDS.get(unit, command.world_id)
        thread = _written(command, next((one for one in world.threads if one.thread_id == command.thread_id), None))
        threads = _with(world.threads, thread)
        refuse(thread_problems(threads, frozenset(one.clock_id for one in world.clocks)), "thread")
        await WORLDS.put(unit, world.world_id, world.model_copy(update={"threads": threads}))
    return _view(thread, standing(thread, {}), world.minute)


def _thread_in_play(
    command: UpdateThread, off_screen: OffScreen, written: Sequence[PlotThread], *, is_own: bool
) -> tuple[PlotThread, list[PlotThread]]:
    """The thread that a command names, and the play's own threads after it."""
    if is_own:
        known = next((one for one in off_screen.own_threads if one.thread_id == command.thread_id), None)
        thread = _written(command, known)
        return thread, _with(off_screen.own_threads, thread)
    asked = [name for name in WRITTEN if getattr(command, name) is not None and name not in MOVING]
    if asked:
        raise InvalidRequest(
            f"The thread '{command.thread_id}' is the world's own: in a play only {', '.join(MOVING)} can be set, "
            f"and not {', '.join(asked)}. Change it in the world instead, without a session."
        )
    thread = next(one for one in written if one.thread_id == command.thread_id)
    return thread, off_screen.own_threads


def _written(command: UpdateThread, before: PlotThread | None) -> PlotThread:
    if before is not None:
        return outside_value(PlotThread, changed(before, command, *WRITTEN), "The thread")
    given: dict[str, Any] = {name: value for name in WRITTEN if (value := getattr(command, name)) is not None}
    named = {**given, "thread_id": checked_new_name(command.thread_id, "thread")}
    if "title" not in given:
        raise InvalidRequest(f"There is no thread named '{command.thread_id}' here, and a new one needs a title.")
    return outside_value(PlotThread, named, "The thread")


def _with(threads: Sequence[PlotThread], thread: PlotThread) -> list[PlotThread]:
    if any(one.thread_id == thread.thread_id for one in threads):
        return [thread if one.thread_id == thread.thread_id else one for one in threads]
    return [*threads, thread]


def _moved(command: UpdateThread, thread: PlotThread, now: ThreadNow, state: PlayState) -> ThreadNow:
    """Where a thread stands after it was moved by hand; one that is new and is not said to wait is open."""
    given = {name: value for name in ("priority", "deadline") if (value := getattr(command, name)) is not None}
    now = now.model_copy(update=given)
    is_new = now.status == "waiting" and not now.moves and thread.set_up is None and thread.quest_id is None
    status = command.status or ("open" if is_new else None)
    if status is None or (status == now.status and not command.why):
        return now
    move = ThreadMove(
        status=status,
        turn_index=state.snapshot.turn_index,
        minute=state.minute,
        why=command.why or "It was moved by hand.",
    )
    return now.moved(move)


def _view(thread: PlotThread, now: ThreadNow, minute: int, *, own: bool = False) -> ThreadView:
    shown = {name: getattr(thread, name) for name in PlotThread.model_fields if name in ThreadView.model_fields}
    stands = {
        "status": now.status,
        "priority": now.priority,
        "deadline": now.deadline,
        "moves": now.moves,
        "urgency": urgency(now, minute),
        "owed": thread.foreshadows and now.is_live,
    }
    return ThreadView(**{**shown, **stands}, own=own)
