"""A scripted OpenAI-compatible server on real HTTP: answers, fails and stalls exactly as a test tells it to.

In a test:   async with ModelServer(["Hello."]) as server: ... server.base_url ... server.requests ... server.cancelled
As a process: python -m fabula.testing.model_server --port 9000 --first-token-ms 50 --tokens-per-second 50
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import importlib
import itertools
import json
import re
from dataclasses import dataclass
from types import TracebackType
from typing import assert_never

from aiohttp import web

from fabula.story.values import Json, JsonObject
from fabula.testing.model_script import (
    Behaviour,
    CutMidStream,
    Endless,
    ErrorInStream,
    Fail,
    Garbage,
    Pace,
    Redirect,
    Refuse,
    Say,
    Script,
    Silence,
    chosen,
)

AT_ONCE = Pace()
DONE = b"data: [DONE]\n\n"
_TOKEN = re.compile(r"\S+\s*|\s+")


@dataclass(frozen=True, kw_only=True)
class Received:
    """A request as it came in."""

    path: str
    headers: dict[str, str]
    body: JsonObject


class ModelServer:
    """The server. `requests` lists what came in; `cancelled` counts clients that left before their answer's end."""

    def __init__(
        self,
        script: Script = (),
        *,
        pace: Pace = AT_ONCE,
        models: tuple[str, ...] = ("scripted-small", "scripted-large"),
        host: str = "127.0.0.1",
        port: int = 0,
    ) -> None:
        self.script = script
        self.pace = pace
        self.models = models
        self.requests: list[Received] = []
        self.cancelled = 0
        self.left = asyncio.Event()
        self._host, self._port = host, port
        self._numbers = itertools.count()
        self._closing = False
        self._runner: web.AppRunner | None = None

    @property
    def base_url(self) -> str:
        return f"http://{self._host}:{self._port}/v1"

    @property
    def port(self) -> int:
        return self._port

    async def __aenter__(self) -> ModelServer:
        app = web.Application(client_max_size=64 * 2**20)
        app.router.add_post("/v1/chat/completions", self._chat)
        app.router.add_post("/v1/embeddings", self._embeddings)
        app.router.add_get("/v1/models", self._list_models)
        self._runner = web.AppRunner(app, handler_cancellation=True, access_log=None, shutdown_timeout=0.2)
        await self._runner.setup()
        site = web.TCPSite(self._runner, self._host, self._port, backlog=1024)
        await site.start()
        self._port = self._runner.addresses[0][1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing = True
        if self._runner is not None:
            await self._runner.cleanup()

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        body = await self._receive(request)
        behaviour = chosen(self.script, body, next(self._numbers))
        try:
            return await self._act(request, body, behaviour)
        except (asyncio.CancelledError, ConnectionResetError):
            if not self._closing:
                self.cancelled += 1
                self.left.set()
            raise

    async def _receive(self, request: web.Request) -> JsonObject:
        body: JsonObject = json.loads(await request.read() or b"{}")
        self.requests.append(Received(path=request.path, headers=dict(request.headers), body=body))
        return body

    async def _act(self, request: web.Request, body: JsonObject, behaviour: Behaviour) -> web.StreamResponse:
        answer = _Answer(request, body)
        match behaviour:
            case Say():
                return await answer.say(behaviour, behaviour.pace or self.pace)
            case Fail():
                return _failure(behaviour)
            case CutMidStream():
                return await answer.break_off(behaviour)
            case Garbage():
                return await answer.babble()
            case Endless():
                return await answer.go_on_for_ever(behaviour)
            case Refuse():
                return await answer.refuse(behaviour)
            case Silence():
                return await answer.say(Say(text=""), self.pace)
            case ErrorInStream():
                return await answer.fail_late(behaviour)
            case Redirect():
                return web.Response(status=behaviour.status, headers={"Location": behaviour.to})
            case _:
                assert_never(behaviour)

    async def _list_models(self, request: web.Request) -> web.StreamResponse:
        await self._receive(request)
        behaviour = chosen(self.script, {}, next(self._numbers)) if _scripts_lists(self.script) else None
        if isinstance(behaviour, Fail):
            return _failure(behaviour)
        if isinstance(behaviour, Redirect):
            return web.Response(status=behaviour.status, headers={"Location": behaviour.to})
        return web.json_response({"object": "list", "data": [{"id": name, "object": "model"} for name in self.models]})

    async def _embeddings(self, request: web.Request) -> web.StreamResponse:
        body = await self._receive(request)
        given = body.get("input", [])
        texts = [given] if isinstance(given, str) else [str(text) for text in given] if isinstance(given, list) else []
        data = [{"object": "embedding", "index": index, "embedding": _vector(text)} for index, text in enumerate(texts)]
        return web.json_response({"object": "list", "model": body.get("model"), "data": data})


class _Answer:
    """One answer on the wire, streamed or whole as the request asks."""

    def __init__(self, request: web.Request, body: JsonObject) -> None:
        self._request = request
        self._model = str(body.get("model", ""))
        self._streamed = body.get("stream") is True
        options = body.get("stream_options")
        self._usage_asked = isinstance(options, dict) and options.get("include_usage") is True
        self._prompt_tokens = sum(len(str(part)) for part in _listed(body.get("messages"))) // 4
        self._response = web.StreamResponse(headers={"Content-Type": "text/event-stream", "Cache-Control": "no-cache"})

    async def say(self, said: Say, pace: Pace) -> web.StreamResponse:
        tokens = _TOKEN.findall(said.text)
        if not self._streamed:
            await asyncio.sleep(pace.first_token_ms / 1000)
            return self._whole({"role": "assistant", "content": said.text}, said.finish_reason, len(tokens))
        await self._open()
        await asyncio.sleep(pace.first_token_ms / 1000)
        delay = 1 / pace.tokens_per_second if pace.tokens_per_second else 0.0
        for number, token in enumerate(tokens):
            if delay and number:
                await asyncio.sleep(delay)
            await self._send({"content": token})
        await self._end(said.finish_reason, len(tokens) if said.with_usage else None)
        return self._response

    async def break_off(self, cut: CutMidStream) -> web.StreamResponse:
        await self._open()
        for token in _TOKEN.findall(cut.text)[: cut.tokens]:
            await self._send({"content": token})
        if not cut.politely:
            await asyncio.sleep(0.02)
            self._hang_up()
        return self._response

    async def babble(self) -> web.StreamResponse:
        if not self._streamed:
            return web.Response(body=b'{"choices": [{]', content_type="application/json")
        await self._open()
        await self._response.write(b'data: {"choices": [{"delta": {"content": \n\n')
        await self._response.write(DONE)
        return self._response

    async def go_on_for_ever(self, endless: Endless) -> web.StreamResponse:
        await self._open()
        for number in itertools.count():
            await self._send({"content": f"{number} {endless.token}" if endless.varied else endless.token})
            await asyncio.sleep(0)
        raise AssertionError("counting never ends")

    async def refuse(self, refusal: Refuse) -> web.StreamResponse:
        reason = "content_filter" if refusal.by_filter else "stop"
        said: JsonObject = {} if refusal.by_filter else {"refusal": refusal.text}
        if not self._streamed:
            return self._whole({"role": "assistant", "content": None, **said}, reason, 0)
        await self._open()
        await self._send(said)
        await self._end(reason, None)
        return self._response

    async def fail_late(self, failure: ErrorInStream) -> web.StreamResponse:
        await self._open()
        error = {"error": {"message": failure.message, "type": "server_error"}}
        await self._response.write(b"data: " + json.dumps(error).encode() + b"\n\n")
        return self._response

    async def _open(self) -> None:
        await self._response.prepare(self._request)

    async def _send(self, delta: JsonObject, finish: str | None = None) -> None:
        await self._response.write(_frame(self._model, [{"index": 0, "delta": delta, "finish_reason": finish}]))

    async def _end(self, reason: str, tokens: int | None) -> None:
        await self._send({}, reason)
        if self._usage_asked and tokens is not None:
            await self._response.write(_frame(self._model, [], self._usage(tokens)))
        await self._response.write(DONE)

    def _whole(self, message: JsonObject, reason: str, tokens: int) -> web.StreamResponse:
        choice: JsonObject = {"index": 0, "message": message, "finish_reason": reason}
        return web.json_response(
            {
                "id": "chatcmpl-scripted",
                "object": "chat.completion",
                "created": 0,
                "model": self._model,
                "choices": [choice],
                "usage": self._usage(tokens),
            }
        )

    def _usage(self, tokens: int) -> JsonObject:
        prompt = self._prompt_tokens
        return {"prompt_tokens": prompt, "completion_tokens": tokens, "total_tokens": prompt + tokens}

    def _hang_up(self) -> None:
        transport = self._request.transport
        if transport is not None:
            transport.abort()


def _frame(model: str, choices: Json, usage: JsonObject | None = None) -> bytes:
    frame: JsonObject = {
        "id": "chatcmpl-scripted",
        "object": "chat.completion.chunk",
        "created": 0,
        "model": model,
        "choices": choices,
    }
    if usage is not None:
        frame["usage"] = usage
    return b"data: " + json.dumps(frame, separators=(",", ":")).encode() + b"\n\n"


def _failure(failure: Fail) -> web.Response:
    headers = {"Retry-After": failure.retry_after} if failure.retry_after is not None else {}
    error = {"message": failure.message, "type": "scripted", "param": failure.param, "code": None}
    return web.json_response({"error": error}, status=failure.status, headers=headers)


def _listed(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []


def _scripts_lists(script: Script) -> bool:
    """A script of failures or redirects also speaks for the list of models."""
    return not callable(script) and any(isinstance(item, (Fail, Redirect)) for item in script)


def _vector(text: str) -> list[float]:
    """Sixteen numbers that are the same for the same text."""
    return [(byte - 128) / 128 for byte in hashlib.sha256(text.encode()).digest()[:16]]


async def _serve(arguments: argparse.Namespace) -> None:
    pace = Pace(first_token_ms=arguments.first_token_ms, tokens_per_second=arguments.tokens_per_second)
    script = _named(arguments.respond) if arguments.respond else [" ".join(f"word{n}" for n in range(arguments.tokens))]
    async with ModelServer(script, pace=pace, host=arguments.host, port=arguments.port) as server:
        print(server.base_url, flush=True)  # noqa: T201 - whoever started the process reads the address here
        await asyncio.Event().wait()


def _named(path: str) -> Script:
    """The function that `package.module:function` names."""
    module, _, name = path.partition(":")
    script: Script = getattr(importlib.import_module(module), name)
    return script


def main() -> None:
    """Runs the server until the process is ended."""
    parser = argparse.ArgumentParser(description="A scripted OpenAI-compatible server.")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--first-token-ms", type=float, default=50.0)
    parser.add_argument("--tokens-per-second", type=float, default=50.0)
    parser.add_argument("--tokens", type=int, default=100, help="the length of every answer")
    parser.add_argument("--respond", default="", help="package.module:function from a request's JSON to its answer")
    asyncio.run(_serve(parser.parse_args()))


if __name__ == "__main__":
    main()
