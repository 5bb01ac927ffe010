"""How this server and the work of all servers stand, for whoever runs them from afar."""

from __future__ import annotations

from typing import Literal

import fabula
from fabula.actions.authority import allowed
from fabula.actions.care.readiness import readiness
from fabula.actions.house import House
from fabula.actions.views import Nothing, View
from fabula.ports.actors import Actor
from fabula.ports.meters import GAMES_CONNECTED, STREAMS_OPEN
from fabula.ports.work import WorkCount
from fabula.story.values import Value


class RunningHere(Value):
    """What goes on in the process that answers."""

    turns: int
    work: int
    model_calls: int
    streams: int
    games: int


class WorkState(Value):
    """Work of one kind in one state, of all servers together. `age_ms` is how long ago the oldest was due."""

    kind: str
    state: str
    count: int
    age_ms: int


class ServerStatus(View):
    """`process` names the process that answers; `reason` says why it is not ready."""

    optional = frozenset({"reason"})
    type: Literal["server_status"] = "server_status"
    version: str
    process: str
    started_at_ms: int
    uptime_s: int
    ready: bool
    reason: str | None = None
    store: str
    revision: str
    bus: Literal["local", "postgres", "redis"]
    running: RunningHere
    work: list[WorkState]


@allowed("admin")
async def tell_status(house: House, actor: Actor, command: Nothing) -> ServerStatus:
    """Tells how the server that answers is, and how much work waits, runs or was buried on all of them."""
    found = await readiness(house, _no_problem)
    counts = await house.store.read(lambda unit: unit.work.counts(house.work.kinds))
    now = house.clock.now_ms()
    return ServerStatus(
        version=fabula.__version__,
        process=house.owner,
        started_at_ms=house.opened_at_ms,
        uptime_s=(now - house.opened_at_ms) // 1000,
        ready=found.ready,
        reason=found.reason,
        store=found.engine,
        revision=found.revision,
        bus=_bus(house),
        running=_running(house),
        work=[_state(one, now) for one in counts],
    )


async def _no_problem() -> str | None:
    """The disk is looked at by `/readyz`, which remembers what it saw."""
    return None


def _bus(house: House) -> Literal["local", "postgres", "redis"]:
    if not house.settings.database_url:
        return "local"
    return "redis" if house.settings.redis_url else "postgres"


def _running(house: House) -> RunningHere:
    kinds = [found.held.work.kind for id in house.work.ids() if (found := house.work.find(id)) is not None]
    return RunningHere(
        turns=kinds.count("turn"),
        work=len(kinds),
        model_calls=house.models.calls_under_way,
        streams=int(sum(house.meters.counts(STREAMS_OPEN).values())),
        games=int(sum(house.meters.counts(GAMES_CONNECTED).values())),
    )


def _state(one: WorkCount, now: int) -> WorkState:
    return WorkState(kind=one.kind, state=one.status, count=one.count, age_ms=max(0, now - one.oldest_due_at_ms))
