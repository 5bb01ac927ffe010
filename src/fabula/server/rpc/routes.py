"""The route of JSON-RPC, and the OpenRPC document beside it."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from functools import cache, partial

import orjson
from fastapi import APIRouter, Request, Response
from starlette.middleware.errors import ServerErrorMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send

from fabula.actions.audit_notes import note_violation
from fabula.actions.house import House
from fabula.actions.turns.run_turn import TurnAccepted
from fabula.actions.views import Nothing, View
from fabula.ports.errors import Denied, FabulaError
from fabula.ports.threads import run_in_thread
from fabula.server.access import actor_of
from fabula.server.access.places import LargeAnswers
from fabula.server.access.rules import MIB
from fabula.server.error_codes import INSIDE, error_payload, http_status, retry_headers
from fabula.server.json_answers import json_response
from fabula.server.rpc.dispatch import answer, note_call, prepare, refusal
from fabula.server.rpc.envelopes import Malformed, read_request, write_error, write_result
from fabula.server.rpc.method import Call, Catalogue, Method
from fabula.server.rpc.openrpc import openrpc_once
from fabula.server.rpc.progress import is_watched, progress_response
from fabula.server.rpc.streams import StreamingMethod
from fabula.server.stream.routes import turn_response
from fabula.story.values import JsonObject

log = logging.getLogger("fabula.rpc")

PATH = "/rpc"
SHORT_BODY = 64 * 1024
"""A longer request is decoded in a thread."""


RpcEndpoint = Callable[[Request], Awaitable[Response]]


class OpenRpcDocument(View):
    """The OpenRPC document, which is the result of `rpc.discover` itself: tools that know OpenRPC read it there."""

    may_be_large = True
    openrpc: str
    info: JsonObject
    methods: list[JsonObject]
    components: JsonObject

    def as_json(self) -> JsonObject:
        """The document as it is: it was made here, and is far larger than anything that is checked and copied."""
        return dict(self)


@cache
def with_discovery(catalogue: Catalogue) -> Catalogue:
    """The catalogue with `rpc.discover`, which describes them all, itself included."""

    async def discover(house: House, command: object, call: Call) -> View:
        # Writing it takes a moment the first time.
        return OpenRpcDocument.model_construct(**await run_in_thread(openrpc_once, whole))  # type: ignore[arg-type]

    whole = Catalogue(
        [
            *catalogue,
            Method(
                name="rpc.discover",
                command=Nothing,
                result=OpenRpcDocument,
                handler=discover,
                role="player",
                summary="Describes every method of this server as an OpenRPC document.",
            ),
        ]
    )
    return whole


def rpc_endpoint(house: House, catalogue: Catalogue) -> RpcEndpoint:
    """What answers `POST /rpc`."""
    max_body, large_answers = house.settings.max_body_mib * MIB, LargeAnswers()

    async def rpc(request: Request) -> Response:
        body = await request.body()
        is_long = len(body) > SHORT_BODY
        parsed = await run_in_thread(read_request, body) if is_long else read_request(body)
        if isinstance(parsed, Malformed):
            body = write_error(parsed.id, error_payload(parsed.error))
            return json_response(body, status=400)
        method, started = catalogue.find(parsed.method), house.clock.monotonic()
        streams = isinstance(method, StreamingMethod)
        actor = actor_of(request.scope)
        try:
            preparing = partial(prepare, catalogue, parsed, actor, max_body=max_body)
            prepared = await run_in_thread(preparing) if is_long else preparing()
            if isinstance(prepared.method, StreamingMethod):
                turn = await prepared.method.begin(house, prepared.command, prepared.call)
                note_call(house, method, parsed, "begun", started, trace_id=turn.turn_id)
                return await turn_response(house, actor, turn, ack=write_result(parsed, TurnAccepted().as_json()))
        except FabulaError as error:
            if isinstance(error, Denied) and method is not None:
                await note_violation(
                    house,
                    caller=actor.role,
                    token_id=actor.token_id,
                    what=method.name,
                    why="role",
                    about=parsed.session_id or "",
                    sentence=error.message,
                )
            note_call(house, method, parsed, error.name, started)
            # A stream that does not begin is refused with the status of its code; other errors are results.
            status = http_status(error) if streams else 200
            return json_response(refusal(parsed, error), status=status, headers=retry_headers(error))
        except Exception:
            log.exception("%s could not begin", parsed.method[:100])
            note_call(house, method, parsed, INSIDE.name, started)
            return json_response(refusal(parsed, INSIDE), status=http_status(INSIDE) if streams else 200)
        if is_watched(prepared):
            return await progress_response(house, prepared)
        if prepared.method.may_answer_at_length:
            async with large_answers.turn_of(actor):
                return json_response(await answer(house, prepared))
        return json_response(await answer(house, prepared))

    return rpc


def rpc_routes(catalogue: Catalogue, rpc: RpcEndpoint) -> APIRouter:
    """`POST /rpc` and `GET /openrpc.json`."""
    router = APIRouter()

    # A plain route: FastAPI's own would look for dependencies and parameters that there are none of, at every call.
    router.add_route(PATH, rpc, methods=["POST"], include_in_schema=False)

    @router.get("/openrpc.json", include_in_schema=False)
    async def document() -> Response:
        return json_response(await run_in_thread(lambda: orjson.dumps(openrpc_once(catalogue))))

    return router


def rpc_first(rpc: RpcEndpoint, app: ASGIApp) -> ASGIApp:
    """The app, past whose routes calls of methods are answered.

    FastAPI's layers look through all routes at every call, and each of them passes on every piece of a turn's stream.
    """

    async def call(scope: Scope, receive: Receive, send: Send) -> None:
        response = await rpc(Request(scope, receive, send))
        await response(scope, receive, send)

    # What nobody expected is answered as everywhere else.
    called = ServerErrorMiddleware(call)

    async def choose(scope: Scope, receive: Receive, send: Send) -> None:
        is_call = scope["type"] == "http" and scope["path"] == PATH and scope["method"] == "POST"
        await (called if is_call else app)(scope, receive, send)

    return choose
