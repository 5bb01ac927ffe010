"""The one place that chooses adapters and builds the House from the settings."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from fabula.actions.audit_notes import VIOLATIONS_A_MINUTE
from fabula.actions.house import House
from fabula.actions.library.apis import secret_name
from fabula.actions.library.builtins import set_out_builtins
from fabula.actions.npcs.address_npc import GAME_API_ID
from fabula.actions.npcs.left_turns import settle_left_turns
from fabula.actions.periodic_jobs import periodic_jobs
from fabula.actions.setups.play_setup import PlaySetups
from fabula.actions.turns.turn_runner import adopt_old_turns
from fabula.actions.work.owners import owner_name
from fabula.actions.work.periodic import Scheduler
from fabula.actions.work.work_runner import MOST_TAKEN_UP, WorkRunner
from fabula.actions.work_kinds import work_kinds
from fabula.adapters.bus import open_bus, open_feeds
from fabula.adapters.embedders import open_embedder
from fabula.adapters.group_commit import GroupCommit
from fabula.adapters.limits import open_limits
from fabula.adapters.models.address_policy import policy_of
from fabula.adapters.models.clients import open_models
from fabula.adapters.queues import open_queue
from fabula.adapters.stores import sql_store
from fabula.adapters.stores.checkpoints import StoreCheckpoints
from fabula.adapters.traces import open_export
from fabula.adapters.traces.writer import TraceWriter
from fabula.adapters.world import SystemClock, UlidIds
from fabula.formats.json_bounds import DEEPEST, bounds_problem
from fabula.loops.turns.turn_state_cache import TurnStateCache
from fabula.ports.bus import Bus
from fabula.ports.errors import InvalidParams
from fabula.ports.feeds import Feeds
from fabula.ports.meters import (
    MODEL_CALL_SECONDS,
    MODEL_CALLS,
    MODEL_ERRORS,
    MODEL_FIRST_PIECE_SECONDS,
    MODEL_TOKENS,
    Meters,
)
from fabula.ports.models import CallRecord
from fabula.ports.queue import Announcement, Queue
from fabula.ports.store import Store, Unit
from fabula.ports.throttle import Throttle
from fabula.ports.work import QueueName
from fabula.ports.world import Clock
from fabula.settings import Settings
from fabula.story.events import Told, decode_event, encode_event, event_weight
from fabula.story.feed_events import FeedNote, decode_feed_event, encode_feed_event
from fabula.story.values import JsonObject

if TYPE_CHECKING:
    from fabula.adapters.stores.store import SqlStore

log = logging.getLogger("fabula.models")

KEY_REMEMBERED_S = 2.0


ANNOUNCEMENT_LIMIT_S = 1200.0
"""Longer than any work may take by its own deadline: what takes longer than this hangs."""


@dataclass(frozen=True, kw_only=True)
class WorkerPart:
    """What a worker listens to, and how many pieces of work it does at once."""

    queues: tuple[QueueName, ...]
    concurrency: int


@asynccontextmanager
async def open_house(
    settings: Settings,
    *,
    tends_turns: bool = False,
    worker: WorkerPart | None = None,
    begins_periodic: bool = False,
    store: SqlStore | None = None,
    machine_clock: Clock | None = None,
) -> AsyncIterator[House]:
    """A house that is ready: the store is at its newest revision and the built-ins are set out.

    A process that stays `tends_turns`: it takes up those that others left behind. A short command must not. A `worker`
    does what the queues tell it. Periodic work is begun by one that `begins_periodic`, and by a server without a
    broker. A test may bring a store of its own, which is not open yet, and a clock that is wrong.
    """
    machine: Clock = machine_clock or SystemClock()
    async with AsyncExitStack() as closing:
        if store is None and settings.database_url:
            clock, store = await _open_shared_store(settings, machine, closing)
        else:
            clock, store = machine, store or sql_store(settings, machine)
            await store.open()
            closing.push_async_callback(store.close)
        checkpoints = StoreCheckpoints(store)
        closing.push_async_callback(checkpoints.close)
        policy = policy_of(settings)
        meters = Meters()
        storage = _ModelStorage(store, clock, meters, game_key=settings.openai_api_key)
        keeps = settings.trace_days > 0
        traces = TraceWriter(store=store, clock=clock, meters=meters, keeps=keeps, export=open_export(settings))
        closing.push_async_callback(traces.close)
        trace = traces.put if traces.is_on else None
        models = open_models(settings, clock, storage.read_key, storage, storage.record, trace=trace, policy=policy)
        closing.push_async_callback(models.close)
        bus: Bus[Told] = open_bus(settings, clock, encode=encode_event, decode=read_told, weigh=event_weight)
        closing.push_async_callback(bus.close)
        feeds: Feeds[FeedNote] = open_feeds(settings, encode=encode_feed_event, decode=decode_feed_event)
        closing.push_async_callback(feeds.close)
        limits = open_limits(settings, clock)
        closing.push_async_callback(limits.close)
        owner = owner_name(str(clock.now_ms()))
        queue = open_queue(settings)
        closing.push_async_callback(queue.close)
        work = WorkRunner(
            store=store,
            checkpoints=checkpoints,
            bus=bus,
            queue=queue,
            clock=clock,
            owner=owner,
            meters=meters,
            traces=traces,
        )
        closing.push_async_callback(work.close)
        embedder = open_embedder(settings, clock)
        if embedder is not None:
            closing.push_async_callback(embedder.close)
        house = House(
            settings=settings,
            store=store,
            models=models,
            addresses=policy,
            clock=clock,
            ids=UlidIds(),
            bus=bus,
            feeds=feeds,
            limits=limits,
            checkpoints=checkpoints,
            queue=queue,
            work=work,
            play_setups=PlaySetups(),
            turn_states=TurnStateCache(),
            traces=traces,
            owner=owner,
            opened_at_ms=clock.now_ms(),
            violations=Throttle(clock.monotonic, VIOLATIONS_A_MINUTE),
            meters=meters,
            embedder=embedder,
        )
        await set_out_builtins(house)
        await adopt_old_turns(house)
        settle_left = partial(settle_left_turns, house, opened_at_ms=clock.now_ms())
        most, eager = _taken_up(settings, worker)
        takes_up = tends_turns or worker is not None
        await work.open(
            work_kinds(house),
            takes_up=takes_up,
            chores=[settle_left],
            most=most,
            eager=eager,
            is_told=worker is not None,
        )
        if takes_up:
            await _listen(queue, work, settings, worker)
            # First of all no more announcements are taken, and what was taken may end.
            closing.push_async_callback(queue.close)
        if begins_periodic or (tends_turns and not settings.broker_url):
            scheduler = Scheduler(periodic_jobs(house), store=store, clock=clock, ids=house.ids, runner=work)
            scheduler.start()
            closing.push_async_callback(scheduler.close)
        yield house


async def _open_shared_store(settings: Settings, machine: Clock, closing: AsyncExitStack) -> tuple[Clock, SqlStore]:
    """A store that processes on several machines may share, and the clock that they have in common."""
    from fabula.adapters.stores.database_clock import DatabaseClock, database_now_ms

    clock = DatabaseClock(machine)
    store = sql_store(settings, clock)
    await store.open()
    closing.push_async_callback(store.close)
    await clock.start(partial(database_now_ms, store.database))
    closing.push_async_callback(clock.close)
    return clock, store


def _taken_up(settings: Settings, worker: WorkerPart | None) -> tuple[Mapping[QueueName, int], bool]:
    """How much of each queue a process takes up from the table, and whether it looks as soon as there is room.

    Where there is a broker, servers leave what follows turns to workers, and everyone only sweeps up what no message
    told of.
    """
    if worker is not None:
        return dict.fromkeys(worker.queues, worker.concurrency), False
    if settings.broker_url:
        return {"realtime": MOST_TAKEN_UP["realtime"]}, False
    return MOST_TAKEN_UP, True


async def _listen(queue: Queue, work: WorkRunner, settings: Settings, worker: WorkerPart | None) -> None:
    if worker is not None:
        await queue.listen(worker.queues, work.take, most=worker.concurrency, limit_s=ANNOUNCEMENT_LIMIT_S)
    elif not settings.broker_url:

        async def wake(announcement: Announcement) -> None:
            # Here the runner knows best how much it can do beside the turns that it plays.
            work.wake()

        await queue.listen(tuple(MOST_TAKEN_UP), wake, most=1, limit_s=ANNOUNCEMENT_LIMIT_S)


class _ModelStorage:
    """What the models need of the store: keys, the memo, and a place for records."""

    def __init__(self, store: Store, clock: Clock, meters: Meters | None = None, *, game_key: str) -> None:
        self._store, self._clock, self._game_key = store, clock, game_key
        self._meters = meters or Meters()
        self._replies = GroupCommit(self._keep_replies)

    async def read_key(self, api_id: str) -> str | None:
        """The key of an api as it is stored."""
        if api_id == GAME_API_ID:
            return self._game_key or None
        async with self._store.reading() as unit:
            return await unit.secrets.get(secret_name(api_id))

    async def get(self, key: str) -> JsonObject | None:
        return await self._store.read(lambda unit: unit.memo.get(key))

    async def put(self, key: str, reply: JsonObject) -> None:
        await self._replies.add((key, reply))

    async def _keep_replies(self, replies: list[tuple[str, JsonObject]]) -> None:
        try:
            await self._store.put_replies(dict(reversed(replies)))
        except InvalidParams:
            # One that cannot be kept must fail neither its own call nor those that are kept beside it.
            await self._store.write(lambda unit: _keep_each(unit, replies), durable=False)

    async def record(self, records: Sequence[CallRecord]) -> None:
        for record in records:
            _count(record, self._meters)

        async def keep(unit: Unit) -> None:
            await unit.calls.add(*records)

        await self._store.write(keep, durable=False)


def _count(record: CallRecord, meters: Meters) -> None:
    """Counts a model call; one that was answered from the memo asked no model."""
    meters.add(MODEL_CALLS, record.origin.agent, "memo" if record.memo_hit else record.outcome)
    if record.error_name is not None:
        meters.add(MODEL_ERRORS, record.error_name)
    meters.add(MODEL_TOKENS, "prompt", amount=record.usage.prompt_tokens)
    meters.add(MODEL_TOKENS, "completion", amount=record.usage.completion_tokens)
    if not record.memo_hit:
        meters.observe(MODEL_CALL_SECONDS, record.latency_ms / 1000)
        if record.first_piece_ms is not None:
            meters.observe(MODEL_FIRST_PIECE_SECONDS, record.first_piece_ms / 1000)


async def _keep_each(unit: Unit, replies: Sequence[tuple[str, JsonObject]]) -> None:
    for key, reply in replies:
        try:
            await unit.memo.put(key, reply)
        except InvalidParams as error:
            log.warning("An answer could not be kept: %s", error.message)


def read_told(data: bytes) -> Told:
    """An event that another process told, held to the bounds of requests before it is decoded: somebody else may have
    written it. What a request brought stands deeper in it."""
    if (problem := bounds_problem(data, deepest=2 * DEEPEST)) is not None:
        raise ValueError(problem)
    return decode_event(data)
