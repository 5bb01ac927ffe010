"""Where Socket.IO is spoken: `/socket.io/`. The library is imported when somebody first comes."""

from __future__ import annotations

import asyncio
from importlib import import_module
from typing import Final
from urllib.parse import parse_qs

from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.types import ASGIApp, Receive, Scope, Send

from fabula.actions.house import House
from fabula.ports.errors import FabulaError, InvalidRequest, NotFound
from fabula.ports.threads import run_in_thread
from fabula.server.access.rules import REALTIME_PATH
from fabula.server.json_answers import error_response
from fabula.server.siblings import Siblings

MOST_FIELDS: Final = 20
_DOOR: Final = "fabula.server.realtime.door"


def mount_realtime(app: Starlette, house: House, siblings: Siblings | None = None) -> None:
    """Adds the door."""
    app.router.routes.append(Mount(REALTIME_PATH.rstrip("/"), app=_LateDoor(house, siblings)))


class _LateDoor:
    """Opens the door at the first request: importing the library takes as long as half the start of a server."""

    def __init__(self, house: House, siblings: Siblings | None) -> None:
        self._house, self._siblings = house, siblings
        self._door: ASGIApp | None = None
        self._opening = asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if (error := _problem(scope)) is not None:
            await error_response(error)(scope, receive, send)
            return
        await (self._door or await self._open())(scope, receive, send)

    async def _open(self) -> ASGIApp:
        async with self._opening:
            if self._door is None:
                module = await run_in_thread(lambda: import_module(_DOOR))
                self._door = module.RealtimeDoor(self._house, self._siblings)
            return self._door


def _problem(scope: Scope) -> FabulaError | None:
    if scope["path"] != REALTIME_PATH:
        return NotFound(f"Socket.IO is spoken at {REALTIME_PATH} alone.")
    try:
        # All of it is read, as the library does: it would find what stands behind any cut.
        query = parse_qs(scope.get("query_string", b"").decode("latin-1"), max_num_fields=MOST_FIELDS)
    except ValueError:
        return InvalidRequest(f"An address of Socket.IO has {MOST_FIELDS} fields at most.")
    if "j" in query:
        # Answers that are scripts would be readable by any page.
        return InvalidRequest("JSONP is not spoken here. Use polling or WebSocket.")
    return None
