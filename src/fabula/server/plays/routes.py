"""`POST /api/plays/{session_id}/agent/decision`: a message to a character, answered with what came of it."""

from __future__ import annotations

import orjson
from fastapi import APIRouter, Request, Response

from fabula.actions.decode import decode
from fabula.actions.house import House
from fabula.actions.turns.agent_decision import SayToAgent, say_to_agent
from fabula.formats.json_bounds import bounds_problem, nul_problem
from fabula.ports.errors import FabulaError, InvalidRequest
from fabula.server.access import actor_of
from fabula.server.json_answers import error_response, json_response
from fabula.story.values import JsonObject


def play_routes(house: House) -> APIRouter:
    """The routes of plays."""
    router = APIRouter()

    @router.post("/api/plays/{session_id}/agent/decision", include_in_schema=False)
    async def decide(session_id: str, request: Request) -> Response:
        try:
            command = decode(SayToAgent, _object(await request.body()))
            assert isinstance(command, SayToAgent)
            view = await say_to_agent(house, actor_of(request.scope), session_id, command)
        except FabulaError as error:
            return error_response(error)
        return json_response(orjson.dumps(view.as_json()))

    return router


def _object(body: bytes) -> JsonObject:
    if (problem := bounds_problem(body) or nul_problem(body)) is not None:
        raise InvalidRequest(problem)
    try:
        found = orjson.loads(body)
    except orjson.JSONDecodeError:
        found = None
    if not isinstance(found, dict):
        raise InvalidRequest('Send a JSON object: {"id": "...", "input": "..."}.')
    return found
