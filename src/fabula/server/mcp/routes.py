"""Where the Model Context Protocol is spoken: `POST /mcp`. The SDK is imported when somebody first comes."""

from __future__ import annotations

import asyncio
from importlib import import_module
from typing import Final

import orjson
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from fabula.actions.house import House
from fabula.formats.json_bounds import bounds_problem
from fabula.ports.errors import FabulaError, InvalidRequest
from fabula.ports.threads import run_in_thread
from fabula.server.json_answers import error_response

MCP_PATH: Final = "/mcp"
MOST_VALUES: Final = 10_000
"""The SDK checks a message on the event loop, each of its values, and lists every one that does not fit."""
_PROTOCOL: Final = "fabula.server.mcp.protocol"


def mount_mcp(app: Starlette, house: House) -> None:
    """Adds the door. It has no streams of its own: a client that asks for one with GET is told so (405)."""
    app.router.routes.append(Route(MCP_PATH, _LateDoor(house), methods=["POST"]))


class _LateDoor:
    """Opens the door at the first message: importing the SDK takes half a second, and most servers never need it."""

    def __init__(self, house: House) -> None:
        self._house = house
        self._door: ASGIApp | None = None
        self._opening = asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = await Request(scope, receive).body()
        if (error := _problem(body)) is not None:
            await error_response(error)(scope, receive, send)
            return
        await (self._door or await self._open())(scope, _again(body, receive), send)

    async def _open(self) -> ASGIApp:
        async with self._opening:
            if self._door is None:
                module = await run_in_thread(lambda: import_module(_PROTOCOL))
                self._door = module.McpDoor(self._house)
            return self._door


def _problem(body: bytes) -> FabulaError | None:
    """Why bytes are no message; what is too deep or too many is not decoded at all."""
    if (problem := bounds_problem(body, most=MOST_VALUES)) is not None:
        return InvalidRequest(problem)
    try:
        message = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        return InvalidRequest(f"The body is not JSON: {error}.")
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        return InvalidRequest("Send one message of the Model Context Protocol: a JSON-RPC 2.0 object.")
    return None


def _again(body: bytes, receive: Receive) -> Receive:
    """The body once more, for the SDK; then whatever comes."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return waiting.pop() if waiting else await receive()

    return replay
