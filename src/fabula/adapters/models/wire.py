"""One OpenAI-compatible server over HTTP: only at judged addresses, never along a redirect, its failures in our words.

1. A question goes out over the one session that all clients share, so connections are used again.
2. An answer that is not the one asked for becomes a ModelError by its status; one with a complaint about a parameter
   is passed on as `BadRequest`, because the question can be put differently.
3. Whoever lets go of an answer before its end closes the connection, which tells the server to stop.
"""

from __future__ import annotations

import asyncio
import email.utils
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import aiohttp
import orjson
from yarl import URL

from fabula.adapters.models.address_policy import AddressPolicy, AddressRefused
from fabula.adapters.models.events import has_many_values
from fabula.ports.models import (
    ModelBusy,
    ModelCutOff,
    ModelDenied,
    ModelError,
    ModelRefused,
    ModelUnreachable,
    ModelUnusable,
)
from fabula.ports.threads import run_in_thread
from fabula.ports.world import Clock

CONNECT_SECONDS = 10.0
LINGER_SECONDS = 1.0
TOGETHER_S = 0.02
"""Answers that are read now and then are read at moments so far apart, those of many turns at the same ones."""
LONGEST_COMPLAINT = 64 * 1024
LONGEST_LIST = 8 * 2**20
LONGEST_VECTORS = 4 * 2**20
LONGEST_NAME = 300
"""So many letters the name of a model has; those that models have are far shorter."""
_PATIENT = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS)
_GONE = "The connection to the model broke in the middle of its answer. Try again."
_SILENT = "The model server does not answer. Is it running at its base_url?"
_AWAY = "The model server cannot be reached. Is it running at its base_url?"
_NO_JSON = "The model server sent something that is no JSON. Is base_url the address of an API?"


class BadRequest(Exception):
    """The server does not take the request as it was put (400 or 422)."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status, self.text = status, text

    @property
    def param(self) -> str | None:
        """The parameter that the server names, if it does."""
        try:
            body = orjson.loads(self.text)
        except orjson.JSONDecodeError:
            return None
        error = body.get("error", body) if isinstance(body, dict) else None
        param = error.get("param") if isinstance(error, dict) else None
        return param if isinstance(param, str) else None


class Wire:
    """The way to one server. The key goes into the header of every question and nowhere else."""

    def __init__(
        self, *, session: aiohttp.ClientSession, policy: AddressPolicy, base_url: str, api_key: str | None, clock: Clock
    ) -> None:
        try:
            address = policy.spelled(base_url)
        except AddressRefused as refused:
            raise ModelRefused(refused.message) from None
        self._session, self._policy, self._clock = session, policy, clock
        self._chat, self._models = URL(f"{address}/chat/completions"), URL(f"{address}/models")
        self._embeddings = URL(f"{address}/embeddings")
        self._headers = {"Authorization": f"Bearer {api_key or 'none'}", "Accept-Encoding": "identity"}
        self._lingering: set[asyncio.Task[None]] = set()

    async def chat(self, body: dict[str, Any]) -> Answer:
        """The open stream of an answer; raises BadRequest where the question could be put differently."""
        headers = {**self._headers, "Content-Type": "application/json", "Accept": "text/event-stream"}
        with in_our_words():
            response = await self._request("POST", self._chat, headers, orjson.dumps(body))
            if response.status == 200:
                return Answer(response, self._lingering)
            raise await self._refusal(response)

    async def models(self) -> Any:
        """What the server lists as its models."""
        with in_our_words():
            response = await self._request("GET", self._models, self._headers, None)
            async with response:
                if response.status != 200:
                    raise await self._refusal(response)
                return await run_in_thread(_decoded, await read_at_most(response.content, LONGEST_LIST))

    async def embeddings(self, body: dict[str, Any]) -> Any:
        """What the server answers to a question for vectors."""
        headers = {**self._headers, "Content-Type": "application/json"}
        with in_our_words():
            response = await self._request("POST", self._embeddings, headers, orjson.dumps(body))
            async with response:
                if response.status != 200:
                    raise await self._refusal(response)
                return await run_in_thread(_decoded, await read_at_most(response.content, LONGEST_VECTORS))

    async def _request(
        self, verb: str, url: URL, headers: dict[str, str], body: bytes | None
    ) -> aiohttp.ClientResponse:
        # aiohttp hands numeric hosts to the system without asking the resolver, so they are judged here.
        self._policy.check_host(url.host or "")
        response = await self._session.request(
            verb, url, headers=headers, data=body, allow_redirects=False, timeout=_PATIENT
        )
        if response.headers.get("content-encoding", "identity").lower() != "identity":
            response.close()
            raise ModelUnusable("The model server packs its answers although it was not asked to. Turn that off.")
        return response

    async def _refusal(self, response: aiohttp.ClientResponse) -> Exception:
        async with response:
            if response.status in (400, 422):
                said = await read_at_most(response.content, LONGEST_COMPLAINT)
                return BadRequest(response.status, said.decode("utf-8", "replace"))
            return by_status(response.status, response.headers.get("retry-after"), self._clock)


class Answer:
    """An answer while it streams."""

    def __init__(self, response: aiohttp.ClientResponse, lingering: set[asyncio.Task[None]]) -> None:
        self._response, self._lingering = response, lingering

    async def read(self) -> bytes:
        """The bytes that have come, or the next ones; none at the end."""
        with _told_as_cut():
            return await self._response.content.readany()

    async def rest(self, seconds: float) -> None:
        """Reads nothing for a while. What comes meanwhile waits in the system, which has it all read at once.

        Not to the millisecond: what is read with the answers of other turns finds the way that they took still warm.
        """
        now = asyncio.get_running_loop().time()
        seconds = shared_moment(now + seconds) - now
        connection = self._response.connection
        transport = None if connection is None else connection.transport
        if transport is None or transport.is_closing():
            await asyncio.sleep(seconds)
            return
        transport.pause_reading()
        try:
            await asyncio.sleep(seconds)
        finally:
            transport.resume_reading()

    def close(self, *, complete: bool) -> None:
        """Lets go of it. A complete one has only its last line outstanding, after which its connection serves again."""
        if self._response.content.at_eof():
            self._response.release()
        elif complete:
            task = asyncio.create_task(self._linger())
            self._lingering.add(task)
            task.add_done_callback(self._lingering.discard)
        else:
            _hang_up(self._response)
            self._response.close()

    async def _linger(self) -> None:
        try:
            async with asyncio.timeout(LINGER_SECONDS):
                while not self._response.content.at_eof():
                    await self.read()
        except (TimeoutError, aiohttp.ClientError, OSError):
            self._response.close()
        except asyncio.CancelledError:
            self._response.close()
            raise
        else:
            self._response.release()


def shared_moment(at: float) -> float:
    """The moment next to this one at which answers are read."""
    return round(at / TOGETHER_S) * TOGETHER_S


def _hang_up(response: aiohttp.ClientResponse) -> None:
    """Ends the connection now. The event loop closes it at the end of its round; until then a model would write on."""
    transport = response.connection.transport if response.connection is not None else None
    used = transport.get_extra_info("socket") if transport is not None else None
    if used is None or used.fileno() < 0:
        return
    with suppress(OSError), socket.socket(fileno=os.dup(used.fileno())) as twin:
        twin.shutdown(socket.SHUT_RDWR)


def _decoded(body: bytes) -> Any:
    """A list of models, or vectors; one with very many values is none."""
    if has_many_values(body):
        raise ValueError("too many values")
    return orjson.loads(body)


def names_of(listed: object) -> tuple[str, ...] | None:
    """The names in a server's list of models; None when it is no such list."""
    found = listed.get("data") if isinstance(listed, dict) else None
    if not isinstance(found, list):
        return None
    names = (str(model["id"]) for model in found if isinstance(model, dict) and model.get("id"))
    # Sentences name some of them.
    return tuple(name for name in names if len(name) <= LONGEST_NAME)


async def read_at_most(content: aiohttp.StreamReader, limit: int) -> bytes:
    """A body to its end, or its first `limit` bytes."""
    read = bytearray()
    while len(read) < limit and not content.at_eof():
        with _told_as_cut():
            read += await content.read(limit - len(read))
    return bytes(read)


@contextmanager
def _told_as_cut() -> Iterator[None]:
    """A connection that went between two reads is no accident; aiohttp says so with a bare RuntimeError."""
    try:
        yield
    except RuntimeError as error:
        raise aiohttp.ClientConnectionError(str(error)) from error


@contextmanager
def in_our_words() -> Iterator[None]:
    """What may happen on the wire, as a ModelError with a sentence. No key, prompt or answer stands in it."""
    try:
        yield
    except AddressRefused as refused:
        raise ModelRefused(refused.message) from None
    except TimeoutError:
        raise ModelUnreachable(_SILENT) from None
    except aiohttp.ClientConnectorError:
        raise ModelUnreachable(_AWAY) from None
    except (aiohttp.InvalidURL, aiohttp.ClientResponseError):
        raise ModelUnusable("The model server's answer cannot be read. Is base_url right?") from None
    except (aiohttp.ClientError, OSError):
        raise ModelCutOff(_GONE) from None
    except ValueError:
        raise ModelUnusable(_NO_JSON) from None


def by_status(status: int, retry_after: str | None, clock: Clock) -> ModelError:
    """What an answer with this status means for whoever asked."""
    if status in (401, 403):
        return ModelDenied(f"The model server refuses the key (HTTP {status}). Check api_key.")
    if status == 404:
        return ModelDenied("The model server does not know the model or the path (HTTP 404). Check model and base_url.")
    if status in (408, 409, 425, 429) or status >= 500:
        wait = _seconds(retry_after, clock)
        busy = ModelBusy(f"The model server is busy or failing (HTTP {status}). Try again later.")
        busy.data = {} if wait is None else {"retry_after_s": wait}
        return busy
    if 300 <= status < 400:
        return ModelRefused("The model server points to another address. Put the final address into base_url.")
    return ModelRefused(f"The model server refuses the request (HTTP {status}).")


def _seconds(header: str | None, clock: Clock) -> float | None:
    """Seconds to wait: the header is a number of seconds or a date."""
    if header is None:
        return None
    try:
        return max(0.0, float(header))
    except ValueError:
        pass
    try:
        return max(0.0, email.utils.parsedate_to_datetime(header).timestamp() - clock.now_ms() / 1000)
    except (ValueError, OverflowError):
        return None
