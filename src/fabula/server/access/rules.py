"""The rules of the door, decided purely from the settings and a request's headers."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from fabula.actions.care.door_policy import LOOPBACK_NAMES, is_address, tokens_required
from fabula.ports.actors import Actor
from fabula.server.access.callers import CallCounter, TokenLookup
from fabula.settings import Settings

MIB = 1024 * 1024
LARGEST_OF_A_STRANGER = 16 * 1024
LARGEST_OF_REALTIME = 128 * 1024
"""A caller of Socket.IO who polls is a stranger here, and was let in by the protocol."""
SEAT_PATHS = frozenset({"/enter", "/leave"})
OPEN_PATHS = SEAT_PATHS | {
    "/",
    "/index.html",
    "/app",
    "/favicon.svg",
    "/manifest.webmanifest",
    "/healthz",
    "/readyz",
}
OPEN_PREFIXES = ("/assets/", "/app/", "/play/")
REALTIME_PATH = "/socket.io/"
LATE_PATHS = frozenset({"/ws", REALTIME_PATH})
_EVERY_INTERFACE = frozenset({"0.0.0.0", "::", ""})


@dataclass(frozen=True, kw_only=True)
class AccessRules:
    """What the door asks of a request.

    `hosts` and `origins` are lower case, `*` allows all. `any_address` allows every numeric address as Host: a
    rebinding page can only come by a name. `open_paths` and `open_prefixes` need no token: they are the browser app
    itself, which must be loaded before it can ask for one, its door, and the signs of life. At `late_paths` the token
    may come later, in the protocol itself: a game engine may not be able to set headers. Where no tokens are asked
    for, requests that a proxy passed on are refused unless `behind_proxy` says that it is meant so.
    """

    find_token: TokenLookup
    hosts: frozenset[str] = LOOPBACK_NAMES
    any_address: bool = False
    origins: frozenset[str] = frozenset()
    tokens_required: bool = False
    behind_proxy: bool = False
    max_body: int = MIB
    max_story: int = 8 * MIB
    max_upload: int = 64 * MIB
    max_open: int = 64
    open_paths: frozenset[str] = OPEN_PATHS
    open_prefixes: tuple[str, ...] = OPEN_PREFIXES
    late_paths: frozenset[str] = LATE_PATHS
    count_call: CallCounter | None = None

    def allows_host(self, host_header: str) -> bool:
        name = host_name(host_header)
        if name is None:
            return False
        return "*" in self.hosts or name in self.hosts or (self.any_address and is_address(name))

    def allows_origin(self, origin: str, host_header: str) -> bool:
        """Whether pages of `origin` may call: the server's own page, as the browser addressed it, or a listed one."""
        return self.lists_origin(origin) or _is_own(origin, host_header)

    def is_own_page(self, origin: str | None, host_header: str) -> bool:
        """Whether a page of this server itself calls, as far as a browser tells."""
        return origin is not None and _is_own(origin, host_header)

    def lists_origin(self, origin: str) -> bool:
        return "*" in self.origins or origin.lower() in self.origins

    def is_open(self, path: str) -> bool:
        return path in self.open_paths or path.startswith(self.open_prefixes)

    def limit_for(self, path: str, actor: Actor | None) -> int:
        """The largest body. Files and whole stories are read only from those who may send some."""
        if path == REALTIME_PATH:
            return min(self.max_body, LARGEST_OF_REALTIME)
        if actor is None:
            return min(self.max_body, LARGEST_OF_A_STRANGER)
        if not actor.may_act_as("author"):
            return self.max_body
        if path.startswith("/upload/"):
            return self.max_upload
        return max(self.max_body, self.max_story) if path == "/rpc" else self.max_body


def rules_from(settings: Settings, *, find_token: TokenLookup, count_call: CallCounter | None = None) -> AccessRules:
    """The rules of a server with these settings."""
    named = {name.lower() for name in settings.allowed_hosts}
    own = {settings.host.lower()} - _EVERY_INTERFACE
    return AccessRules(
        find_token=find_token,
        count_call=count_call,
        hosts=LOOPBACK_NAMES | own | named,
        any_address=settings.host in _EVERY_INTERFACE,
        origins=frozenset(origin.lower().rstrip("/") for origin in settings.allowed_origins),
        tokens_required=tokens_required(settings),
        behind_proxy=settings.behind_proxy,
        max_body=settings.max_body_mib * MIB,
        max_story=settings.max_story_mib * MIB,
        max_upload=settings.max_archive_mib * MIB,
        max_open=settings.max_open_per_token,
    )


def host_name(header: str) -> str | None:
    """The name in a Host header, lower case and without port and brackets; None when it is no Host header."""
    try:
        parts = urlsplit(f"//{header}")
        name, _port = parts.hostname, parts.port
    except ValueError:
        return None
    if not name or "%" in name or "@" in parts.netloc or parts.path or parts.query or parts.fragment:
        return None
    return name


def _is_own(origin: str, host_header: str) -> bool:
    scheme, separator, rest = origin.partition("://")
    if not separator or scheme not in ("http", "https"):
        return False
    # A proxy that ends TLS passes the Host on with or without the port that the scheme implies.
    implied = {"http": ":80", "https": ":443"}[scheme]
    return rest.lower().removesuffix(implied) == host_header.lower().removesuffix(implied)
