"""Finds and keeps the client of each api, guarded; the one door through which the rest of the house reaches models."""

from __future__ import annotations

import asyncio
import hashlib
import os
import random
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from importlib import import_module
from typing import TYPE_CHECKING

from fabula.adapters.models.address_policy import AddressPolicy, policy_of
from fabula.adapters.models.capabilities import Capabilities
from fabula.adapters.models.journal import Journal, Record, Trace
from fabula.adapters.models.local import LocalClient, gguf_files
from fabula.adapters.models.memo import SingleFlight
from fabula.adapters.models.model_guard import Guard, GuardedClient
from fabula.adapters.models.turn_calls import TurnCalls
from fabula.adapters.models.understudy import UNDERSTUDY, Understudy
from fabula.ports.errors import InvalidRequest
from fabula.ports.models import Found, ModelClient, ModelDenied, ModelList
from fabula.ports.store import Memo
from fabula.ports.threads import run_in_thread
from fabula.ports.world import Clock
from fabula.settings import Settings
from fabula.story.resources import Api

if TYPE_CHECKING:
    import aiohttp

    from fabula.adapters.models.wire import Wire

ReadKey = Callable[[str], Awaitable[str | None]]
"""The stored key of an api by the api's id; `env:NAME` comes as it was stored and is looked up here."""

MOST_KEPT = 256
LIST_SECONDS = 15.0
KEY_REMEMBERED_S = 60.0
KEY_GLANCED_AT_S = 2.0


@dataclass(frozen=True, kw_only=True)
class _Key:
    """A key as it is stored, the address and revision of the api for which it was read, and until when it counts."""

    stored: str | None = field(repr=False)
    base_url: str
    api_revision: int | None
    until: float


def open_models(
    settings: Settings,
    clock: Clock,
    read_key: ReadKey,
    memo: Memo | None = None,
    record: Record | None = None,
    *,
    trace: Trace | None = None,
    policy: AddressPolicy | None = None,
    environment: Mapping[str, str] = os.environ,
) -> OpenModels:
    """The models of a house. Nothing is loaded or connected before the first call."""
    return OpenModels(
        settings=settings,
        clock=clock,
        read_key=read_key,
        memo=memo if settings.memo else None,
        record=record,
        trace=trace,
        policy=policy or policy_of(settings),
        environment=environment,
    )


class OpenModels:
    """All clients of a house."""

    def __init__(
        self,
        *,
        settings: Settings,
        clock: Clock,
        read_key: ReadKey,
        memo: Memo | None,
        record: Record | None,
        trace: Trace | None,
        policy: AddressPolicy,
        environment: Mapping[str, str],
    ) -> None:
        self._settings, self._clock, self._read_key = settings, clock, read_key
        self._policy, self._environment, self._memo = policy, environment, memo
        self._journal = Journal(clock=clock, record=record, trace=trace)
        self._flights = SingleFlight()
        self._turn_calls = TurnCalls(settings.agent_calls_per_turn)
        self._kept: dict[tuple[str, ...], GuardedClient] = {}
        self._learned: dict[str, Capabilities] = {}
        self._keys: dict[str, _Key] = {}
        self._session: aiohttp.ClientSession | None = None
        self._opening, self._connecting = asyncio.Lock(), asyncio.Lock()

    async def load(self) -> None:
        """Imports what speaks HTTP to models, which a house whose models are all its own never needs."""
        await run_in_thread(import_module, "fabula.adapters.models.detect")
        await run_in_thread(import_module, "fabula.adapters.models.open_ai")

    async def client_for(self, api: Api, *, api_revision: int | None = None) -> GuardedClient:
        return await self._client(api, await self._key_of(api, api_revision) if api.provider == "open_ai" else None)

    async def client_with(self, api: Api, *, api_key: str) -> GuardedClient:
        return await self._client(api, looked_up(api_key or None, self._environment, self._settings.api_key_variables))

    async def detect(self) -> list[Found]:
        await self.load()
        from fabula.adapters.models.detect import detect

        return await detect(self._settings, environment=self._environment)

    async def _client(self, api: Api, key: str | None) -> GuardedClient:
        name = (api.provider, api.base_url, api.model, hashlib.sha256((key or "").encode()).hexdigest())
        async with self._opening:
            if name not in self._kept:
                self._kept[name] = await self._open(api, key)
                await self._forget_oldest()
            return self._kept[name]

    @property
    def calls_under_way(self) -> int:
        return self._journal.under_way

    async def settle(self) -> None:
        await self._journal.settle()

    def unrecorded_tokens(self, session_id: str) -> int:
        return self._journal.unwritten_tokens(session_id)

    def forget(self, api_id: str) -> None:
        self._keys.pop(api_id, None)

    async def list_models(self, *, provider: str, base_url: str, api_key: str) -> ModelList:
        match provider:
            case "open_ai":
                return await self._listed(base_url, api_key)
            case "local":
                names = await asyncio.to_thread(gguf_files, self._settings.models_folder)
                return ModelList(base_url="", models=names)
            case "understudy":
                return ModelList(base_url="", models=(UNDERSTUDY,))
            case _:
                raise InvalidRequest("The provider must be one of open_ai, local or understudy.")

    async def close(self) -> None:
        for client in self._kept.values():
            await client.close()
        self._kept.clear()
        if self._session is not None:
            await self._session.close()
            self._session = None
        await self._journal.settle()

    async def _open(self, api: Api, key: str | None) -> GuardedClient:
        match api.provider:
            case "open_ai":
                wire = await self._wire(api.base_url, key)
                from fabula.adapters.models.open_ai import OpenAiClient

                client: ModelClient = OpenAiClient(
                    wire=wire,
                    base_url=api.base_url,
                    model=api.model,
                    learned=self._learned,
                )
                return self._guarded(client, memo=self._memo)
            case "local":
                return self._guarded(LocalClient(folder=self._settings.models_folder, model=api.model), memo=self._memo)
            case "understudy":
                # It answers from the context, not from the prompt: the memo's key would not tell two questions apart.
                # It never goes round in circles either: what it repeats, the story says again and again.
                return self._guarded(Understudy(), memo=None, may_repeat=True)

    def _guarded(self, client: ModelClient, *, memo: Memo | None, may_repeat: bool = False) -> GuardedClient:
        return GuardedClient(
            client,
            Guard(
                clock=self._clock,
                journal=self._journal,
                flights=self._flights,
                memo=memo,
                attempts=self._settings.model_attempts,
                chance=random.random,
                turn_calls=self._turn_calls,
                may_repeat=may_repeat,
            ),
        )

    async def _listed(self, base_url: str, api_key: str) -> ModelList:
        address = await self._policy.check(base_url)
        key = looked_up(api_key, self._environment, self._settings.api_key_variables)
        wire = await self._wire(address, key)
        from fabula.adapters.models.open_ai import list_models

        return await list_models(wire=wire, base_url=address, seconds=LIST_SECONDS)

    async def _wire(self, base_url: str, key: str | None) -> Wire:
        session = await self._opened_session()
        from fabula.adapters.models.wire import Wire

        return Wire(session=session, policy=self._policy, base_url=base_url, api_key=key, clock=self._clock)

    async def _opened_session(self) -> aiohttp.ClientSession:
        async with self._connecting:
            if self._session is None:
                await self.load()
                from fabula.adapters.models.session import open_session

                self._session = await open_session(self._policy)
            return self._session

    async def _key_of(self, api: Api, api_revision: int | None) -> str | None:
        known = self._keys.get(api.api_id)
        asked_for = (api.base_url, api_revision)
        if known is None or (known.base_url, known.api_revision) != asked_for or known.until < self._clock.monotonic():
            until = self._clock.monotonic() + (KEY_GLANCED_AT_S if api_revision is None else KEY_REMEMBERED_S)
            known = _Key(
                stored=await self._read_key(api.api_id), base_url=api.base_url, api_revision=api_revision, until=until
            )
            self._keys[api.api_id] = known
        return looked_up(known.stored, self._environment, self._settings.api_key_variables)

    async def _forget_oldest(self) -> None:
        """Keeps the cache bounded. Only remote clients are let go: they hold nothing, and calls under way go on."""
        if len(self._kept) > MOST_KEPT:
            oldest = next((name for name in self._kept if name[0] == "open_ai"), None)
            if oldest is not None:
                await self._kept.pop(oldest).close()


def looked_up(stored: str | None, environment: Mapping[str, str], allowed: Sequence[str]) -> str | None:
    """The key itself: `env:NAME` is read from the environment now, so that a new value is used at once.

    Only variables that the operator lists are read: the environment holds more secrets than keys of models, and
    whoever saves an api chooses the address to which they would be sent.
    """
    if stored is None or not stored.startswith("env:"):
        return stored
    name = stored.removeprefix("env:")
    if not any(fnmatchcase(name, pattern) for pattern in allowed):
        raise ModelDenied(
            f"The api's key is to be read from {name[:100]}, which the setting api_key_variables does not list."
        )
    key = environment.get(name)
    if not key:
        raise ModelDenied(f"The api's key is to be read from {name}, but {name} is not set in the environment.")
    return key
