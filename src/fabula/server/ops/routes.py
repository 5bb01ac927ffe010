"""Operators' routes: `/healthz` says that the process lives, `/readyz` that it can work, `/metrics` how it goes."""

from __future__ import annotations

import logging

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse, PlainTextResponse
from prometheus_client import CONTENT_TYPE_LATEST

from fabula.actions.care.readiness import readiness
from fabula.actions.followers.outbox import follower_counts
from fabula.actions.house import House
from fabula.ports.errors import FabulaError
from fabula.ports.meters import (
    FOLLOWER_AGE_SECONDS,
    FOLLOWERS,
    METERS,
    MODEL_CALLS_RUNNING,
    PROCESSES,
    READY,
    SHARED,
    Meter,
)
from fabula.ports.threads import run_in_thread
from fabula.ports.throttle import Throttle
from fabula.server.access import actor_of
from fabula.server.access.refusals import LINES_A_MINUTE
from fabula.server.json_answers import error_response
from fabula.server.ops.disk_space import DiskSpace
from fabula.server.ops.metrics import Counts, gather_metrics, write_metrics, write_shared
from fabula.server.siblings import Siblings

log = logging.getLogger("fabula.ops")


OWN = "own"
"""Asked of a process by another one of its port: only its own figures."""


def ops_routes(house: House, siblings: Siblings | None = None) -> APIRouter:
    """The routes for whoever runs the server; `siblings` are processes that share its port."""
    router = APIRouter()
    # Anybody may ask as often as they like, and a disk that is full must not be filled with lines that say so.
    lines = Throttle(house.clock.monotonic, LINES_A_MINUTE)
    # Who waits for a start asks ten times a second: each reason is told once a minute.
    of_reason = Throttle(house.clock.monotonic, 1)
    disk = DiskSpace(house.settings.data_folder, least_mib=house.settings.min_free_mib, monotonic=house.clock.monotonic)

    @router.get("/healthz")
    async def healthz() -> PlainTextResponse:
        return PlainTextResponse("ok")

    @router.get("/readyz")
    async def readyz() -> JSONResponse:
        found = await readiness(house, disk.problem)
        if not found.ready:
            told = found.detail or found.reason or ""
            if of_reason.allows(told) and lines.allows():
                log.warning("not ready: %s", told)
            return JSONResponse({"status": "not ready", "reason": found.reason}, status_code=503)
        return JSONResponse({"status": "ready", "store": found.engine, "revision": found.revision})

    @router.get("/metrics")
    async def metrics(request: Request, process: str = "") -> Response:
        try:
            actor_of(request.scope).must_be("admin", "/metrics")
        except FabulaError as error:
            return error_response(error)
        is_one_of_many = siblings is not None and process == OWN
        seen = await _looked_up(house, disk, shared=not is_one_of_many)
        told: dict[int, bytes] = {}
        if siblings is not None and not is_one_of_many:
            told = await siblings.ask_others(f"/metrics?process={OWN}", request.scope["headers"])
            seen[PROCESSES] = {(): len(told) + 1}

        def write() -> bytes:
            if siblings is None:
                return write_metrics(house, seen)
            own = write_metrics(house, seen, [meter for meter in METERS if meter not in SHARED])
            return own if is_one_of_many else gather_metrics({**told, siblings.own: own}) + write_shared(house, seen)

        # It reads files of the system.
        return Response(await run_in_thread(write), media_type=CONTENT_TYPE_LATEST)

    return router


async def _looked_up(house: House, disk: DiskSpace, *, shared: bool) -> dict[Meter, Counts]:
    """What is not counted but found when somebody asks. With the store away, all else is still told."""
    ready = await readiness(house, disk.problem)
    counts = await follower_counts(house) if shared and ready.ready else []
    now = house.clock.now_ms()
    return {
        READY: {(): float(ready.ready)},
        PROCESSES: {(): 1},
        MODEL_CALLS_RUNNING: {(): house.models.calls_under_way},
        FOLLOWERS: {(one.kind, one.status): one.count for one in counts},
        FOLLOWER_AGE_SECONDS: {(one.kind, one.status): max(0, now - one.oldest_due_at_ms) / 1000 for one in counts},
    }
