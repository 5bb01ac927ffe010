"""How the openai SDK reaches a server: over aiohttp, only to judged addresses, never along a redirect.

The SDK speaks httpx2; under many parallel streams aiohttp is far quicker, so its requests are carried by one aiohttp
session that all clients share.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager

import aiohttp
import httpx2

from fabula.adapters.models.address_policy import AddressPolicy

CONNECT_SECONDS = 10.0


class PinnedTransport(httpx2.AsyncBaseTransport):
    """Carries one client's requests over the shared session."""

    def __init__(self, session: aiohttp.ClientSession, policy: AddressPolicy) -> None:
        self._session = session
        self._policy = policy

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        # aiohttp hands numeric hosts to the system without asking the resolver, so they are judged here.
        self._policy.check_host(request.url.host)
        body = await request.aread()
        with _errors_of_httpx():
            response = await self._session.request(
                request.method,
                str(request.url),
                headers=request.headers.multi_items(),
                data=body or None,
                allow_redirects=False,
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS),
            )
        return httpx2.Response(
            status_code=response.status,
            headers=list(response.raw_headers),
            stream=_Body(response),
            request=request,
            extensions={"http_version": b"HTTP/1.1"},
        )


class _Body(httpx2.AsyncByteStream):
    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self._response = response

    async def __aiter__(self) -> AsyncIterator[bytes]:
        with _errors_of_httpx():
            async for chunk in self._response.content.iter_any():
                yield chunk

    async def aclose(self) -> None:
        # A connection whose answer was not read to its end is closed, which tells the server to stop.
        if self._response.content.at_eof():
            self._response.release()
        else:
            self._response.close()


@contextmanager
def _errors_of_httpx() -> Iterator[None]:
    try:
        yield
    except (aiohttp.ServerTimeoutError, TimeoutError) as error:
        raise httpx2.ConnectTimeout(str(error)) from error
    except aiohttp.ClientConnectorError as error:
        raise httpx2.ConnectError(str(error)) from error
    except (aiohttp.ClientError, OSError) as error:
        raise httpx2.ReadError(str(error)) from error
