"""Runs a GGUF file in this process with xllamacpp: no port is opened, and the event loop never waits for it.

1. At the first question the file is loaded, in a thread. The runtime insists on a listener: it gets a socket file in
   a private folder and a random key, and nobody is told either.
2. A question runs in a worker thread. Each token comes back through the loop; closing the answer makes the runtime
   stop at its next token, or at its next batch while it still reads the prompt.
3. Every slot keeps what it has read, so a prompt that extends the last one is only read from where it differs.
"""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import json
import os
import secrets
import shutil
import signal
import tempfile
import threading
from collections.abc import AsyncGenerator
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from pathlib import Path, PurePosixPath
from typing import Any

from fabula.adapters.models.structure import decoded, with_schema_in_words
from fabula.ports.models import (
    Message,
    ModelCutOff,
    ModelDenied,
    ModelError,
    ModelRefused,
    ModelReply,
    ModelRequest,
    ModelUnusable,
    Piece,
    Usage,
)
from fabula.story.values import JsonObject

SLOTS = 2
CONTEXT_TOKENS = 8192
BATCH_TOKENS = 128
DEFAULT_MAX_TOKENS = 1024


def gguf_files(folder: Path) -> tuple[str, ...]:
    """The model files of the models folder, as an api names them."""
    return tuple(sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.gguf")))


def local_problem(folder: Path, model: str) -> str | None:
    """Why a model file cannot be run here, in a sentence; None when it can."""
    if importlib.util.find_spec("xllamacpp") is None:
        return "Running model files needs an extra: pip install 'fabula[local]'"
    try:
        model_file(folder, model)
    except ModelDenied as error:
        return error.message
    return None


def model_file(folder: Path, model: str) -> Path:
    """The file that an api's `model` names; raises ModelDenied for names that lead out of the models folder.

    A link inside the folder may point elsewhere: whoever can place it there owns the machine's files anyway.
    """
    name = PurePosixPath(model)
    odd = "\\" in model or "\0" in model or ":" in model
    if odd or name.is_absolute() or ".." in name.parts or name.suffix != ".gguf":
        raise ModelDenied("The model of a local api is the name of a .gguf file inside the models folder.")
    path = folder / name
    try:
        with path.open("rb") as file:
            magic = file.read(4)
    except OSError:
        raise ModelDenied(f"There is no file '{model}' in the models folder. Put the GGUF file there.") from None
    if magic != b"GGUF":
        raise ModelDenied(f"The file '{model}' is not a GGUF file. Download it again.")
    return path


class LocalClient:
    """One model file. It is loaded at the first question and let go when the client is closed."""

    def __init__(self, *, folder: Path, model: str) -> None:
        self._folder = folder
        self._model = model
        self._engine: _Engine | None = None
        self._loading = asyncio.Lock()

    @property
    def fingerprint(self) -> str:
        return f"local {self._model}"

    @property
    def busy(self) -> int:
        """How many questions the runtime is working on."""
        return 0 if self._engine is None else self._engine.busy

    async def close(self) -> None:
        async with self._loading:
            if self._engine is not None:
                await asyncio.to_thread(self._engine.close)
                self._engine = None

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Piece | ModelReply, None]:
        engine = await self._loaded()
        try:
            async with aclosing(self._answer(engine, request, held_to_shape=True)) as parts:
                async for part in parts:
                    yield part
        except _ShapeRefused:
            async with aclosing(self._answer(engine, request, held_to_shape=False)) as parts:
                async for part in parts:
                    yield part

    async def _answer(
        self, engine: _Engine, request: ModelRequest, *, held_to_shape: bool
    ) -> AsyncGenerator[Piece | ModelReply, None]:
        heard = _Heard(self._model)
        run = engine.start(_body(request, held_to_shape=held_to_shape))
        try:
            async for chunk in run.chunks():
                text = heard.take(chunk)
                if text:
                    yield Piece(text=text)
        finally:
            run.stop()
        yield heard.reply(request)

    async def _loaded(self) -> _Engine:
        async with self._loading:
            if self._engine is None:
                self._engine = await asyncio.to_thread(_Engine, self._folder, self._model)
                _take_back_signals()
            return self._engine


class _Engine:
    """The runtime with one model in it, and the threads that wait for it."""

    def __init__(self, folder: Path, model: str) -> None:
        path = model_file(folder, model)
        if importlib.util.find_spec("xllamacpp") is None:
            raise ModelDenied("Local models need the package xllamacpp. Install it: pip install 'fabula[local]'.")
        self._private = Path(tempfile.mkdtemp(prefix="fabula-"))
        try:
            self._server = _load(path, self._private / "model.sock")
        except (RuntimeError, ValueError):
            shutil.rmtree(self._private, ignore_errors=True)
            raise ModelDenied(f"The file '{model}' cannot be loaded as a model. Is it whole?") from None
        self._workers = ThreadPoolExecutor(SLOTS, thread_name_prefix="fabula-local")
        self._runs: set[_Run] = set()

    @property
    def busy(self) -> int:
        return len(self._runs)

    def start(self, body: JsonObject) -> _Run:
        run = _Run(self._server, body, asyncio.get_running_loop())
        self._runs.add(run)
        self._workers.submit(run.work).add_done_callback(lambda _: self._runs.discard(run))
        return run

    def close(self) -> None:
        for run in list(self._runs):
            run.stop()
        self._workers.shutdown(wait=True, cancel_futures=True)
        del self._server
        shutil.rmtree(self._private, ignore_errors=True)


class _Run:
    """One question on its way through the runtime."""

    def __init__(self, server: Any, body: JsonObject, loop: asyncio.AbstractEventLoop) -> None:
        self._server, self._body, self._loop = server, body, loop
        self._arrived: asyncio.Queue[str | ModelError | None] = asyncio.Queue()
        self._stopped = threading.Event()

    def stop(self) -> None:
        self._stopped.set()

    async def chunks(self) -> AsyncGenerator[str, None]:
        while (chunk := await self._arrived.get()) is not None:
            if isinstance(chunk, ModelError):
                raise chunk
            yield chunk

    def work(self) -> None:
        if not self._stopped.is_set():
            try:
                self._server.handle_chat_completions(json.dumps(self._body), self._hear)
            except (RuntimeError, ValueError) as error:
                self._send(_refusal(str(error)))
        self._send(None)

    def _hear(self, chunk: str) -> bool:
        """Passes a chunk on; answers whether the runtime shall stop."""
        self._send(chunk)
        return self._stopped.is_set()

    def _send(self, chunk: str | ModelError | None) -> None:
        # A loop that is already closed has nobody left to hear it.
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._arrived.put_nowait, chunk)


class _Heard:
    """What is known of an answer so far."""

    def __init__(self, model: str) -> None:
        self._model = model
        self._text: list[str] = []
        self._finish: str | None = None
        self._usage = Usage()

    def take(self, chunk: str) -> str:
        frame = json.loads(chunk)
        if isinstance(usage := frame.get("usage"), dict):
            self._usage = Usage(prompt_tokens=usage["prompt_tokens"], completion_tokens=usage["completion_tokens"])
        if not frame.get("choices"):
            return ""
        choice = frame["choices"][0]
        self._finish = choice.get("finish_reason") or self._finish
        text = str(choice["delta"].get("content") or "")
        self._text.append(text)
        return text

    def reply(self, request: ModelRequest) -> ModelReply:
        text = "".join(self._text)
        if self._finish is None:
            raise ModelCutOff("The local model was stopped in the middle of its answer. Try again.")
        if not text.strip():
            raise ModelUnusable("The model answered with nothing. Try again, or use another model.")
        return ModelReply(
            text=text,
            model=self._model,
            finish_reason="length" if self._finish == "length" else "stop",
            usage=self._usage,
            structured=decoded(text, request.output_schema) if request.output_schema is not None else None,
        )


def _load(path: Path, socket: Path) -> Any:
    xllamacpp = importlib.import_module("xllamacpp")
    threads = max(1, (os.cpu_count() or 2) - 1)
    params = xllamacpp.CommonParams()
    params.model.path = str(path)
    params.hostnames = [str(socket)]
    params.api_keys = [secrets.token_urlsafe(32)]
    params.ui = False
    params.n_ctx, params.n_parallel, params.kv_unified = CONTEXT_TOKENS, SLOTS, True
    params.n_batch = params.n_ubatch = BATCH_TOKENS
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
    params.cache_prompt, params.warmup, params.verbosity = True, False, -1
    return xllamacpp.Server(params)


def _take_back_signals() -> None:
    """The runtime takes SIGINT and SIGTERM for itself when it starts; they belong to whoever had them before."""
    if threading.current_thread() is not threading.main_thread():
        return
    for number in (signal.SIGINT, signal.SIGTERM):
        handler = signal.getsignal(number)
        if handler is not None:
            signal.signal(number, handler)


def _body(request: ModelRequest, *, held_to_shape: bool) -> JsonObject:
    messages = request.messages
    if request.output_schema is not None and not held_to_shape:
        messages = with_schema_in_words(messages, request.output_schema)
    body: JsonObject = {
        "messages": [{"role": message.role, "content": message.content} for message in _merged(messages)],
        "stream": True,
        "stream_options": {"include_usage": True},
        "return_progress": True,
        "cache_prompt": True,
        "max_tokens": request.max_tokens or DEFAULT_MAX_TOKENS,
    }
    if request.seed is not None:
        body["seed"] = request.seed % 2**31
    if request.temperature is not None:
        body["temperature"] = request.temperature
    if request.output_schema is not None and held_to_shape:
        shape: JsonObject = {"name": "answer", "schema": request.output_schema}
        body["response_format"] = {"type": "json_schema", "json_schema": shape}
    return body


def _merged(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """The prompt with all system messages first, as one: chat templates refuse them elsewhere."""
    told = "\n\n".join(message.content for message in messages if message.role == "system")
    said = tuple(message for message in messages if message.role != "system")
    if not said:
        return (Message(role="user", content=told),)
    return (Message(role="system", content=told), *said) if told else said


class _ShapeRefused(ModelRefused):
    """The runtime cannot hold an answer to the asked schema; it can still be asked for in words."""


def _refusal(reason: str) -> ModelError:
    if "schema" in reason.lower() or "grammar" in reason.lower():
        return _ShapeRefused("The local model cannot be held to the asked shape. Use another model for this role.")
    if "context" in reason and ("exceed" in reason or "size" in reason):
        return ModelRefused("The prompt is longer than the local model can read. Lower the history limits.")
    return ModelRefused("The local model cannot take this request. Use another model for this role.")
