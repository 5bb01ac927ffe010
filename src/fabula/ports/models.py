"""Models: what they are asked, what they answer, and how they fail.

ModelError            model              the call failed; nothing of it is kept
├── ModelUnreachable  model_unreachable  no connection, or the deadline passed before an answer; may be retried
├── ModelBusy         model_busy         too many calls, or trouble over there, until the deadline; may be retried later
├── ModelDenied       model_denied       the key or model name is wrong
├── ModelRefused      model_refused      the request itself is refused (its parameters, a content filter)
├── ModelCutOff       model_cut_off      the stream ended before it was finished
└── ModelUnusable     model_unusable     empty, over-long, looping, or not of the asked schema
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Final, Literal, Protocol

from fabula.ports.errors import BackendError
from fabula.story.contexts import ModelContext
from fabula.story.error_values import Hint
from fabula.story.resources import Api, Provider
from fabula.story.values import Json, JsonObject

CUT_OFF = "The model's answer ended before it was finished. Try again."


class ModelError(BackendError):
    """A model call failed."""

    name = "model"


class ModelUnreachable(ModelError):
    name = "model_unreachable"


class ModelBusy(ModelError):
    name = "model_busy"


class ModelDenied(ModelError):
    name = "model_denied"


class ModelRefused(ModelError):
    name = "model_refused"


class ModelCutOff(ModelError):
    name = "model_cut_off"


class ModelUnusable(ModelError):
    """`reply_text` is what the model said: a role may show it to the model and ask for a repair."""

    name = "model_unusable"

    def __init__(self, message: str, *, reply_text: str = "", hint: Hint | None = None, **data: Json) -> None:
        super().__init__(message, hint=hint, **data)
        self.reply_text = reply_text


MOST_REPLY_VALUES: Final = 10_000
"""A reply of more JSON values is no proposal: to check and to tell what is wrong with it would hold everybody up."""


@dataclass(frozen=True, kw_only=True)
class Message:
    """One message of a prompt."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, kw_only=True)
class CallOrigin:
    """For whom a call is made; it is recorded with the call and is no part of the memo key.

    `is_repair`: an answer to the same question could not be used, and is asked for again with what was wrong.
    """

    agent: str
    session_id: str | None = None
    story_id: str | None = None
    turn_id: str | None = None
    is_repair: bool = False


@dataclass(frozen=True, kw_only=True)
class ModelRequest:
    """A question to a model.

    `first_asked` says that nobody can have asked this before (its seed is new): the memo need not be searched.

    `context` is what the prompt was written from: the understudy answers from it, other clients ignore it.
    `deadline` is a point of the clock's `monotonic()`; a call that has not ended by then is ended.
    `seed` None means that the answer may vary and is not memoised.
    `streaming` False, or an output schema, means that nobody reads along: pieces come only when the answer is whole,
    so that a broken answer can be asked for again. What was already read along cannot be taken back.
    `gather_s`: after the first piece, what comes within that time may be passed on as one piece, which costs less.
    """

    origin: CallOrigin
    messages: tuple[Message, ...]
    context: ModelContext | None = None
    output_schema: JsonObject | None = None
    seed: int | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    max_chars: int = 200_000
    streaming: bool = True
    first_asked: bool = False
    gather_s: float = 0.0
    deadline: float


@dataclass(frozen=True, kw_only=True)
class Usage:
    prompt_tokens: int = 0
    completion_tokens: int = 0

    @property
    def total_tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens


@dataclass(frozen=True, kw_only=True)
class Piece:
    """Some text of an answer, as it arrives."""

    text: str


@dataclass(frozen=True, kw_only=True)
class ModelReply:
    """A finished answer. `structured` is the decoded JSON when an output schema was asked for."""

    text: str
    model: str
    finish_reason: Literal["stop", "length"] = "stop"
    usage: Usage = field(default_factory=Usage)
    structured: Json = None
    memo_hit: bool = False


class ModelClient(Protocol):
    """One model that can be asked.

    Law:
    - `stream` yields pieces in order and then exactly one ModelReply, whose text is the pieces joined.
    - A failure is a ModelError; after it nothing more is yielded.
    - Closing the iterator (or cancelling the task that reads it) ends the upstream request at once.
    - With an output schema, the reply's `structured` is JSON that fits it, or the call fails with ModelUnusable.
    - `fingerprint` names provider, address and model, never a key; equal fingerprints answer alike.
    """

    @property
    def fingerprint(self) -> str: ...

    def stream(self, request: ModelRequest) -> AsyncGenerator[Piece | ModelReply, None]: ...

    async def close(self) -> None: ...


class GuardedModel(ModelClient, Protocol):
    """A model as the house reaches it, with everything around it that keeps a call in bounds.

    `stream_to` does the same for callers that need not wait between two pieces: `tell` is called for each, in the task
    of the caller. A player of a game has a hundred NPCs speaking at once; nothing else should be done for each piece.
    """

    async def stream_to(self, request: ModelRequest, tell: Callable[[Piece], None]) -> ModelReply: ...


class ModelClients(Protocol):
    """Finds the client of an api; clients are kept and shared.

    `api_revision` is the revision at which the caller read the api: a key that was lately read for it is not
    read again. Who names none gets a new key after two seconds.
    `forget` drops what is remembered of a deleted api: one made anew under its name begins at the same revision.
    `client_with` takes the key from the caller: for an api that is not kept yet.
    `load` imports what the first call needs, so that whoever makes it need not wait.
    `detect` finds models that could be used now: named by the settings, served on this machine, or files.
    Calls are recorded a moment after they ended: `settle` returns when all are, and `unrecorded_tokens` tells what a
    session used in those that are not.
    """

    async def load(self) -> None: ...

    async def client_for(self, api: Api, *, api_revision: int | None = None) -> GuardedModel: ...

    async def client_with(self, api: Api, *, api_key: str) -> GuardedModel: ...

    async def detect(self) -> list[Found]: ...

    def forget(self, api_id: str) -> None: ...

    @property
    def calls_under_way(self) -> int: ...

    async def settle(self) -> None: ...

    def unrecorded_tokens(self, session_id: str) -> int: ...

    async def list_models(self, *, provider: str, base_url: str, api_key: str) -> ModelList: ...

    async def close(self) -> None: ...


@dataclass(frozen=True, kw_only=True)
class ModelList:
    """What a provider offers at an address; `base_url` is normalised."""

    base_url: str
    models: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Reach:
    """Whether a model can be reached, how fast, and what else is offered there.

    `models` are those that talk, `others` those for embeddings, speech and the like. `problem` is a sentence.
    """

    base_url: str
    reachable: bool
    latency_ms: int | None = None
    models: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    problem: str | None = None


FoundIn = Literal["environment", "this machine", "models folder"]


@dataclass(frozen=True, kw_only=True)
class Found:
    """A model that could be used. `key` names where its key is read (`env:NAME`), or is empty.

    `model` is empty where several are offered and none was chosen, or none of them talks.
    """

    name: str
    source: FoundIn
    provider: Provider = "open_ai"
    base_url: str
    model: str
    key: str
    reach: Reach

    @property
    def usable(self) -> bool:
        """Whether it can be asked as it is."""
        return self.reach.reachable and bool(self.model)


@dataclass(frozen=True, kw_only=True)
class CallRecord:
    """One model call as it is kept for the account of usage. `error_name` is the kind of the error that is told."""

    origin: CallOrigin
    model: str
    usage: Usage
    latency_ms: int
    first_piece_ms: int | None
    memo_hit: bool
    outcome: Literal["ok", "failed", "cancelled"]
    error: str | None = None
    error_name: str | None = None
    recorded_at_ms: int


CallGroup = Literal["day", "model", "agent", "session", "story"]
"""By what calls are added up. Days are those of UTC, each named by its first millisecond."""


@dataclass(frozen=True, kw_only=True)
class CallTotals:
    """Many calls, added up."""

    calls: int = 0
    failed: int = 0
    memo_hits: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0


async def whole(client: ModelClient, request: ModelRequest) -> ModelReply:
    """Asks and waits for the finished answer."""
    return await whole_of(client.stream(request))


async def whole_of(answer: AsyncGenerator[Piece | ModelReply, None]) -> ModelReply:
    """Waits for the end of an answer."""
    reply: ModelReply | None = None
    async with aclosing(answer) as parts:
        async for part in parts:
            if isinstance(part, ModelReply):
                reply = part
    if reply is None:
        raise ModelCutOff(CUT_OFF)
    return reply
