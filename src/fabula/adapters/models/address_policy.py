"""The address policy: which base_url a model may be reached at, judged at save and again at every connection.

1. The spelling is judged: http or https, no user name, no query, a plain host and port.
2. The host is judged by name: names of metadata services are refused always.
3. The host is resolved, and every address it stands for is judged.
4. At call the connector may only use addresses that this policy has just judged (`PinnedResolver`), so a name that
   changes its mind between check and call (DNS rebinding) is refused. Redirects are never followed.
"""

from __future__ import annotations

import asyncio
import re
import socket
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from fabula.adapters.models.address_kinds import AddressKind, Ip, kind_of, parse_literal
from fabula.language.normal_forms import normal_form
from fabula.ports.errors import InvalidRequest
from fabula.settings import Settings

Resolve = Callable[[str, int], Awaitable[list[str]]]
"""Answers the addresses of a host; raises OSError when there are none."""

RESOLVE_SECONDS = 3.0
METADATA_NAMES = frozenset(
    {
        "instance-data",
        "instance-data.ec2.internal",
        "metadata",
        "metadata.azure.internal",
        "metadata.goog",
        "metadata.google.internal",
        "metadata.tencentyun.com",
    }
)
_LABEL = re.compile(r"^(?!-)[a-z0-9_-]{1,63}(?<!-)$")
_NUMBER = re.compile(r"^(0x[0-9a-f]*|[0-9]+)$")


class AddressRefused(InvalidRequest):
    """A base_url that may not be used; the sentence says why."""


async def resolve_by_system(host: str, port: int) -> list[str]:
    """The addresses of a host by the system's resolver, without repeats."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


@dataclass(frozen=True, kw_only=True)
class AddressPolicy:
    """Judges addresses. `allow_private` opens loopback and private networks; metadata services stay closed."""

    allow_private: bool
    resolve: Resolve = resolve_by_system

    async def check(self, base_url: str) -> str:
        """The normalised base_url; raises InvalidRequest when it may not be used.

        A name that cannot be resolved now passes: it may exist later, and every call judges it again.
        """
        plain = self.spelled(base_url)
        url = urlsplit(plain)
        try:
            async with asyncio.timeout(RESOLVE_SECONDS):
                await self.addresses_of(url.hostname or "", url.port or (443 if url.scheme == "https" else 80))
        except (OSError, TimeoutError):
            pass
        return plain

    def spelled(self, base_url: str) -> str:
        """The normalised base_url, judged by its spelling alone."""
        url = _split(base_url)
        return _join(url, self.check_host(url.hostname or ""))

    def check_host(self, host: str) -> str:
        """The host in its plain spelling; raises when its spelling, name or literal address is refused."""
        literal = parse_literal(host)
        if literal is not None:
            self._judge(literal, host)
            return str(literal)
        name = _plain_name(host)
        if name in METADATA_NAMES:
            raise AddressRefused(f"'{name}' is a metadata service: models cannot be reached there.")
        if (name == "localhost" or name.endswith(".localhost")) and not self.allow_private:
            raise AddressRefused(_PRIVATE.format(host=name))
        return name

    async def addresses_of(self, host: str, port: int) -> list[str]:
        """The judged addresses of a host; raises AddressRefused when one of them is refused."""
        literal = parse_literal(self.check_host(host))
        found = [str(literal)] if literal is not None else await self.resolve(host, port)
        for text in found:
            address = parse_literal(text)
            if address is None:
                raise AddressRefused(f"'{host}' has an address that cannot be judged. Use another base_url.")
            self._judge(address, host)
        return found

    def _judge(self, address: Ip, host: str) -> None:
        match kind_of(address):
            case AddressKind.PUBLIC:
                return
            case AddressKind.PRIVATE:
                if not self.allow_private:
                    raise AddressRefused(_PRIVATE.format(host=host))
            case AddressKind.FORBIDDEN:
                raise AddressRefused(
                    f"'{host}' is a link-local, metadata, multicast or unspecified address: models cannot be reached "
                    "there. Use the address of a model server."
                )


_PRIVATE = (
    "'{host}' is a private or loopback address, and this server listens beyond loopback. Use a public address, or set "
    "`allow_private_model_addresses`."
)


def policy_of(settings: Settings, resolve: Resolve = resolve_by_system) -> AddressPolicy:
    """The policy that fits where the server listens: on loopback, local model servers are welcome."""
    return AddressPolicy(
        allow_private=settings.allow_private_model_addresses or listens_on_loopback(settings.host), resolve=resolve
    )


def listens_on_loopback(host: str) -> bool:
    """Whether a server that listens on this host can be reached from this machine alone."""
    literal = parse_literal(host)
    return host == "localhost" if literal is None else literal.is_loopback


def _split(base_url: str) -> SplitResult:
    text = base_url.strip()
    if not text:
        raise AddressRefused("The base_url is empty. Give the address of a model server, such as https://host/v1.")
    if any(ord(char) <= 32 or ord(char) == 127 or char == "\\" for char in text):
        raise AddressRefused("The base_url holds spaces, control characters or backslashes. Write it without them.")
    try:
        url = urlsplit(text)
        _ = url.port
    except ValueError:
        raise AddressRefused("The base_url cannot be read. Write it like https://host:port/v1.") from None
    if url.scheme not in ("http", "https"):
        raise AddressRefused("The base_url must begin with http:// or https://.")
    if "@" in url.netloc:
        raise AddressRefused("The base_url holds a user name or password. Put the key into api_key instead.")
    if url.query or url.fragment or "?" in text or "#" in text:
        raise AddressRefused("The base_url must not hold `?` or `#`. Write only scheme, host, port and path.")
    if not url.hostname:
        raise AddressRefused("The base_url has no host. Write it like https://host:port/v1.")
    return url


def _plain_name(host: str) -> str:
    name = host.lower().removesuffix(".")
    if not name.isascii():
        name = _punycode(name)
    labels = name.split(".")
    if len(name) > 253 or not all(_LABEL.match(label) for label in labels):
        raise AddressRefused("The host of the base_url is not a plain host name.")
    if _NUMBER.match(labels[-1]):
        # Decimal, octal, hexadecimal and short forms mean different addresses to different readers.
        raise AddressRefused("Write a numeric host as four decimal numbers, such as 192.0.2.1.")
    return name


def _punycode(name: str) -> str:
    if normal_form("NFKC", name).isascii():
        raise AddressRefused("The host of the base_url uses look-alike characters. Write it in plain letters.")
    try:
        return name.encode("idna").decode("ascii")
    except UnicodeError:
        raise AddressRefused("The host of the base_url is not a plain host name.") from None


def _join(url: SplitResult, host: str) -> str:
    shown = f"[{host}]" if ":" in host else host
    port = "" if url.port in (None, {"http": 80, "https": 443}[url.scheme]) else f":{url.port}"
    return f"{url.scheme}://{shown}{port}{url.path.rstrip('/')}"
