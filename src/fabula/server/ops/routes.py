"""Operators' routes: `/healthz` says that the process lives, `/readyz` that it can work, `/metrics` how it goes."""

from __future__ import annotations

import logging

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse, PlainTextResponse
from prometheus_client import CONTENT_TYPE_LATEST

from fabula.actions.house import House
from fabula.ports.errors import FabulaError
from fabula.ports.threads import run_in_thread
from fabula.server.access import actor_of
from fabula.server.error_codes import error_payload, http_status
from fabula.server.ops.disk_space import DiskSpace
from fabula.server.ops.metrics import write_metrics

log = logging.getLogger("fabula.ops")


def ops_routes(house: House) -> APIRouter:
    """The routes for whoever runs the server."""
    router = APIRouter()
    disk = DiskSpace(house.settings.data_folder, least_mib=house.settings.min_free_mib, monotonic=house.clock.monotonic)

    @router.get("/healthz")
    async def healthz() -> PlainTextResponse:
        return PlainTextResponse("ok")

    @router.get("/readyz")
    async def readyz() -> JSONResponse:
        try:
            status = await house.store.status()
        except FabulaError as error:
            log.warning("not ready: %s", error.message)
            return JSONResponse({"status": "not ready", "reason": error.message}, status_code=503)
        if status.engine == "sqlite" and (problem := await disk.problem()) is not None:
            log.warning("not ready: %s", problem)
            return JSONResponse({"status": "not ready", "reason": problem}, status_code=503)
        ready = status.revision == status.newest_revision
        parts = {"store": status.engine, "revision": status.revision}
        return JSONResponse({"status": "ready" if ready else "migrating", **parts}, status_code=200 if ready else 503)

    @router.get("/metrics")
    async def metrics(request: Request) -> Response:
        try:
            actor_of(request.scope).must_be("admin", "/metrics")
        except FabulaError as error:
            return JSONResponse(error_payload(error), status_code=http_status(error))
        # It reads files of the system.
        return Response(await run_in_thread(lambda: write_metrics(house)), media_type=CONTENT_TYPE_LATEST)

    return router
