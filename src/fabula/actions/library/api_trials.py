"""Try an api: ask its model real questions, one through every capability that a play needs, and measure its pace.

1. `stream`: a few sentences, piece by piece, as a narrator writes them. Its pace is measured here.
2. `json`: an answer of a given shape, as director and keeper give it.
3. `system_role`: an instruction in the system's voice, which every role's prompt begins with.

Who cannot be reached is not asked on. Nothing is kept but the records of the calls.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Literal

from pydantic import Field

from fabula.actions.authority import allowed
from fabula.actions.house import House
from fabula.actions.library.apis import checked_api, secret_name
from fabula.actions.repositories import APIS
from fabula.actions.views import Command, View
from fabula.ports.actors import Actor
from fabula.ports.errors import InvalidRequest
from fabula.ports.models import (
    CallOrigin,
    GuardedModel,
    Message,
    ModelError,
    ModelReply,
    ModelRequest,
    ModelUnusable,
    Piece,
    whole,
)
from fabula.story.resources import Api, Provider
from fabula.story.values import JsonObject, Value

SLOW_TOKENS_PER_S = 8.0
"""Below this a turn of two hundred words takes more than half a minute."""
TOKENS_OF_A_TURN = 300
CHARS_PER_TOKEN = 4
MOST_TOKENS, MOST_CHARS = 512, 8_000

CheckName = Literal["stream", "json", "system_role"]

_TALE = "Describe in three short sentences how a lighthouse looks in a storm."
_SHAPE: JsonObject = {
    "type": "object",
    "properties": {"place": {"type": "string"}, "people": {"type": "integer"}},
    "required": ["place", "people"],
    "additionalProperties": False,
}
_FACTS = (
    "Two keepers live in the lighthouse. Answer as JSON with `place`, where they live, and `people`, how many they are."
)
_WORD = "LANTERN"
_ORDER = f"You are a parrot that knows one word. Whatever you are asked, answer with the one word {_WORD}."


class TryApi(Command):
    """Either the `api_id` of an api that is kept, or one that is not, field by field.

    `seconds` is how long each question may take.
    """

    api_id: str | None = None
    provider: Provider | None = None
    base_url: str = ""
    api_key: str = ""
    model: str = ""
    seconds: float = Field(default=60.0, ge=1.0, le=600.0)


class ModelCheck(Value):
    """What became of one question; `note` says what failed, or what to know."""

    name: CheckName
    ok: bool
    latency_ms: int
    note: str = ""


class ApiTested(View):
    """`ok` when every check is. `tokens_per_second` is measured; `slow` models make players wait."""

    optional = frozenset({"api_id", "first_word_ms", "tokens_per_second"})
    type: Literal["api_tested"] = "api_tested"
    api_id: str | None = None
    provider: Provider
    base_url: str
    model: str
    ok: bool
    checks: list[ModelCheck]
    first_word_ms: int | None = None
    tokens_per_second: float | None = None
    slow: bool = False
    problem: str = ""


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """An api to be tried, with its key as it is stored (`env:NAME` or itself)."""

    api: Api
    key: str = field(repr=False)


@allowed("admin")
async def try_api(house: House, actor: Actor, command: TryApi) -> ApiTested:
    """Asks a model real questions (streamed, as JSON, with a system role) and measures its pace; nothing is kept."""
    return await tried(house, await _candidate(house, command), seconds=command.seconds, api_id=command.api_id)


async def kept_candidate(house: House, api_id: str) -> Candidate:
    """An api that is kept, with its key."""
    async with house.store.reading() as unit:
        return Candidate(api=await APIS.get(unit, api_id), key=await unit.secrets.get(secret_name(api_id)) or "")


async def tried(house: House, candidate: Candidate, *, seconds: float, api_id: str | None = None) -> ApiTested:
    """What became of every question."""
    trial = _Trial(house, candidate, seconds)
    await trial.run()
    api, failed = candidate.api, next((check for check in trial.checks if not check.ok), None)
    return ApiTested(
        api_id=api_id,
        provider=api.provider,
        base_url=api.base_url,
        model=api.model,
        ok=failed is None,
        checks=trial.checks,
        first_word_ms=trial.first_word_ms,
        tokens_per_second=trial.tokens_per_second,
        slow=trial.tokens_per_second is not None and trial.tokens_per_second < SLOW_TOKENS_PER_S,
        problem="" if failed is None else failed.note,
    )


async def _candidate(house: House, command: TryApi) -> Candidate:
    if command.api_id is None:
        if command.provider is None:
            raise InvalidRequest("Name an api with `api_id`, or say its provider, base_url, api_key and model.")
        api = Api(
            api_id="trial",
            display_name="Trial",
            provider=command.provider,
            base_url=command.base_url,
            model=command.model,
        )
        return Candidate(api=await checked_api(house, api, command.api_key), key=command.api_key)
    if command.provider is not None or command.base_url or command.api_key or command.model:
        # A kept key goes to the address that it was kept for, and to no other.
        raise InvalidRequest("Give `api_id` alone, or an api field by field.")
    return await kept_candidate(house, command.api_id)


class _Trial:
    def __init__(self, house: House, candidate: Candidate, seconds: float) -> None:
        self._house, self._candidate, self._seconds = house, candidate, seconds
        self.checks: list[ModelCheck] = []
        self.first_word_ms: int | None = None
        self.tokens_per_second: float | None = None

    async def run(self) -> None:
        if self._candidate.api.provider == "understudy":
            # It answers from the context of a role, not from a prompt, and needs none of these.
            self.checks = [ModelCheck(name=name, ok=True, latency_ms=0) for name in ("stream", "json", "system_role")]
            return
        steps: dict[CheckName, Callable[[GuardedModel], Awaitable[str]]] = {
            "stream": self._streams,
            "json": self._answers_json,
            "system_role": self._heeds_the_system,
        }
        for name, step in steps.items():
            if not await self._check(name, step) and name == "stream":
                return

    async def _check(self, name: CheckName, step: Callable[[GuardedModel], Awaitable[str]]) -> bool:
        started = self._house.clock.monotonic()
        try:
            client = await self._house.models.client_with(self._candidate.api, api_key=self._candidate.key)
            note = await step(client)
            ok = True
        except ModelError as error:
            note, ok = error.message, False
        took = round((self._house.clock.monotonic() - started) * 1000)
        self.checks.append(ModelCheck(name=name, ok=ok, latency_ms=took, note=note))
        return ok

    async def _streams(self, client: GuardedModel) -> str:
        clock = self._house.clock
        started, came = clock.monotonic(), list[float]()

        def saw(_: Piece) -> None:
            came.append(clock.monotonic())

        reply = await client.stream_to(self._request(_said(_TALE)), saw)
        ended = clock.monotonic()
        first = came[0] if came else ended
        self.first_word_ms = round((first - started) * 1000)
        tokens = reply.usage.completion_tokens or max(1, len(reply.text) // CHARS_PER_TOKEN)
        # The first token was written before it came; so was everything that comes in one piece.
        written, since = (max(1, tokens - 1), first) if len(came) > 1 else (tokens, started)
        self.tokens_per_second = round(written / max(ended - since, 0.001), 1)
        return "" if len(came) > 1 else "answers in one piece, so nothing can be read while it writes"

    async def _answers_json(self, client: GuardedModel) -> str:
        request = self._request(_said(_FACTS), schema=_SHAPE)
        try:
            await whole(client, request)
        except ModelUnusable:
            # As in a play, a model gets a second chance to answer in the asked shape.
            try:
                await whole(client, request)
            except ModelUnusable as error:
                raise ModelUnusable(f"It does not answer in JSON when asked to. {error.message}") from error
            return "needed a second try"
        return ""

    async def _heeds_the_system(self, client: GuardedModel) -> str:
        messages = (Message(role="system", content=_ORDER), *_said("What is your name, and where do you live?"))
        reply: ModelReply = await whole(client, self._request(messages))
        if _WORD.lower() not in reply.text.lower():
            raise ModelUnusable("It does not heed the system's instructions, which every role's prompt begins with.")
        return ""

    def _request(self, messages: tuple[Message, ...], *, schema: JsonObject | None = None) -> ModelRequest:
        return ModelRequest(
            origin=CallOrigin(agent="test"),
            messages=messages,
            output_schema=schema,
            max_tokens=MOST_TOKENS,
            max_chars=MOST_CHARS,
            streaming=schema is None,
            deadline=self._house.clock.monotonic() + self._seconds,
        )


def _said(text: str) -> tuple[Message, ...]:
    return (Message(role="user", content=text),)
