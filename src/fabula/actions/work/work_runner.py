"""The runner: holds work, renews its lease, runs its kind's function, and writes down how it ended.

1. Work that was begun here with a lease is started at once (`start`); the one who waits for it may leave.
2. Every two seconds the runner looks around: it renews with one statement the leases that run out soon, stops what was
   cancelled or taken over elsewhere, and, in a process that stays, takes up what others left behind.
   A process that listens to a queue also does what an announcement names (`take`).
   What nobody waits for makes room for turns: while one runs here, at most one piece of background work runs beside
   it, and heavy work only when it has waited for long.
3. Work that ended well is done; work that failed is failed, put off or buried, as its kind says. Work that processes
   died with too often is not taken up again.
4. When the process stops, it lets go of what it runs: the next process takes it up at once.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from fabula.actions.work.hold_batch import HoldBatch
from fabula.actions.work.owners import is_dead
from fabula.actions.work.work_events import SILENCE_S, Frames, Known, follow
from fabula.actions.work.work_kind import BadEnd, HeldWork, Run, Sentences, Unheard, WorkKind, doubling, taken_over
from fabula.loops.turns.cut import Cut
from fabula.ports.bus import Bus, Frame
from fabula.ports.checkpoints import Checkpoints
from fabula.ports.errors import (
    BackendError,
    Cancelled,
    FabulaError,
    Interrupted,
    NotFound,
    StoreError,
    StreamError,
    TakenOver,
    error_from,
)
from fabula.ports.meters import TURN_SECONDS, TURNS, WORK, WORK_RUNNING, Meters
from fabula.ports.progress import TellProgress
from fabula.ports.queue import Announcement, Queue
from fabula.ports.store import Store, Unit
from fabula.ports.traces import TraceLog, WorkTrace, trace_task
from fabula.ports.work import QUEUES, Lease, NewWork, QueueName, Work
from fabula.ports.world import Clock
from fabula.story.error_values import ErrorValue
from fabula.story.events import Completed, Failed, Progress, Told
from fabula.story.values import JsonObject

log = logging.getLogger("fabula.work")

LEASE_S = 15.0
"""So long, at most, does anything wait for a process that died on another machine."""
RENEW_BELOW_S = 10.0
LOOK_EVERY_S = 2.0
LOOK_BETWEEN_TURNS_S = 0.25
"""At most so often does it look while turns are played here, however often it is woken: what follows many turns is
found with one look."""
LOOK_WHEN_IDLE_S = 0.02
"""While no turn is played here, what followed them is caught up with: nobody else wants the processor."""
MOST_TAKEN_UP: Mapping[QueueName, int] = {"realtime": 32, "background": 4, "heavy": 1}
"""How much work of each queue, taken up from the table, runs here at once."""
WAITS_FOR_TURNS_S = 5.0
"""So long, at most, does heavy work wait because turns are played."""
LONGEST_WAIT_S = 4.0
"""So long, at most, after the store is back does anyone wait for how work ended."""
KEPT_MS = 7 * 24 * 3600 * 1000
"""Work that ended is remembered for a week, so that a late repeat is still known as one."""

CHORES_EVERY_S = 600.0
PART, MOST_PARTS = 500, 40
"""How much old work is forgotten in one unit, and in how many at a time."""

Chore = Callable[[], Awaitable[object]]

LEFT_TO_NEWER_S = doubling(first_s=1, longest_s=60)
"""For so long, work of a newer version is left to the processes of that version after each look: one that is free takes
it soon, and where there is none it is looked at ever more rarely."""

GOES_ON = "This is not over: a server goes on with it, now or when one starts. Look again in a moment."
STOPPED = "The server stopped before the work was done. Send the same again to go on."


@dataclass(kw_only=True)
class RunningWork:
    """Work that runs here. Its task answers the error with which the attempt failed, if it did."""

    held: HeldWork
    task: asyncio.Task[FabulaError | None]
    lease_until_ms: int
    taken_up: bool
    started: float
    goes_on_with: list[str] = field(default_factory=list)
    """What it began and this process does as well: whoever has it done waits for that, too."""

    def outcome(self) -> str:
        """How the attempt ended; one that was stopped is ended, or goes on, elsewhere."""
        if self.task.cancelled():
            return "stopped"
        return "done" if self.task.exception() is None and self.task.result() is None else "failed"


@dataclass(frozen=True, kw_only=True)
class WatchedWork:
    """The events of a piece of work, and the name of their stream."""

    stream: str
    frames: Frames


async def _goes_on(unit: Unit, thread: str) -> bool:
    """Whether a loop is still wanted: its work is open, or it is that of a play, which sleeps between scenes."""
    work = await unit.work.get(thread)
    if work is not None:
        return work.is_open
    play = await unit.plays.get(thread)
    return play is not None and play.status == "open"


class WorkRunner:
    """Runs the work of one process. `owner` names this process among those that share the store."""

    def __init__(
        self,
        *,
        store: Store,
        checkpoints: Checkpoints,
        bus: Bus[Told],
        queue: Queue,
        clock: Clock,
        owner: str,
        meters: Meters | None = None,
        traces: TraceLog | None = None,
    ) -> None:
        self._store, self._checkpoints, self._bus, self._clock, self.owner = store, checkpoints, bus, clock, owner
        self._meters, self._traces = meters or Meters(), traces
        self._queue = queue
        self._holds = HoldBatch(self._hold_these)
        self._kinds: Mapping[str, WorkKind] = {}
        self._calls_only: list[str] = []
        self._most: Mapping[QueueName, int] = {}
        self._is_eager = True
        self._is_told = False
        self._chores: Sequence[Chore] = ()
        self._running: dict[str, RunningWork] = {}
        self._woken = asyncio.Event()
        self._looking: asyncio.Task[None] | None = None
        self._closed = False

    async def open(
        self,
        kinds: Mapping[str, WorkKind],
        *,
        takes_up: bool,
        chores: Sequence[Chore] = (),
        most: Mapping[QueueName, int] = MOST_TAKEN_UP,
        eager: bool = True,
        is_told: bool = False,
    ) -> None:
        """Begins to look around. A process that stays `takes_up` what others left behind; a short command does not.

        A process that stays also does the `chores` from time to time. It takes work only of the queues that `most`
        names, at most so much of each at once. One that is `eager` looks again as soon as something has ended; where
        announcements come over a broker that would only find what another process was just told of. One that `is_told`
        does what announcements name (`take`), and what that begins at once, without a message to itself.
        """
        self._kinds, self._most, self._is_eager, self._is_told = kinds, most, eager, is_told
        self._chores = chores
        self._calls_only = [name for name, kind in kinds.items() if kind.run is None]
        if takes_up:
            await self.take_up()
        self._looking = asyncio.create_task(self._look_around(takes_up=takes_up))

    async def close(self) -> None:
        """Lets go of everything, so that the next process takes it up at once."""
        self._closed = True
        if self._looking is not None:
            self._looking.cancel()
            await asyncio.wait([self._looking])
        stopped = list(self._running.values())
        for running in stopped:
            await _stop(running)
        if stopped:
            await self._let_go(stopped)

    def lease(self) -> Lease:
        """The lease of work that this process begins or takes up now."""
        return Lease(owner=self.owner, until_ms=self._clock.now_ms() + round(LEASE_S * 1000))

    def wake(self) -> None:
        """Looks at once for what waits to be taken up."""
        self._woken.set()

    def announce(self, *begun: Work | NewWork) -> None:
        """Tells whoever listens that work was begun that waits to be taken up. Called after its transaction."""
        self._queue.announce(
            [
                Announcement(work_id=work.work_id, queue=kind.queue, priority=kind.priority, trace_id=work.trace_id)
                for work in begun
                if (kind := self._kinds.get(work.kind)) is not None
            ]
        )

    async def take(self, announcement: Announcement) -> None:
        """Does the work that is announced, to its end. There is nothing to do where it is done, held or not due."""
        if self._closed or announcement.work_id in self._running:
            return
        held = await self._holds.hold(announcement.work_id)
        if held is None:
            return
        kind = self._kinds.get(held.kind)
        if kind is None or kind.run is None:
            # A newer version knows what this is; its processes take it up.
            await self._store.write(lambda unit: unit.work.let_go(held))
            return
        await self._begin_again(held)
        running = self._running.get(held.work_id)
        await self.wait(held.work_id)
        for work_id in [] if running is None else running.goes_on_with:
            await self.wait(work_id)

    def lease_for(self, kind: str) -> Lease | None:
        """A lease for work of a kind that is begun by work which runs here, if this process does it at once (`go_on`).

        It does what is of its own queues: a message to itself would cost more than most of this work.
        """
        return self.lease() if self._is_told and self._kinds[kind].queue in self._most else None

    async def go_on(self, begun_by: Work, begun: Sequence[Work]) -> None:
        """Does what was just begun with a lease from `lease_for`, and announces what is due and nobody holds."""
        here = [one for one in begun if (one.owner, one.status) == (self.owner, "running")]
        running = self._running.get(begun_by.work_id)
        for work in here:
            # What was there before is done by whoever began it.
            if work.work_id not in self._running and work.attempt == 1:
                await self.start(work, taken_up=True)
                if running is not None:
                    running.goes_on_with.append(work.work_id)
        self.announce(*(one for one in begun if one.status == "waiting" and one.due_at_ms <= self._clock.now_ms()))

    async def _hold_these(self, work_ids: list[str]) -> list[Work]:
        return await self._store.write(lambda unit: unit.work.hold_these(work_ids, self.lease()), durable=False)

    async def start(self, work: Work, run: Run | None = None, *, taken_up: bool = False) -> HeldWork:
        """Runs work that this process holds, with its kind's function unless the caller has more at hand."""
        held = await self._held(work)
        run = run or self._kinds[work.kind].run
        assert run is not None, f"the call that began {work.kind} brings its function"
        attempt = self._run(held, run)
        task = asyncio.create_task(attempt, name=trace_task(work.trace_id or work.work_id))
        running = RunningWork(
            held=held,
            task=task,
            lease_until_ms=work.lease_until_ms,
            taken_up=taken_up,
            started=self._clock.monotonic(),
        )
        self._running[work.work_id] = running
        self._meters.add(WORK_RUNNING, work.kind)
        task.add_done_callback(lambda _: self._forget_running(running))
        return held

    async def _held(self, work: Work) -> HeldWork:
        unwatched = self._kinds[work.kind].unwatched
        sender = Unheard() if unwatched else await self._bus.open(work.stream)
        return HeldWork(work=work, sender=sender, cut=Cut(asked=work.cut_asked))

    def _forget_running(self, running: RunningWork) -> None:
        self._count_end(running)
        if self._is_eager and (running.taken_up or running.held.work.kind == "turn"):
            # There may be more of it, and a turn that is over makes room.
            self.wake()
        work_id = running.held.work.work_id
        if self._running.get(work_id) is running:
            del self._running[work_id]

    def _count_end(self, running: RunningWork) -> None:
        kind, outcome = running.held.work.kind, running.outcome()
        self._meters.add(WORK_RUNNING, kind, amount=-1)
        self._meters.add(WORK, kind, outcome)
        took_s = self._clock.monotonic() - running.started
        if kind == "turn":
            self._meters.add(TURNS, outcome)
            self._meters.observe(TURN_SECONDS, took_s)
        else:
            self._trace(running, outcome, took_s)
        if log.isEnabledFor(logging.DEBUG):
            work = running.held.work
            facts = {"kind": kind, "work_id": work.work_id, "trace_id": work.trace_id or None, "outcome": outcome}
            log.debug("work ended", extra={"facts": {**facts, "ms": round(took_s * 1000, 1)}})

    def _trace(self, running: RunningWork, outcome: str, took_s: float) -> None:
        """Notes work in the trace of the turn that caused it."""
        work = running.held.work
        if self._traces is None or not work.trace_id:
            return
        failure = running.task.result() if outcome == "failed" and running.task.exception() is None else None
        self._traces.put(
            WorkTrace(
                turn_id=work.trace_id,
                work_id=work.work_id,
                kind=work.kind,
                attempt=work.attempt,
                began_at_ms=self._clock.now_ms() - round(took_s * 1000),
                took_ms=round(took_s * 1000),
                outcome=outcome,
                problem=None if failure is None else failure.message,
            )
        )

    @property
    def kinds(self) -> Sequence[str]:
        """The names of all kinds of work that this version knows."""
        return tuple(self._kinds)

    def find(self, work_id: str) -> RunningWork | None:
        return self._running.get(work_id)

    def ids(self) -> list[str]:
        """What runs here."""
        return list(self._running)

    async def wait(self, work_id: str) -> None:
        """Waits until work that runs here has ended, however it ends."""
        running = self._running.get(work_id)
        if running is not None:
            await asyncio.wait([running.task])

    async def result_of(self, work_id: str, heard: Callable[[Frame[Told]], None] = lambda _: None) -> JsonObject:
        """Waits for work to end, here or elsewhere, and answers its result; raises the error with which it failed."""
        running = self._running.get(work_id)
        has_ended = False
        while not has_ended and not self._closed:
            async for frame in (await self.watch(work_id)).frames:
                has_ended = frame.last
                if not has_ended:
                    heard(frame)
        if running is not None:
            await asyncio.wait([running.task])
            failure = None if running.task.cancelled() else running.task.result()
            if failure is not None:
                raise failure
        if self._closed:
            raise StreamError(STOPPED)
        work = await self._store.read(lambda unit: unit.work.get(work_id))
        if work is None or work.is_open:
            raise StreamError(STOPPED)
        if work.status != "done":
            raise Cancelled(self._sentences(work).cancelled) if work.error is None else error_from(work.error)
        return work.result or {}

    async def watch(self, work_id: str, *, stream: str = "", after: int = -1) -> WatchedWork:
        """The events of work after one that was seen of this stream, wherever it runs.

        Of work whose events are forgotten only the end is told. Without a last event they end where another process
        took the work up.
        """
        work = await self._store.read(lambda unit: unit.work.get(work_id))
        if work is None:
            raise NotFound(f"There is no work named '{work_id}', or it ended long ago.")
        # Work that was taken up again is told anew: what was seen of its first attempt does not count.
        seen = after if stream in ("", work.stream) else -1
        live = await self._bus.subscribe(work.stream, after=seen)
        # Of work that is over the bus may lack the last event, and then the store is asked.
        if live is not None and work_id in self._running and work.owner == self.owner:
            return WatchedWork(stream=work.stream, frames=live)

        async def look() -> Known:
            now = await self._store.read(lambda unit: unit.work.get(work_id)) or replace(work, status="cancelled")
            ending = None if now.is_open else await self._last_event(now)
            return Known(stream=now.stream, ending=ending, may_cross=self._may_cross(now))

        followed = follow(work.stream, live, after=seen, bus=self._bus, clock=self._clock, look=look)
        return WatchedWork(stream=work.stream, frames=followed)

    def _may_cross(self, work: Work) -> bool:
        """Whether events of work that ended now may still be on their way here, from another process that lives."""
        is_recent = self._clock.now_ms() < work.updated_at_ms + round(SILENCE_S * 1000)
        return is_recent and work.owner not in ("", self.owner) and not is_dead(work.owner, seen_by=self.owner)

    async def cancel(self, work_id: str, error: ErrorValue | None = None) -> bool:
        """Ends work that waits or runs, wherever that is; False when it had ended before."""
        work = await self._store.read(lambda unit: unit.work.get(work_id))
        if work is None or not await self._write_bad_end(work, "cancelled", error):
            return False
        await self.stop(work_id)
        await self._forget_checkpoints(work)
        return True

    async def cut(self, work_id: str) -> bool:
        """Asks work to end early with what was done, wherever it runs; False when it had ended before.

        Work that another process holds learns of it when that process next looks around.
        """
        if not await self._store.write(lambda unit: unit.work.ask_cut(work_id)):
            return False
        running = self._running.get(work_id)
        if running is not None:
            running.held.cut.ask()
        return True

    async def stop(self, work_id: str) -> None:
        """Stops work that was ended by someone else's transaction, if it runs here, and tells those who watch."""
        running = self._running.get(work_id)
        if running is not None:
            await self._release(running)

    async def take_up(self) -> int:
        """Takes up work that is due or was left behind, as much as there is room for; answers how much."""
        kinds = {queue: some for queue in QUEUES if queue in self._most and (some := self._kinds_of(queue))}

        async def look(unit: Unit) -> tuple[list[str], list[Work | None]]:
            gone = self._dead_among(await unit.work.owners())
            return gone, await unit.work.first_due(list(kinds.values()), gone=gone)

        gone, first = await self._store.read(look)
        due = {queue: oldest for queue, oldest in zip(kinds, first, strict=True) if oldest is not None}
        return sum([await self._take_up_of(queue, kinds[queue], oldest, gone) for queue, oldest in due.items()])

    def _kinds_of(self, queue: QueueName) -> list[str]:
        return [name for name, kind in self._kinds.items() if kind.run is not None and kind.queue == queue]

    async def _take_up_of(self, queue: QueueName, kinds: Sequence[str], oldest: Work, gone: Sequence[str]) -> int:
        taken = sum(one.taken_up and self._kinds[one.held.work.kind].queue == queue for one in self._running.values())
        room = min(self._most[queue] - taken, self._room_beside_turns(queue, oldest, taken))
        if room <= 0:
            return 0

        async def hold(unit: Unit) -> list[Work]:
            # A busy process may wait for the store for longer than its leases last: what runs here was not left behind.
            await unit.work.extend(list(self._running), self.lease())
            return await unit.work.hold_due(kinds, self.lease(), gone=gone, limit=room)

        held = await self._store.write(hold)
        for work in held:
            await self._begin_again(work)
        return len(held)

    def _room_beside_turns(self, queue: QueueName, oldest: Work, taken: int) -> int:
        """How much more may be taken up while turns are played here."""
        if queue == "realtime" or not self._plays_turns():
            return self._most[queue]
        waited_s = (self._clock.now_ms() - oldest.due_at_ms) / 1000
        return 1 - taken if queue == "background" or waited_s > WAITS_FOR_TURNS_S else 0

    def _plays_turns(self) -> bool:
        return any(one.held.work.kind == "turn" for one in self._running.values())

    async def gone(self) -> list[str]:
        """The owners of work whose processes are known to be dead."""
        return self._dead_among(await self._store.read(lambda unit: unit.work.owners()))

    def _dead_among(self, owners: Iterable[str]) -> list[str]:
        return [owner for owner in owners if is_dead(owner, seen_by=self.owner)]

    async def _begin_again(self, work: Work) -> None:
        older = self._running.get(work.work_id)
        if older is not None:
            await _stop(older)
            # The new attempt has a stream of its own: whoever listens to the old one would wait for ever.
            await older.held.sender.close()
        kind = self._kinds[work.kind]
        # Of damaged work the run says what is wrong with it, and whether a newer version can do it.
        if work.is_damaged or work.tries <= kind.most_attempts:
            await self.start(work, taken_up=True)
            return
        held = await self._held(work)
        await self._end_badly(held, Interrupted(kind.sentences.worn_out, hint=kind.sentences.hint))

    async def _run(self, held: HeldWork, run: Run) -> FabulaError | None:
        """One attempt, to its end. One that is cancelled is ended, or let go, by who cancelled it."""
        failure = await self._attempt(held, run)
        if failure is not None:
            await self._end_badly(held, failure)
        return failure

    async def _attempt(self, held: HeldWork, run: Run) -> FabulaError | None:
        """Runs the function. This is a door: what nobody expected is logged once, here."""
        work = held.work
        if work.is_damaged and work.error is not None:
            log.warning("%s", work.error.message)
            return error_from(work.error)
        try:
            async with asyncio.timeout(self._kinds[work.kind].deadline_s):
                result = await run(held)
            if result is not None:
                await self._write(lambda unit: unit.work.finish(work, result))
                await self._tell_end(held)
            await self._forget_checkpoints(work)
        except TimeoutError:
            return BackendError(self._sentences(work).too_long, hint=self._sentences(work).hint)
        except FabulaError as error:
            return error
        except Exception:
            log.exception("%s %s failed.", work.kind, work.work_id)
            return FabulaError(self._sentences(work).broken, hint=self._sentences(work).hint)
        return None

    async def _end_badly(self, held: HeldWork, failure: FabulaError) -> None:
        """Fails, puts off or buries, as the kind says."""
        work, kind, error, is_over = held.work, self._kinds[held.work.kind], failure.value(), False
        # What cannot be read now cannot be read later.
        may_succeed = work.tries < kind.most_attempts and not work.is_damaged
        if work.is_damaged and "version" in error.data:
            # A newer version wrote it; its processes can read it, and that this one looked was no try.
            due = self._clock.now_ms() + round(LEFT_TO_NEWER_S(work.let_go + 1) * 1000)
            await self._write(lambda unit: unit.work.let_go(work, due_at_ms=due))
        elif kind.backoff is not None and may_succeed:
            due = self._clock.now_ms() + round(kind.backoff(work.tries) * 1000)
            await self._write(lambda unit: unit.work.put_off(work, due_at_ms=due, error=error))
        else:
            how: BadEnd = "cancelled" if isinstance(failure, Cancelled) else "failed"
            is_over = await self._write_bad_end(work, how, error)
        await self._tell_end(held)
        if is_over:
            # Last, because it may fail with the store, and whoever listens must not wait for what is only swept up.
            await self._forget_checkpoints(work)

    async def _write_bad_end(self, work: Work, how: BadEnd, error: ErrorValue | None) -> bool:
        """Ends work without success, with all that hangs on it or not at all; False when it had ended, or is lost."""
        kind = self._kinds[work.kind]
        reason = error or Cancelled(kind.sentences.cancelled).value()

        async def end(unit: Unit) -> None:
            if kind.on_failure is not None:
                await kind.on_failure(unit, work.work_id, how, reason)
            if how == "cancelled":
                ended = await unit.work.cancel(work.work_id, reason)
            elif kind.backoff is None:
                ended = await unit.work.fail(work, reason)
            else:
                ended = await unit.work.bury(work, reason)
            if not ended:
                raise taken_over(work)

        try:
            await self._write(end)
        except TakenOver:
            return False
        if kind.on_bad_end is not None:
            kind.on_bad_end(work, how)
        return True

    async def _write(self, change: Callable[[Unit], Awaitable[object]]) -> None:
        """Writes how work ended; while the store cannot be written, it stays held: nobody is told what is not true."""
        wait = 0.5
        while True:
            try:
                await self._store.write(change)
                return
            except StoreError as failure:
                log.warning("How a piece of work ended could not be written down yet: %s", failure.message)
            await self._clock.sleep(wait)
            wait = min(LONGEST_WAIT_S, 2 * wait)

    async def _tell_end(self, held: HeldWork) -> None:
        """Tells those who watch how the work ended; where the store cannot say it now, they are sent away to ask."""
        if self._kinds[held.work.kind].unwatched:
            return
        try:
            work = await self._store.read(lambda unit: unit.work.get(held.work.work_id))
            last = await self._last_event(work or replace(held.work, status="cancelled"))
        except StoreError as error:
            log.warning("How a piece of work ended could not be told: %s", error.message)
            await held.sender.close()
        else:
            held.sender.send(last, last=True)

    async def _last_event(self, work: Work) -> Completed | Failed:
        of_kind = self._kinds[work.kind].last_event
        if work.is_open:
            return Failed(error=TakenOver(GOES_ON).value())
        if of_kind is not None:
            return await of_kind(work.work_id)
        if work.status == "done":
            return Completed(result=work.result or {})
        return Failed(error=work.error or Cancelled(self._sentences(work).cancelled).value())

    def _sentences(self, work: Work) -> Sentences:
        return self._kinds[work.kind].sentences

    async def _forget_checkpoints(self, work: Work) -> None:
        if self._kinds[work.kind].is_loop:
            await self._checkpoints.forget(work.work_id)

    async def _look_around(self, *, takes_up: bool) -> None:
        """Looks after work for as long as the process lives. This is a door: a failure is logged, and waited out."""
        chores_at, swept, looked_at = self._clock.monotonic(), False, 0.0
        kept_at, is_kept = 0.0, False
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK_EVERY_S):
                    await self._woken.wait()
            pause = LOOK_BETWEEN_TURNS_S if self._plays_turns() else LOOK_WHEN_IDLE_S
            await asyncio.sleep(looked_at + pause - self._clock.monotonic())
            looked_at = self._clock.monotonic()
            was_woken = self._woken.is_set()
            self._woken.clear()
            # Each turn that ends wakes it, and leases last: they are not looked after each time.
            if not (is_kept and was_woken) or looked_at >= kept_at + LOOK_EVERY_S:
                kept_at, is_kept = looked_at, await self._look(self._keep_leases)
            # With leases that could not be renewed, it would take its own work for left behind.
            if takes_up and is_kept:
                await self._look(self.take_up)
            # Not at the start, when others wait to be served.
            if takes_up and not swept:
                swept = True
                await self._look(self.sweep_checkpoints)
            if takes_up and self._clock.monotonic() >= chores_at:
                chores_at = self._clock.monotonic() + CHORES_EVERY_S
                for chore in self._chores:
                    await self._look(chore)

    async def _look(self, look: Callable[[], Awaitable[object]]) -> bool:
        try:
            await look()
            return True
        except StoreError as error:
            log.warning("Work could not be looked after: %s", error.message)
        except Exception:
            log.exception("Work could not be looked after.")
        return False

    async def forget_old(self) -> int:
        """Forgets what ended long ago; answers how much."""
        before, all_of_it = self._clock.now_ms() - KEPT_MS, 0

        await self._store.write(lambda unit: unit.work.abandon(self._calls_only, left_before_ms=before))
        # In parts, so that nobody waits long for the store; what is more than all of them is left for the next time.
        for _ in range(MOST_PARTS):
            forgotten = await self._store.write(lambda unit: unit.work.forget(ended_before_ms=before, limit=PART))
            all_of_it += forgotten
            if forgotten < PART:
                break
        return all_of_it

    async def sweep_checkpoints(self) -> int:
        """Removes what loops left behind whose process was killed when their work had ended; answers how many."""
        threads = await self._checkpoints.threads()

        async def ended(unit: Unit) -> list[str]:
            return [thread for thread in threads if not await _goes_on(unit, thread)]

        left = await self._store.read(ended)
        for thread in left:
            await self._checkpoints.forget(thread)
        return len(left)

    async def _keep_leases(self) -> None:
        """Renews, with one statement, the leases that run out soon, and stops what is no longer held."""
        mine = dict(self._running)
        if not mine:
            return
        soon = self._clock.now_ms() + round(RENEW_BELOW_S * 1000)
        short = [id for id, running in mine.items() if running.lease_until_ms < soon]
        if short:
            lease = self.lease()
            await self._store.write(lambda unit: unit.work.extend(short, lease), durable=False)
            for id in short:
                mine[id].lease_until_ms = lease.until_ms

        async def look(unit: Unit) -> tuple[set[str], set[str]]:
            return await unit.work.held_by(self.owner), await unit.work.cuts_asked(self.owner)

        still, to_cut = await self._store.read(look)
        for id in mine.keys() & to_cut:
            mine[id].held.cut.ask()
        for id in mine.keys() - still:
            if not await self._ended_by_itself(mine[id]):
                await self._release(mine[id])

    async def _ended_by_itself(self, running: RunningWork) -> bool:
        """Whether the work has just ended here: its task is about to tell so."""
        held = running.held.work
        work = await self._store.read(lambda unit: unit.work.get(held.work_id))
        if work is None or work.status == "cancelled":
            return False
        return (work.owner, work.attempt) == (held.owner, held.attempt)

    async def _release(self, running: RunningWork) -> None:
        """Stops work that was cancelled, deleted or taken over, and tells those who watch."""
        await _stop(running)
        await self._tell_end(running.held)

    async def _let_go(self, stopped: list[RunningWork]) -> None:
        async def let_go(unit: Unit) -> None:
            for running in stopped:
                await unit.work.let_go(running.held.work)

        try:
            await self._store.write(let_go)
        except StoreError as error:
            log.warning("Work could not be given back: %s", error.message)
        for running in stopped:
            running.held.sender.send(await self._last_event(running.held.work), last=True)


async def _stop(running: RunningWork) -> None:
    """Cancels work and waits until it has let go of everything."""
    running.task.cancel()
    await asyncio.wait([running.task])


def tell_progress(progress: TellProgress) -> Callable[[Frame[Told]], None]:
    """Passes on how far work has come."""

    def heard(frame: Frame[Told]) -> None:
        if isinstance(frame.event, Progress):
            progress(frame.event)

    return heard
