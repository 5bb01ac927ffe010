"""What `fabula doctor` looks at: every part of the server, how it is, and the next step for what is missing."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Literal

from fabula.actions.care.damage import damaged_resources
from fabula.actions.care.tokens import list_tokens
from fabula.actions.followers.dispatch import FOLLOWER_WORK
from fabula.actions.house import House
from fabula.actions.library.apis import ApiView, list_apis, secret_name
from fabula.actions.views import Paging
from fabula.adapters.bus import place_of, try_redis
from fabula.adapters.embedders.wordllama import WordLlamaEmbedder
from fabula.adapters.models.detect import command_for, detect
from fabula.adapters.queues import broker_queue
from fabula.adapters.world import SystemClock
from fabula.cli.options import shown_time
from fabula.ports.actors import OPERATOR
from fabula.ports.errors import FabulaError
from fabula.ports.models import CallRecord, Found
from fabula.ports.threads import run_in_thread
from fabula.ports.work import QUEUES
from fabula.server.access import tokens_required
from fabula.server.web import is_built
from fabula.settings import Settings
from fabula.wiring import open_house

CALLS_LOOKED_AT = 500
MOST_NAMED = 10
LATE_S = 60.0
"""What follows a turn is done within seconds; what is later than this waits for somebody who is not there."""

State = Literal["ok", "idle", "missing", "broken"]


@dataclass(frozen=True, kw_only=True)
class Finding:
    """How one part is. `idle` parts are fine and not in use; `next_step` says what to type for the others."""

    part: str
    state: State
    sentence: str
    next_step: str = ""


async def check_up(settings: Settings) -> list[Finding]:
    """Looks at every part; a part that fails is a finding, too."""
    return [
        *await _house(settings),
        await _embedder(),
        await _bus(settings),
        *await _broker(settings),
        await asyncio.to_thread(_web_app),
    ]


async def _house(settings: Settings) -> list[Finding]:
    try:
        # Redis and the broker are looked at by themselves: a server opens without them, too.
        async with open_house(settings.model_copy(update={"redis_url": "", "broker_url": ""})) as house:
            return [
                *await _store(house),
                await _resources(house),
                *await _models(house),
                await _tokens(house),
                await _followers(house),
            ]
    except FabulaError as error:
        return [Finding(part="store", state="broken", sentence=error.message)]


async def _store(house: House) -> list[Finding]:
    status = await house.store.status()
    current = status.revision == status.newest_revision
    return [
        Finding(part="store", state="ok", sentence=f"{status.engine} at {status.place}"),
        Finding(
            part="migrations",
            state="ok" if current else "broken",
            sentence=f"at revision {status.revision}" + ("" if current else f", newest is {status.newest_revision}"),
            next_step="" if current else "Start the server once: it migrates the store.",
        ),
    ]


async def _resources(house: House) -> Finding:
    """Whether all resources can be read: lists pass over those that cannot."""
    damaged = await damaged_resources(house)
    if not damaged:
        return Finding(part="resources", state="ok", sentence="all can be read")
    more = f" And {len(damaged) - MOST_NAMED} more." if len(damaged) > MOST_NAMED else ""
    sentence = " ".join(damaged[:MOST_NAMED]) + more
    return Finding(part="resources", state="broken", sentence=sentence, next_step="Restore a backup, or delete them.")


async def _models(house: House) -> list[Finding]:
    apis = (await list_apis(house, OPERATOR, Paging())).apis
    offers = await _offers(house.settings, {(api.provider, api.base_url or api.model) for api in apis})
    async with house.store.reading() as unit:
        calls = await unit.calls.latest(limit=CALLS_LOOKED_AT)
    return [*[await _model(house, api, calls) for api in apis], *(offers or _no_model(apis))]


def _no_model(apis: Sequence[ApiView]) -> list[Finding]:
    if any(api.provider != "understudy" for api in apis):
        return []
    step = (
        "Set OPENAI_API_KEY, start a model server on port 11434, 1234 or 8080, or put a GGUF file into the models "
        "folder, and ask the doctor again."
    )
    return [Finding(part="a real model", state="idle", sentence="none is connected and none was found", next_step=step)]


async def _offers(settings: Settings, in_use: set[tuple[str, str]]) -> list[Finding]:
    """Models that could be used and are not yet, each with the one command that uses it."""
    found = [one for one in await detect(settings) if (one.provider, one.base_url or one.model) not in in_use]
    return [
        Finding(
            part=f"model {one.name}",
            state="idle" if one.reach.reachable or one.source == "models folder" else "broken",
            sentence=one.reach.problem or f"{one.model or 'a model server'} {_where(one)} could be used",
            next_step=_offer(one),
        )
        for one in found
    ]


def _where(found: Found) -> str:
    return f"at {found.base_url}" if found.base_url else f"in the {found.source}"


def _offer(found: Found) -> str:
    if found.usable:
        return command_for(found)
    return "Check OPENAI_API_KEY and OPENAI_API_BASE." if found.source == "environment" else ""


async def _model(house: House, api: ApiView, calls: Sequence[CallRecord]) -> Finding:
    part = f"model {api.api_id}"
    if api.provider == "understudy":
        return Finding(part=part, state="ok", sentence="the understudy: needs nothing, answers by rules")
    started = house.clock.monotonic()
    try:
        offered = await house.models.list_models(
            provider=api.provider, base_url=api.base_url, api_key=await _key(house, api)
        )
    except FabulaError as error:
        step = f"fabula models test {api.api_id}, or go back: fabula models use understudy"
        return Finding(part=part, state="broken", sentence=error.message + _last_call(api, calls), next_step=step)
    took = (house.clock.monotonic() - started) * 1000
    if offered.models and api.model not in offered.models:
        names = ", ".join(offered.models[:5])
        step = f"fabula models use {api.api_id} --model NAME"
        sentence = f"'{api.model}' is not offered there; {names} are{_last_call(api, calls)}"
        return Finding(part=part, state="broken", sentence=sentence, next_step=step)
    failed = (last := _last_of(api, calls)) is not None and last.outcome == "failed"
    return Finding(
        part=part,
        state="missing" if failed else "ok",
        sentence=f"{api.model}: its server answered in {took:.0f} ms{_last_call(api, calls)}",
        next_step=f"fabula models test {api.api_id}" if failed else "",
    )


def _last_of(api: ApiView, calls: Sequence[CallRecord]) -> CallRecord | None:
    """The newest call of an api. One that succeeded is recorded under the name that the server gave, often longer."""
    failed = f"{api.provider} {api.base_url} {api.model}" if api.base_url else f"{api.provider} {api.model}"
    return next((call for call in calls if call.model == failed or call.model.startswith(api.model)), None)


def _last_call(api: ApiView, calls: Sequence[CallRecord]) -> str:
    """What the last real call of an api did."""
    call = _last_of(api, calls)
    if call is None:
        return "; it was not asked anything yet"
    when = shown_time(call.recorded_at_ms)
    what = f"; last call {when}, {call.origin.agent}, {call.latency_ms / 1000:.1f} s: "
    if call.outcome == "ok":
        return f"{what}ok, {call.usage.completion_tokens} tokens"
    return what + (call.error or call.outcome)


async def _key(house: House, api: ApiView) -> str:
    async with house.store.reading() as unit:
        return await unit.secrets.get(secret_name(api.api_id)) or ""


async def _tokens(house: House) -> Finding:
    living = [token for token in await list_tokens(house, OPERATOR) if token.revoked_at_ms is None]
    if living:
        return Finding(part="tokens", state="ok", sentence=f"{len(living)} can be used")
    if tokens_required(house.settings):
        step = "fabula token create --role admin"
        return Finding(part="tokens", state="missing", sentence="none, and this server asks for one", next_step=step)
    return Finding(part="tokens", state="idle", sentence="none; on this machine nobody needs one")


async def _embedder() -> Finding:
    if await run_in_thread(find_spec, "wordllama") is None:
        step = "pip install wordllama"
        return Finding(part="embedder", state="missing", sentence="wordllama is not installed", next_step=step)
    embedder = WordLlamaEmbedder()
    await embedder.embed(["Once upon a time"])
    return Finding(part="embedder", state="ok", sentence=f"{embedder.name}, inside the server")


async def _bus(settings: Settings) -> Finding:
    """How servers follow each other's turns; Redis is really tried."""
    if not settings.redis_url:
        way = "through the store's Postgres" if settings.database_url else "inside this server"
        return Finding(part="bus", state="ok", sentence=f"turns are followed {way}")
    place, clock = place_of(settings.redis_url), SystemClock()
    started = clock.monotonic()
    try:
        problem = await try_redis(settings.redis_url)
    except FabulaError as error:
        problem = error.message
    if problem:
        step = "Start Redis, or correct the setting redis_url. Until then only a turn's own server can tell it."
        return Finding(part="bus", state="broken", sentence=f"Redis at {place}: {problem}", next_step=step)
    took = (clock.monotonic() - started) * 1000
    return Finding(part="bus", state="ok", sentence=f"Redis at {place}: answered in {took:.0f} ms")


async def _followers(house: House) -> Finding:
    """What follows turns: how much of it waits, for how long, and what was buried."""
    async with house.store.reading() as unit:
        counts = await unit.work.counts(FOLLOWER_WORK)
    waiting = [count for count in counts if count.status == "waiting"]
    dead = sum(count.count for count in counts if count.status == "dead")
    late_s = max([0.0, *((house.clock.now_ms() - count.oldest_due_at_ms) / 1000 for count in waiting)])
    said = f"{sum(count.count for count in waiting)} wait, {dead} were buried"
    if dead:
        step = "fabula outbox list --state dead"
        return Finding(part="followers", state="missing", sentence=said, next_step=step)
    if late_s > LATE_S:
        step = "Start a server, or workers: fabula worker" if house.settings.broker_url else "Start a server."
        return Finding(part="followers", state="missing", sentence=f"{said}; {late_s:.0f} s late", next_step=step)
    return Finding(part="followers", state="ok", sentence=said)


async def _broker(settings: Settings) -> list[Finding]:
    """The broker is really tried, and its workers are asked for."""
    if not settings.broker_url:
        return [Finding(part="broker", state="idle", sentence="none; servers do what follows turns themselves")]
    try:
        queue = broker_queue(settings.broker_url)
        status = await queue.status()
        await queue.close()
    except FabulaError as error:
        return [Finding(part="broker", state="broken", sentence=error.message)]
    if status.problem:
        step = "Start it, or correct the setting broker_url. Until then work waits and is looked for every few seconds."
        return [Finding(part="broker", state="broken", sentence=f"{status.place}: {status.problem}", next_step=step)]
    return [
        Finding(part="broker", state="ok", sentence=f"{status.place}: answered in {status.answered_ms} ms"),
        _workers(status.listeners),
    ]


def _workers(listeners: dict[str, list[str]]) -> Finding:
    step = "fabula worker"
    if not listeners:
        return Finding(part="workers", state="missing", sentence="none answered", next_step=step)
    names = "; ".join(f"{name} ({', '.join(queues)})" for name, queues in listeners.items())
    unheard = [queue for queue in QUEUES if not any(queue in queues for queues in listeners.values())]
    if unheard:
        sentence = f"{names}; nobody works for {', '.join(unheard)}"
        return Finding(
            part="workers", state="missing", sentence=sentence, next_step=f"{step} --queues {','.join(unheard)}"
        )
    return Finding(part="workers", state="ok", sentence=names)


def _web_app() -> Finding:
    if is_built():
        return Finding(part="web app", state="ok", sentence="built")
    return Finding(part="web app", state="missing", sentence="not built yet", next_step="make web")
