"""The House: everything an action may use of the world, passed in as one value."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from fabula.actions.caller_queue import CallerQueue
from fabula.actions.recent_requests import RecentRequests
from fabula.actions.seats.session_seats import SessionSeats
from fabula.actions.setups.compiled_stories import CompiledStories
from fabula.actions.setups.play_setup import PlaySetups
from fabula.actions.setups.scene_titles import SceneTitles
from fabula.actions.setups.sized_covers import SizedCovers
from fabula.actions.work.one_at_a_time import OneAtATime
from fabula.actions.work.queue_lag import QueueLag
from fabula.actions.work.work_runner import WorkRunner
from fabula.loops.npc.ledger import LedgerQueues
from fabula.loops.turns.turn_state_cache import TurnStateCache
from fabula.ports.addresses import Addresses
from fabula.ports.bus import Bus
from fabula.ports.checkpoints import Checkpoints
from fabula.ports.embedder import Embedder
from fabula.ports.feeds import Feeds
from fabula.ports.limits import Limits
from fabula.ports.meters import Meters
from fabula.ports.models import ModelClients
from fabula.ports.queue import Queue
from fabula.ports.store import Store
from fabula.ports.throttle import Throttle
from fabula.ports.traces import TraceLog
from fabula.ports.world import Clock, Ids
from fabula.recall.word_vectors import WordVectors
from fabula.settings import Settings
from fabula.story.events import Told
from fabula.story.feed_events import FeedNote

MOST_EXPORTS_AT_ONCE = 2
"""Each holds a whole play in memory."""
MOST_INK_RUNS_AT_ONCE = 2
"""Each has a thread for as long as a story runs from one stop to the next."""


@dataclass(kw_only=True)
class Warmth:
    """Whether what the first turn needs is loaded: `/readyz` waits for it. Short commands need not load it first."""

    is_warm: bool = True


@dataclass(frozen=True, kw_only=True)
class House:
    """`owner` names this process among those that share the store; `open_feeds` counts the feeds of each token here,
    and `session_seats` has who listens here to each session.

    In `long_texts` waits who has a thread read or write long texts: threads that do so side by side leave the event
    loop few turns. It is entered around that work alone, never around reading from the store. In `canon_questions`
    waits who asks what is known in a large world: thousands of truths are read for each answer. In `ink_runs` waits who
    has a thread run an Ink story, which may take a second: with all threads at them, none is left for anybody else."""

    settings: Settings
    store: Store
    models: ModelClients
    addresses: Addresses
    clock: Clock
    ids: Ids
    bus: Bus[Told]
    feeds: Feeds[FeedNote]
    limits: Limits
    checkpoints: Checkpoints
    queue: Queue
    work: WorkRunner
    play_setups: PlaySetups
    turn_states: TurnStateCache
    traces: TraceLog
    owner: str
    violations: Throttle
    opened_at_ms: int = 0
    warmth: Warmth = field(default_factory=Warmth)
    meters: Meters = field(default_factory=Meters)
    embedder: Embedder | None = None
    word_vectors: WordVectors = field(default_factory=WordVectors)
    open_feeds: Counter[str] = field(default_factory=Counter)
    session_seats: dict[str, SessionSeats] = field(default_factory=dict)
    recent_requests: RecentRequests = field(default_factory=RecentRequests)
    queue_lag: QueueLag = field(default_factory=QueueLag)
    ledger_queues: LedgerQueues = field(default_factory=LedgerQueues)
    following: OneAtATime = field(default_factory=OneAtATime)
    compiled_stories: CompiledStories = field(default_factory=CompiledStories)
    scene_titles: SceneTitles = field(default_factory=SceneTitles)
    sized_covers: SizedCovers = field(default_factory=SizedCovers)
    long_texts: CallerQueue = field(default_factory=CallerQueue)
    canon_questions: CallerQueue = field(default_factory=lambda: CallerQueue(at_once=2))
    ink_runs: CallerQueue = field(default_factory=lambda: CallerQueue(at_once=MOST_INK_RUNS_AT_ONCE))
    exports: CallerQueue = field(default_factory=lambda: CallerQueue(at_once=MOST_EXPORTS_AT_ONCE))
