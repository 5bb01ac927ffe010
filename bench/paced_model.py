"""A model that says the same sixty tokens to everyone, fifty a second: its own work is as small as can be.

Every frame is encoded once, before the first question, so that a hundred listeners leave the core it runs on half idle.
A prompt for a whole turn (it explains `<update>`) is answered with tags of a scene, all others with one `<say>`.
"""

from __future__ import annotations

import argparse
import asyncio

import orjson
import uvloop
from aiohttp import web
from bench.turn_script import prose

TOKENS = 60
PACE = web.AppKey("pace", float)
FIRST = web.AppKey("first", float)


def scene_tokens(voice: str) -> list[str]:
    """A turn of sixty tokens: two thirds narration, then a character speaks."""
    told = TOKENS * 2 // 3
    return [*_tagged("narration", "", told), *_tagged("dialogue", f' who="{voice}"', TOKENS - told)]


def npc_tokens() -> list[str]:
    """As much, said by one NPC."""
    return _tagged("say", "", TOKENS)


def _tagged(tag: str, attributes: str, length: int) -> list[str]:
    """That many tokens. The tags are parts of the first and last one, so that the first token has a word to show."""
    words = [f"{word} " for word in prose(length).split()]
    return [f"<{tag}{attributes}>{words[0]}", *words[1:-1], f"{words[-1]}</{tag}>"]


def _frame(text: str, finish: str | None = None) -> bytes:
    delta = {"content": text} if text else {}
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    frame = {"id": "c", "object": "chat.completion.chunk", "created": 0, "model": "m", "choices": [choice]}
    return b"data: " + orjson.dumps(frame) + b"\n\n"


SCENE = [_frame(token) for token in scene_tokens("lighthouse-tobias")]
NPC = [_frame(token) for token in npc_tokens()]
USAGE = {"prompt_tokens": 2000, "completion_tokens": TOKENS, "total_tokens": 2000 + TOKENS}
LAST = b"".join((_frame("", "stop"), b"data: ", orjson.dumps({"choices": [], "usage": USAGE}), b"\n\ndata: [DONE]\n\n"))


async def chat(request: web.Request) -> web.StreamResponse:
    """Each token leaves at its moment, counted from the first one, however late the one before was."""
    frames = SCENE if b"<update>" in await request.read() else NPC
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    loop, pace = asyncio.get_running_loop(), request.app[PACE]
    start = loop.time() + request.app[FIRST]
    for number, frame in enumerate(frames):
        await asyncio.sleep(start + number * pace - loop.time())
        await response.write(frame)
    await response.write(LAST)
    return response


async def models(request: web.Request) -> web.Response:
    return web.json_response({"object": "list", "data": [{"id": "m", "object": "model"}]})


def run() -> None:
    """Serves until the process is ended."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--first-token-ms", type=float, default=50.0)
    parser.add_argument("--tokens-per-second", type=float, default=50.0)
    arguments = parser.parse_args()
    app = web.Application(client_max_size=64 * 2**20)
    app[PACE], app[FIRST] = 1 / arguments.tokens_per_second, arguments.first_token_ms / 1000
    app.router.add_post("/v1/chat/completions", chat)
    app.router.add_get("/v1/models", models)
    uvloop.install()
    web.run_app(app, host="127.0.0.1", port=arguments.port, print=None, access_log=None, backlog=2048)


if __name__ == "__main__":
    run()
