"""A model whose every token is the moment it was sent, and that notes the moment a client leaves.

Time is the system's monotonic clock, which all processes of a machine share. `GET /left` answers who left and when: the
name is the one the prompt ends with (`What does NAME do?`).
"""

from __future__ import annotations

import argparse
import asyncio
import re
import time

import orjson
from aiohttp import web

_NAME = re.compile(r"What does (\S+) do\?\"")
LEFT = web.AppKey("left", list)
PACE = web.AppKey("pace", float)


async def chat(request: web.Request) -> web.StreamResponse:
    """Opens a `<say>` and sends moments for as long as anybody listens, at most a thousand."""
    body = await request.read()
    found = _NAME.search(body.decode())
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    try:
        await response.prepare(request)
        await _send(response, "<say>")
        for _ in range(1000):
            await asyncio.sleep(request.app[PACE])
            await _send(response, f"{time.monotonic_ns()} ")
        await _send(response, "</say>", "stop")
        await response.write(b"data: [DONE]\n\n")
    except ConnectionResetError:
        request.app[LEFT].append([found[1] if found else "", time.monotonic_ns()])
    except asyncio.CancelledError:
        request.app[LEFT].append([found[1] if found else "", time.monotonic_ns()])
        raise
    return response


async def _send(response: web.StreamResponse, text: str, finish: str | None = None) -> None:
    choice = {"index": 0, "delta": {"content": text}, "finish_reason": finish}
    frame = {"id": "c", "object": "chat.completion.chunk", "created": 0, "model": "m", "choices": [choice]}
    await response.write(b"data: " + orjson.dumps(frame) + b"\n\n")


async def left(request: web.Request) -> web.Response:
    return web.json_response(request.app[LEFT])


async def models(request: web.Request) -> web.Response:
    return web.json_response({"object": "list", "data": [{"id": "m", "object": "model"}]})


def run() -> None:
    """Serves until the process is ended."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--tokens-per-second", type=float, default=50.0)
    arguments = parser.parse_args()
    app = web.Application(client_max_size=64 * 2**20)
    app[LEFT], app[PACE] = [], 1 / arguments.tokens_per_second
    app.router.add_post("/v1/chat/completions", chat)
    app.router.add_get("/v1/models", models)
    app.router.add_get("/left", left)
    web.run_app(
        app, host="127.0.0.1", port=arguments.port, print=None, access_log=None, handler_cancellation=True, backlog=2048
    )


if __name__ == "__main__":
    run()
