"""The one HTTP session that all remote clients share; its every connection is judged by the address policy."""

from __future__ import annotations

import asyncio
import socket
import ssl
from functools import partial
from typing import Final

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.client_proto import ResponseHandler
from aiohttp.http_exceptions import HttpProcessingError

from fabula.adapters.models.address_policy import AddressPolicy

PORTION: Final = 8 * 1024
MOST_HEADS: Final = 16
"""Heads of answers that wait to be read. There is one for each question, and perhaps a `100 Continue` before it."""


async def open_session(policy: AddressPolicy) -> aiohttp.ClientSession:
    """A session whose every connection is judged by the policy. No proxy, no cookies, no limit of parallel streams.

    Nothing is unpacked: no packed answer is asked for, and a few bytes of one become gigabytes.
    """
    certificates = await asyncio.to_thread(ssl.create_default_context)
    connector = aiohttp.TCPConnector(
        resolver=PinnedResolver(policy), use_dns_cache=False, limit=0, ssl=certificates, keepalive_timeout=30
    )
    # aiohttp has no other way to say of what a connection is made; a test notices when this one is gone.
    connector._factory = partial(FewHeads, loop=asyncio.get_running_loop())  # type: ignore[assignment]
    return aiohttp.ClientSession(
        connector=connector, trust_env=False, cookie_jar=aiohttp.DummyCookieJar(), auto_decompress=False
    )


class PinnedResolver(AbstractResolver):
    """Gives the connector only addresses that the policy has judged in the same moment."""

    def __init__(self, policy: AddressPolicy) -> None:
        self._policy = policy

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        judged = await self._policy.addresses_of(host, port)
        found = [_result(host, port, address) for address in judged]
        fitting = [entry for entry in found if family in (socket.AF_UNSPEC, entry["family"])]
        if not fitting:
            raise OSError(f"{host} has no address of the asked family")
        return fitting

    async def close(self) -> None:
        return None


def _result(host: str, port: int, address: str) -> ResolveResult:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    return ResolveResult(
        hostname=host,
        host=address,
        port=port,
        family=family,
        proto=0,
        flags=socket.AI_NUMERICHOST | socket.AI_NUMERICSERV,
    )


class FewHeads(ResponseHandler):
    """A connection on which very many answers to one question end it: aiohttp would read and keep them all.

    One read brings ten thousand heads of a few bytes each, and everybody else would wait while they are taken apart.
    """

    _has_paused = False

    def pause_reading(self) -> None:
        self._has_paused = True
        super().pause_reading()

    def resume_reading(self, resume_parser: bool = True) -> None:
        # aiohttp resumes for every chunk that is taken out of its buffer, and parses what was left when it paused: for
        # each token of an answer once, although nothing was paused.
        if self._has_paused:
            self._has_paused = False
            super().resume_reading(resume_parser)

    def data_received(self, data: bytes) -> None:
        if len(data) <= PORTION:
            super().data_received(data)
            return
        for start in range(0, len(data), PORTION):
            super().data_received(data[start : start + PORTION])
            if len(self) > MOST_HEADS:
                self._end()
            if self._exception is not None:
                return

    def _end(self) -> None:
        self.set_exception(HttpProcessingError(message="The server sends answers without end."))
        if self.transport is not None:
            self.transport.abort()
