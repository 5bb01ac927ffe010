"""The one HTTP session that all remote clients share; its every connection is judged by the address policy."""

from __future__ import annotations

import asyncio
import ssl

import aiohttp

from fabula.adapters.models.address_policy import AddressPolicy, PinnedResolver


async def open_session(policy: AddressPolicy) -> aiohttp.ClientSession:
    """A session whose every connection is judged by the policy. No proxy, no cookies, no limit of parallel streams.

    Nothing is unpacked: no packed answer is asked for, and a few bytes of one become gigabytes.
    """
    certificates = await asyncio.to_thread(ssl.create_default_context)
    connector = aiohttp.TCPConnector(
        resolver=PinnedResolver(policy), use_dns_cache=False, limit=0, ssl=certificates, keepalive_timeout=30
    )
    return aiohttp.ClientSession(
        connector=connector, trust_env=False, cookie_jar=aiohttp.DummyCookieJar(), auto_decompress=False
    )
