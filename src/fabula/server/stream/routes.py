"""The turn stream: `session.run_turn` and its kin answer with it, and `/sessions/{id}/events` resumes it."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from fabula.actions.house import House
from fabula.actions.turns.watch_turn import frames_of, watched_turn
from fabula.ports.actors import Actor
from fabula.ports.errors import FabulaError
from fabula.ports.plays import Turn
from fabula.server.access import actor_of
from fabula.server.json_answers import error_response
from fabula.server.stream.envelope import Envelope
from fabula.server.stream.sse import FrameStream, event


async def turn_response(house: House, actor: Actor, turn: Turn, *, ack: bytes) -> Response:
    """The stream of a turn that a request began, now or when it came before: first the ack, then its frames."""
    watched = await frames_of(house, turn)
    first = event("ack", ack)
    return FrameStream(watched.stream, _envelope(turn, actor), watched.frames, meters=house.meters, first=first)


def _envelope(turn: Turn, actor: Actor) -> Envelope:
    """Frames name the request that began the turn, whoever reads them."""
    return Envelope(request_id=turn.request_id, session_id=turn.session_id, for_player=not actor.sees_plans)


def stream_routes(house: House) -> APIRouter:
    """`GET /sessions/{session_id}/events` with `Last-Event-ID`."""
    router = APIRouter()

    @router.get("/sessions/{session_id}/events")
    async def events(session_id: str, request: Request) -> Response:
        try:
            last_seen = request.headers.get("last-event-id", "")
            actor = actor_of(request.scope)
            watched = await watched_turn(house, actor, session_id, last_seen)
        except FabulaError as error:
            return error_response(error)
        if watched is None:
            return Response(status_code=204)
        return FrameStream(watched.stream, _envelope(watched.turn, actor), watched.frames, meters=house.meters)

    return router
