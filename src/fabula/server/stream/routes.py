"""The turn stream: `session.run_turn` and its kin answer with it, and `/sessions/{id}/events` resumes it."""

from __future__ import annotations

import orjson
from fastapi import APIRouter, Request, Response

from fabula.actions.house import House
from fabula.actions.turns.run_turn import TurnAccepted
from fabula.actions.turns.watch_turn import watched_turn
from fabula.ports.errors import FabulaError
from fabula.ports.plays import Turn
from fabula.server.rpc.envelopes import Request as RpcRequest
from fabula.server.rpc.envelopes import error_payload, write_result
from fabula.server.stream.sse import FrameStream, event

STATUS = {-32600: 400, -32602: 400, -32601: 404, 40303: 403, 40404: 404, 40909: 409}


async def turn_response(house: House, request: RpcRequest, turn: Turn) -> Response:
    """The stream of a turn that was just begun: first the ack, then every frame."""
    source = await house.bus.subscribe(turn.stream)
    assert source is not None
    ack = event("ack", write_result(request, TurnAccepted().as_json()))
    return FrameStream(turn.stream, source, first=ack)


def stream_routes(house: House) -> APIRouter:
    """`GET /sessions/{session_id}/events` with `Last-Event-ID`."""
    router = APIRouter()

    @router.get("/sessions/{session_id}/events")
    async def events(session_id: str, request: Request) -> Response:
        try:
            watched = await watched_turn(house, session_id, request.headers.get("last-event-id", ""))
        except FabulaError as error:
            body = orjson.dumps(error_payload(error))
            return Response(body, status_code=STATUS.get(error.code, 500), media_type="application/json")
        if watched is None:
            return Response(status_code=204)
        return FrameStream(watched.stream, watched.frames)

    return router
