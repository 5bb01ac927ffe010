"""Asks any OpenAI-compatible server exactly once per call: retrying is the guard's affair.

1. The request is written as the model's capabilities allow.
2. A 400 that names a parameter lowers the capabilities, and the question is put again; what was learned is kept.
3. Pieces are passed on as they arrive; a finish reason, usage and refusals are gathered on the way. A server may send
   any JSON: whatever has not the type that it should have counts as not sent.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterator
from dataclasses import dataclass, field
from typing import Any

from fabula.adapters.models.capabilities import Capabilities, default_capabilities, without_parameter
from fabula.adapters.models.events import EventReader, NotAnEvent
from fabula.adapters.models.half_characters import HalfCharacters, without_halves
from fabula.adapters.models.structure import decoded, strict_schema, with_schema_in_words
from fabula.adapters.models.thought_filter import Spoken
from fabula.adapters.models.wire import LONGEST_NAME, Answer, BadRequest, Wire, in_our_words, names_of
from fabula.ports.models import (
    Message,
    ModelBusy,
    ModelCutOff,
    ModelList,
    ModelRefused,
    ModelReply,
    ModelRequest,
    ModelUnreachable,
    ModelUnusable,
    Piece,
    Usage,
)
from fabula.story.values import JsonObject

MOST_REDUCTIONS = 8
MOST_TOKENS = 1_000_000_000
MOST_SILENT_BYTES = 32 * 2**20
"""How much an answer may bring without a word of text: models that think aloud elsewhere send some megabytes."""

PIECES_AT_ONCE = 16
LONGEST_PIECE = 1_000


class OpenAiClient:
    """One model at one address. `learned` is shared by all clients, so that what one learned all know."""

    def __init__(self, *, wire: Wire, base_url: str, model: str, learned: dict[str, Capabilities]) -> None:
        self._wire = wire
        self._model = model
        self._learned = learned
        self._fingerprint = f"open_ai {base_url} {model}"

    @property
    def fingerprint(self) -> str:
        return self._fingerprint

    async def close(self) -> None:
        """The connection belongs to the session that all clients share."""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Piece | ModelReply, None]:
        gathered, complete = _Gathered(model=self._model), False
        answer = await self._opened(request)
        try:
            with in_our_words():
                while not gathered.ended:
                    texts, failure = gathered.take(await answer.read())
                    pieces = ["".join(texts)] if texts and request.gather_s else texts
                    for number, text in enumerate(_short_pieces(pieces), 1):
                        yield Piece(text=text)
                        if number % PIECES_AT_ONCE == 0:
                            # Thousands may have come in one read; everybody else has a turn meanwhile.
                            await asyncio.sleep(0)
                    if failure is not None:
                        raise failure
                    if texts and request.gather_s and not gathered.ended:
                        await answer.rest(request.gather_s)
            for text in _short_pieces([gathered.rest()]):
                yield Piece(text=text)
            complete = True
        finally:
            answer.close(complete=complete)
        yield gathered.reply(request)

    async def _opened(self, request: ModelRequest) -> Answer:
        """The open stream; parameters that the server refuses are left out, one after the other."""
        for _ in range(MOST_REDUCTIONS):
            capabilities = self._learned.get(self.fingerprint) or default_capabilities(self._model)
            try:
                return await self._wire.chat(_parameters(self._model, request, capabilities))
            except BadRequest as bad_request:
                reduced = without_parameter(capabilities, bad_request.text, bad_request.param)
                if reduced is None:
                    raise ModelRefused(f"The model server refuses the request (HTTP {bad_request.status}).") from None
                self._learned[self.fingerprint] = reduced
        raise ModelRefused("The model server refuses every form of the request. Use another model.")


@dataclass(kw_only=True)
class _Gathered:
    """What is known of an answer so far."""

    model: str
    parts: list[str] = field(default_factory=list)
    halves: HalfCharacters = field(default_factory=HalfCharacters)
    spoken: Spoken = field(default_factory=Spoken)
    reader: EventReader = field(default_factory=EventReader)
    ended: bool = False
    finish: str | None = None
    refused: bool = False
    usage: Usage | None = None
    silent_bytes: int = 0

    def take(self, chunk: bytes) -> tuple[list[str], Exception | None]:
        """The texts in these bytes, and what went wrong after them; no bytes are the end of the stream."""
        events = self.reader.feed(chunk) if chunk else self.reader.close()
        texts: list[str] = []
        failure: Exception | None = None
        try:
            for event in events:
                if text := self._text_of(event):
                    texts.append(text)
        except (ModelBusy, NotAnEvent) as error:
            failure = error
        self.ended = self.reader.done or not chunk
        self.silent_bytes = 0 if texts else self.silent_bytes + len(chunk)
        if self.silent_bytes > MOST_SILENT_BYTES:
            failure = ModelUnusable("The model server sends much and says nothing. Use another model.")
        self.parts += texts
        return texts, failure

    def rest(self) -> str:
        """What was held back until the end."""
        held = self.spoken.of(self.halves.rest()) + self.spoken.rest()
        self.parts.append(held)
        return held

    def _text_of(self, event: dict[str, Any]) -> str:
        """What an event adds to the text. Every token of every answer comes by here, and most bring nothing else."""
        if event.get("error"):
            raise ModelBusy("The model server failed in the middle of its answer. Try again.")
        if (model := event.get("model")) != self.model and isinstance(model, str) and model:
            self.model = without_halves(model[:LONGEST_NAME])
        if (usage := event.get("usage")) is not None and isinstance(usage, dict):
            self.usage = Usage(
                prompt_tokens=_count(usage, "prompt_tokens"), completion_tokens=_count(usage, "completion_tokens")
            )
        choices = event.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        if not isinstance(choice, dict):
            return ""
        if (finish := choice.get("finish_reason")) is not None and isinstance(finish, str) and finish:
            self.finish = finish
        delta = choice.get("delta")
        if not isinstance(delta, dict):
            return ""
        if (refusal := delta.get("refusal")) is not None and isinstance(refusal, str) and refusal:
            self.refused = True
        text = delta.get("content")
        return self.spoken.of(self.halves.of(text)) if isinstance(text, str) else ""

    def reply(self, request: ModelRequest) -> ModelReply:
        text = "".join(self.parts)
        if self.refused or self.finish == "content_filter":
            raise ModelRefused("The model declined to answer. Change the request, or use another model.")
        if self.finish is None:
            raise ModelCutOff("The model's answer broke off before its end. Try again.")
        if not text.strip():
            raise ModelUnusable("The model answered with nothing. Try again, or use another model.")
        return ModelReply(
            text=text,
            model=self.model,
            finish_reason="length" if self.finish == "length" else "stop",
            usage=self.usage or Usage(),
            structured=decoded(text, request.output_schema) if request.output_schema is not None else None,
        )


def _short_pieces(texts: list[str]) -> Iterator[str]:
    """The texts, long ones in parts: whoever hears them may look at all of a piece at once."""
    for text in texts:
        if len(text) <= LONGEST_PIECE:
            if text:
                yield text
        else:
            yield from (text[start : start + LONGEST_PIECE] for start in range(0, len(text), LONGEST_PIECE))


def _count(usage: dict[str, Any], name: str) -> int:
    """A number of tokens. One that no answer has would be kept nowhere, or lift a budget that it should use up."""
    number = usage.get(name)
    return min(max(int(number), 0), MOST_TOKENS) if isinstance(number, int) else 0


def _parameters(model: str, request: ModelRequest, capabilities: Capabilities) -> dict[str, Any]:
    messages = request.messages
    given: dict[str, Any] = {"model": model, "stream": True}
    if request.output_schema is not None:
        given |= _response_format(request.output_schema, capabilities)
        if capabilities.structured != "json_schema":
            messages = with_schema_in_words(messages, request.output_schema)
    if request.seed is not None and capabilities.seed:
        given["seed"] = request.seed % 2**31
    if request.temperature is not None and capabilities.temperature:
        given["temperature"] = request.temperature
    if request.max_tokens is not None and capabilities.tokens_field != "none":
        given[capabilities.tokens_field] = request.max_tokens
    if capabilities.stream_usage:
        given["stream_options"] = {"include_usage": True}
    given["messages"] = _wire(messages if capabilities.system_role else _without_system(messages))
    return given


def _response_format(schema: JsonObject, capabilities: Capabilities) -> dict[str, Any]:
    match capabilities.structured:
        case "json_schema":
            shape = {"name": "answer", "schema": schema, "strict": strict_schema(schema)}
            return {"response_format": {"type": "json_schema", "json_schema": shape}}
        case "json_object":
            return {"response_format": {"type": "json_object"}}
        case "words":
            return {}


def _wire(messages: tuple[Message, ...]) -> list[dict[str, str]]:
    return [{"role": message.role, "content": message.content} for message in messages]


def _without_system(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """System messages told as the user's; neighbours of one role become one message, as such models ask for."""
    folded: list[Message] = []
    for message in messages:
        role = "user" if message.role == "system" else message.role
        if folded and folded[-1].role == role:
            folded[-1] = Message(role=role, content=f"{folded[-1].content}\n\n{message.content}")
        else:
            folded.append(Message(role=role, content=message.content))
    return tuple(folded)


async def list_models(*, wire: Wire, base_url: str, seconds: float) -> ModelList:
    """The names of the models that an address offers, sorted."""
    try:
        async with asyncio.timeout(seconds):
            listed = await wire.models()
    except TimeoutError:
        raise ModelUnreachable("The model server does not answer. Is it running at its base_url?") from None
    except BadRequest as bad_request:
        raise ModelRefused(f"The model server refuses the request (HTTP {bad_request.status}).") from None
    names = names_of(listed)
    if names is None:
        raise ModelUnusable("The model server's list of models cannot be read. Is base_url right?")
    return ModelList(base_url=base_url, models=tuple(sorted(names)))
