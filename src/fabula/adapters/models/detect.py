"""Finds models that could be used: named in the environment, served on this machine on a usual port, or GGUF files."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Mapping
from pathlib import Path

import aiohttp
import orjson

from fabula.adapters.models.address_policy import AddressPolicy
from fabula.adapters.models.chat_models import talks
from fabula.adapters.models.events import has_many_values
from fabula.adapters.models.local import gguf_files, local_problem
from fabula.adapters.models.session import open_session
from fabula.adapters.models.wire import names_of, read_at_most
from fabula.ports.models import Found, Reach
from fabula.ports.threads import run_in_thread
from fabula.settings import Settings, aliases_of

LOCAL_PORTS: dict[int, str] = {11434: "Ollama", 1234: "LM Studio", 8080: "llama.cpp"}
DEFAULT_BASE = "https://api.openai.com/v1"
DEFAULT_MODEL = "gpt-4o-mini"
PROBE_SECONDS = 2.0
MOST_BYTES = 2**20


async def detect(
    settings: Settings, *, ports: dict[int, str] | None = None, environment: Mapping[str, str] = os.environ
) -> list[Found]:
    """Everything that could be used now: the environment's first, then this machine's by port, then files."""
    # Looking for servers on loopback is the operator's own wish here, wherever the server listens.
    policy = AddressPolicy(allow_private=True)
    async with await open_session(policy) as session:
        local = [_on_port(session, port, name, settings) for port, name in (ports or LOCAL_PORTS).items()]
        found = await asyncio.gather(_from_environment(session, policy, settings, environment), *local)
    files = await asyncio.to_thread(_files, settings.models_folder)
    return [*(one for one in found if one is not None), *files]


def _files(folder: Path) -> list[Found]:
    """The model files of the models folder that talk."""
    return [_file(folder, name) for name in gguf_files(folder) if talks(name)]


def _file(folder: Path, name: str) -> Found:
    problem = local_problem(folder, name)
    reach = Reach(base_url="", reachable=problem is None, models=(name,), problem=problem)
    return Found(name=name, source="models folder", provider="local", base_url="", model=name, key="", reach=reach)


def command_for(found: Found) -> str:
    """What to type to use a found model."""
    quoted = f'"{found.name}"' if " " in found.name else found.name
    return f"fabula models use {quoted}"


async def probe(policy: AddressPolicy, base_url: str, api_key: str | None) -> Reach:
    """Asks an address for its models."""
    async with await open_session(policy) as session:
        return await _probe(session, policy, base_url, api_key)


async def _from_environment(
    session: aiohttp.ClientSession, policy: AddressPolicy, settings: Settings, environment: Mapping[str, str]
) -> Found | None:
    """What OPENAI_API_KEY, OPENAI_API_BASE and LLM_MODEL say."""
    if not (settings.openai_api_key or settings.openai_api_base):
        return None
    base_url = settings.openai_api_base or DEFAULT_BASE
    reach = await _probe(session, policy, base_url, settings.openai_api_key or None)
    return Found(
        name="environment",
        source="environment",
        base_url=reach.base_url,
        model=settings.llm_model or ("" if _is_mute(reach) else _chosen(reach.models, DEFAULT_MODEL)),
        key=next((f"env:{name}" for name in aliases_of("openai_api_key") if environment.get(name)), ""),
        reach=reach,
    )


async def _on_port(session: aiohttp.ClientSession, port: int, name: str, settings: Settings) -> Found | None:
    policy = AddressPolicy(allow_private=True)
    reach = await _probe(session, policy, f"http://127.0.0.1:{port}/v1", None)
    if not reach.reachable:
        return None
    model = _chosen(reach.models, settings.llm_model if settings.llm_model in reach.models else "")
    return Found(name=name, source="this machine", base_url=reach.base_url, model=model, key="", reach=reach)


def _is_mute(reach: Reach) -> bool:
    """Whether a server offers models, and none that talks."""
    return bool(reach.others) and not reach.models


def _chosen(models: tuple[str, ...], wanted: str) -> str:
    """The wanted model if it is offered or the server tells of none; else the first that is."""
    return wanted if wanted in models or not models else models[0]


async def _probe(session: aiohttp.ClientSession, policy: AddressPolicy, base_url: str, api_key: str | None) -> Reach:
    address = policy.spelled(base_url)
    headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
    started = time.monotonic()
    try:
        async with (
            asyncio.timeout(PROBE_SECONDS),
            session.get(f"{address}/models", headers=headers, allow_redirects=False) as response,
        ):
            raw = await read_at_most(response.content, MOST_BYTES)
            status = response.status
    except (aiohttp.ClientError, OSError, TimeoutError):
        return Reach(base_url=address, reachable=False, problem="Nothing answers at this address.")
    latency = round((time.monotonic() - started) * 1000)
    # A list of models may be long, and whoever answers at a port of this machine need be no model server of ours.
    return await run_in_thread(_judged, address, status, raw, latency)


def _judged(address: str, status: int, raw: bytes, latency: int) -> Reach:
    if status in (401, 403):
        return Reach(base_url=address, reachable=False, latency_ms=latency, problem="The key is refused. Check it.")
    models = _names(raw)
    if status != 200 or models is None:
        odd = f"Something answers (HTTP {status}), but it is no model server."
        return Reach(base_url=address, reachable=False, latency_ms=latency, problem=odd)
    said = [(name, talks(name)) for name in models]
    chat = tuple(name for name, does in said if does)
    others = tuple(name for name, does in said if not does)
    problem = f"It offers no model that talks: only {', '.join(others[:5])}." if others and not chat else None
    return Reach(base_url=address, reachable=True, latency_ms=latency, models=chat, others=others, problem=problem)


def _names(raw: bytes) -> tuple[str, ...] | None:
    if has_many_values(raw):
        return None
    try:
        answer = orjson.loads(raw)
    except orjson.JSONDecodeError:
        return None
    return names_of(answer)
