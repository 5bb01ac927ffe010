"""Who comes in by Socket.IO, and as whom: a token in the `auth` payload, or what the guard found out.

A token that is revoked ends its connections within seconds.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from functools import partial
from typing import Any, Final

from socketio.exceptions import ConnectionRefusedError as Refused
from starlette.types import Receive, Scope, Send

from fabula.actions.care.tokens import find_token, is_valid, token_hash
from fabula.actions.house import House
from fabula.ports.actors import Actor
from fabula.ports.errors import Conflict, FabulaError, InvalidRequest
from fabula.ports.meters import REALTIME_CONNECTED
from fabula.server.access.callers import actor_at
from fabula.server.access.refusals import token_needed, token_unknown
from fabula.server.access.seat_routes import LONGEST_TOKEN
from fabula.server.error_codes import error_payload
from fabula.server.json_answers import error_response
from fabula.server.realtime.bounded_server import BoundedServer, checked_body, checked_receive
from fabula.server.realtime.connection import Line, RealtimeConnection
from fabula.server.realtime.events import CLIENT_EVENTS
from fabula.server.siblings import Siblings

log = logging.getLogger("fabula.realtime")

MOST_CONNECTIONS: Final = 64
"""So many connections one caller may have at one server; the operator of a server that asks for no tokens, more."""
MOST_OF_THE_OPERATOR: Final = 1024
SECONDS_BETWEEN_LOOKS_AT_TOKENS: Final = 3.0


class RealtimeDoor:
    """The connections of one server."""

    def __init__(self, house: House, siblings: Siblings | None = None) -> None:
        self._house, self._siblings = house, siblings
        self._server = BoundedServer(on_gone=self._forget, monotonic=house.clock.monotonic, siblings=siblings)
        self._connections: dict[str, RealtimeConnection] = {}
        self._looking: asyncio.Task[None] | None = None
        self._server.on("connect", self._connect)
        for name in CLIENT_EVENTS:
            self._server.on(name, partial(self._hear, name))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        holder = None if self._siblings is None else self._siblings.holder(scope)
        if self._siblings is not None and holder is not None and scope["type"] == "http":
            await self._siblings.pass_on(holder, scope, receive, send)
        elif scope["type"] == "websocket":
            receive = checked_receive(receive, self._house.clock.monotonic)
            await self._server.handle_request(scope, receive, send)
        elif (body := await checked_body(receive, may_be_empty=scope["method"] != "POST")) is not None:
            await self._server.handle_request(scope, body, send)
        else:
            problem = InvalidRequest("This body holds no packets of Socket.IO, or too many of them, or is not whole.")
            await error_response(problem)(scope, receive, send)

    async def _connect(self, sid: str, environ: Any, auth: object) -> None:
        try:
            actor = await self._actor(environ["asgi.scope"], auth)
            self._count_in(actor)
        except FabulaError as error:
            problem = error_payload(error)
            raise Refused(problem["message"], problem) from None
        eio_sid = self._server.manager.eio_sid_from_sid(sid, "/")
        line = Line(
            send=partial(self._server.send_event, eio_sid),
            waiting=partial(self._server.waiting_for, eio_sid),
            is_open=partial(self._server.is_open, eio_sid),
            end=partial(self._server.let_go, eio_sid),
        )
        self._server.know(eio_sid)
        self._connections[eio_sid] = RealtimeConnection(self._house, actor, line)
        self._house.meters.add(REALTIME_CONNECTED)
        if self._looking is None:
            self._looking = asyncio.create_task(self._look_at_tokens())

    async def _actor(self, scope: Scope, auth: object) -> Actor:
        token = auth.get("token") if isinstance(auth, dict) else None
        if token is None or token == "":
            if (actor := actor_at(scope)) is None:
                raise token_needed().error
            return actor
        if not isinstance(token, str) or not 0 < len(token) <= LONGEST_TOKEN:
            raise token_unknown().error
        found = await find_token(self._house, token_hash(token))
        if found is None:
            raise token_unknown().error
        return Actor(role=found.role, token_id=found.token_id)

    def _count_in(self, actor: Actor) -> None:
        counts = Counter(one.actor.token_id for one in self._connections.values())
        most = MOST_OF_THE_OPERATOR if actor.token_id is None else MOST_CONNECTIONS
        if counts[actor.token_id] >= most:
            raise Conflict(f"You have {most} connections open already. Close one of them first.")

    async def _hear(self, event: str, sid: str, data: object = None) -> Any:
        connection = self._connections.get(self._server.manager.eio_sid_from_sid(sid, "/") or "")
        return None if connection is None else await connection.answer(event, CLIENT_EVENTS[event], data)

    def _forget(self, eio_sid: str) -> None:
        if (connection := self._connections.pop(eio_sid, None)) is not None:
            self._house.meters.add(REALTIME_CONNECTED, amount=-1)
            connection.leave()

    async def _look_at_tokens(self) -> None:
        """One look for each token, however many connections it has."""
        while self._connections:
            await asyncio.sleep(SECONDS_BETWEEN_LOOKS_AT_TOKENS)
            for actor in {one.actor.token_id: one.actor for one in self._connections.values()}.values():
                if not await self._may_stay(actor):
                    await self._send_away(actor)
        self._looking = None

    async def _may_stay(self, actor: Actor) -> bool:
        try:
            return await is_valid(self._house, actor)
        except FabulaError as error:
            # A store that is busy for a moment is no reason to send somebody away; the next look comes soon.
            log.warning("a token could not be looked up: %s", error.message)
            return True

    async def _send_away(self, actor: Actor) -> None:
        log.info("the token of a Socket.IO connection was revoked", extra={"facts": {"token_id": actor.token_id}})
        for eio_sid, one in [*self._connections.items()]:
            if one.actor.token_id == actor.token_id:
                one.leave()
                await self._server.send_event(eio_sid, "error", error_payload(token_unknown().error))
                self._server.let_go(eio_sid)
