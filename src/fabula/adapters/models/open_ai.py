"""Asks any OpenAI-compatible server, through the openai SDK, exactly once per call: retrying is the guard's affair.

1. The request is written as the model's capabilities allow.
2. A 400 that names a parameter lowers the capabilities, and the question is put again; what was learned is kept.
3. Pieces are passed on as they arrive; a finish reason, usage and refusals are gathered on the way.
4. Every failure becomes a ModelError with a sentence. No key, prompt or answer stands in it.
"""

from __future__ import annotations

import asyncio
import email.utils
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from fabula.adapters.models.address_policy import AddressPolicy, AddressRefused
from fabula.adapters.models.capabilities import Capabilities, default_capabilities, lowered
from fabula.adapters.models.events import events
from fabula.adapters.models.structure import decoded, strict_schema, with_schema_in_words
from fabula.adapters.models.thinking import Spoken
from fabula.ports.models import (
    Message,
    ModelBusy,
    ModelCutOff,
    ModelDenied,
    ModelError,
    ModelList,
    ModelRefused,
    ModelReply,
    ModelRequest,
    ModelUnreachable,
    ModelUnusable,
    Piece,
    Usage,
)
from fabula.ports.world import Clock
from fabula.story.values import JsonObject

if TYPE_CHECKING:
    import aiohttp
    from openai import APIStatusError, AsyncAPIResponse, AsyncOpenAI

MOST_LESSONS = 8
NO_KEY = "none"


class OpenAiClient:
    """One model at one address. `lessons` is shared by all clients, so that what one learned all know."""

    def __init__(
        self, *, sdk: AsyncOpenAI, base_url: str, model: str, lessons: dict[str, Capabilities], clock: Clock
    ) -> None:
        self._sdk = sdk
        self._model = model
        self._lessons = lessons
        self._clock = clock
        self._fingerprint = f"open_ai {base_url} {model}"

    @property
    def fingerprint(self) -> str:
        return self._fingerprint

    async def close(self) -> None:
        """The connection belongs to the session that all clients share."""

    async def ask(self, request: ModelRequest) -> AsyncGenerator[Piece | ModelReply, None]:
        gathered = _Gathered(model=self._model)
        response: AsyncAPIResponse[Any] | None = None
        try:
            response = await self._opened(request)
            # The SDK would build a model object of every event: three quarters of the time a stream takes.
            async for event in events(response.iter_bytes()):
                text = gathered.take(event)
                if text:
                    yield Piece(text=text)
            if rest := gathered.kept(gathered.spoken.rest()):
                yield Piece(text=rest)
        except AddressRefused as refused:
            raise ModelRefused(refused.message) from None
        except (asyncio.CancelledError, GeneratorExit, ModelError):
            raise
        except Exception as error:  # noqa: BLE001 - the SDK's door: what it may raise is sorted in one place
            raise _as_model_error(error, self._clock) from None
        finally:
            if response is not None:
                await response.close()
        yield gathered.reply(request)

    async def _opened(self, request: ModelRequest) -> AsyncAPIResponse[Any]:
        """The open stream; capabilities are lowered until the server takes the request."""
        from openai import BadRequestError, UnprocessableEntityError

        create = self._sdk.chat.completions.with_streaming_response.create
        for _ in range(MOST_LESSONS):
            able = self._lessons.get(self.fingerprint) or default_capabilities(self._model)
            try:
                opened: AsyncAPIResponse[Any] = await create(**_parameters(self._model, request, able)).__aenter__()
                return opened
            except (BadRequestError, UnprocessableEntityError) as error:
                lesson = lowered(able, str(error.message), _param(error.body))
                if lesson is None:
                    raise
                self._lessons[self.fingerprint] = lesson
        raise ModelRefused("The model server refuses every form of the request. Use another model.")


@dataclass(kw_only=True)
class _Gathered:
    """What is known of an answer so far."""

    model: str
    parts: list[str] = field(default_factory=list)
    spoken: Spoken = field(default_factory=Spoken)
    finish: str | None = None
    refusal: str = ""
    usage: Usage | None = None

    def take(self, event: dict[str, Any]) -> str:
        if event.get("error"):
            raise ModelBusy("The model server failed in the middle of its answer. Try again.")
        self.model = event.get("model") or self.model
        if isinstance(usage := event.get("usage"), dict):
            self.usage = Usage(
                prompt_tokens=_count(usage, "prompt_tokens"), completion_tokens=_count(usage, "completion_tokens")
            )
        choices = event.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        return self._heard(choice) if isinstance(choice, dict) else ""

    def _heard(self, choice: dict[str, Any]) -> str:
        self.finish = choice.get("finish_reason") or self.finish
        delta = choice.get("delta")
        if not isinstance(delta, dict):
            return ""
        self.refusal += delta.get("refusal") or ""
        text = delta.get("content")
        return self.kept(self.spoken.of(text)) if isinstance(text, str) else ""

    def kept(self, text: str) -> str:
        if text:
            self.parts.append(text)
        return text

    def reply(self, request: ModelRequest) -> ModelReply:
        text = "".join(self.parts)
        if self.refusal or self.finish == "content_filter":
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


def _count(usage: dict[str, Any], name: str) -> int:
    number = usage.get(name)
    return number if isinstance(number, int) else 0


def _parameters(model: str, request: ModelRequest, able: Capabilities) -> dict[str, Any]:
    messages = request.messages
    given: dict[str, Any] = {"model": model, "stream": True}
    if request.output_schema is not None:
        given |= _response_format(request.output_schema, able)
        if able.structured != "json_schema":
            messages = with_schema_in_words(messages, request.output_schema)
    if request.seed is not None and able.seed:
        given["seed"] = request.seed % 2**31
    if request.temperature is not None and able.temperature:
        given["temperature"] = request.temperature
    if request.max_tokens is not None and able.tokens_field != "none":
        given[able.tokens_field] = request.max_tokens
    if able.stream_usage:
        given["stream_options"] = {"include_usage": True}
    given["messages"] = _wire(messages if able.system_role else _without_system(messages))
    return given


def _response_format(schema: JsonObject, able: Capabilities) -> dict[str, Any]:
    match able.structured:
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


def _param(body: object) -> str | None:
    error = body.get("error", body) if isinstance(body, dict) else None
    param = error.get("param") if isinstance(error, dict) else None
    return param if isinstance(param, str) else None


def _as_model_error(error: Exception, clock: Clock) -> ModelError:
    import httpx2
    import openai

    if isinstance(error, openai.APIStatusError):
        return _by_status(error, clock)
    if isinstance(error, openai.APITimeoutError):
        return ModelUnreachable("The model server does not answer. Is it running at its base_url?")
    if isinstance(error, openai.APIConnectionError):
        if isinstance(error.__cause__, AddressRefused):
            return ModelRefused(error.__cause__.message)
        if isinstance(error.__cause__, httpx2.ReadError):
            return ModelCutOff("The connection to the model broke in the middle of its answer. Try again.")
        return ModelUnreachable("The model server cannot be reached. Is it running at its base_url?")
    if isinstance(error, httpx2.ReadError):
        return ModelCutOff("The connection to the model broke in the middle of its answer. Try again.")
    if isinstance(error, httpx2.TransportError):
        return ModelUnreachable("The model server cannot be reached. Is it running at its base_url?")
    if isinstance(error, ValueError):
        return ModelUnusable("The model server sent something that is no JSON. Is base_url the address of an API?")
    if isinstance(error, openai.APIError):
        return ModelBusy("The model server failed in the middle of its answer. Try again.")
    return ModelUnusable(f"The model server's answer cannot be read ({type(error).__name__}). Is base_url right?")


def _by_status(error: APIStatusError, clock: Clock) -> ModelError:
    status = error.status_code
    if status in (401, 403):
        return ModelDenied(f"The model server refuses the key (HTTP {status}). Check api_key.")
    if status == 404:
        return ModelDenied("The model server does not know the model or the path (HTTP 404). Check model and base_url.")
    if status in (408, 409, 425, 429) or status >= 500:
        wait = _retry_after(error.response.headers.get("retry-after"), clock)
        data = {} if wait is None else {"retry_after_s": wait}
        return ModelBusy(f"The model server is busy or failing (HTTP {status}). Try again later.", **data)
    if 300 <= status < 400:
        return ModelRefused("The model server points to another address. Put the final address into base_url.")
    return ModelRefused(f"The model server refuses the request (HTTP {status}).")


def _retry_after(header: str | None, clock: Clock) -> float | None:
    """Seconds to wait: the header is a number of seconds or a date."""
    if header is None:
        return None
    try:
        return max(0.0, float(header))
    except ValueError:
        pass
    try:
        return max(0.0, email.utils.parsedate_to_datetime(header).timestamp() - clock.now_ms() / 1000)
    except ValueError:
        return None


async def open_sdk(
    *, session: aiohttp.ClientSession, policy: AddressPolicy, base_url: str, api_key: str | None
) -> AsyncOpenAI:
    """The SDK at an address. Its import takes a second and reads files, so it happens in a thread."""
    try:
        address = policy.spelled(base_url)
    except AddressRefused as refused:
        raise ModelRefused(refused.message) from None
    return await asyncio.to_thread(_sdk, session, policy, address, api_key)


def _sdk(session: aiohttp.ClientSession, policy: AddressPolicy, base_url: str, api_key: str | None) -> AsyncOpenAI:
    import httpx2
    from openai import AsyncOpenAI

    from fabula.adapters.models.transport import PinnedTransport

    carried = httpx2.AsyncClient(
        transport=PinnedTransport(session, policy), follow_redirects=False, trust_env=False, timeout=None
    )
    sdk = AsyncOpenAI(api_key=api_key or NO_KEY, base_url=base_url, max_retries=0, timeout=None, http_client=carried)
    # What the environment says about OpenAI's own service is not told to other servers.
    sdk.organization = sdk.project = None
    # Touched here, in the thread, because the SDK imports these parts when they are first used.
    _ = sdk.chat.completions.with_streaming_response, sdk.models
    return sdk


async def list_models(*, sdk: AsyncOpenAI, base_url: str, clock: Clock, seconds: float) -> ModelList:
    """The names of the models that an address offers, sorted."""
    try:
        async with asyncio.timeout(seconds):
            page = await sdk.models.list()
        names = sorted(model.id for model in page.data if model.id)
    except AddressRefused as refused:
        raise ModelRefused(refused.message) from None
    except TimeoutError:
        raise ModelUnreachable("The model server does not answer. Is it running at its base_url?") from None
    except Exception as error:  # noqa: BLE001 - the SDK's door: what it may raise is sorted in one place
        raise _as_model_error(error, clock) from None
    return ModelList(base_url=base_url, models=tuple(names))
