"""When callers must show a token, decided from the settings alone."""

from __future__ import annotations

from ipaddress import ip_address

from fabula.settings import Settings

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})


def tokens_required(settings: Settings) -> bool:
    """Whether callers must show a token: beyond loopback always.

    A server that may be addressed by a public name stands beyond loopback too, even if a proxy on the same machine
    is the only one that connects to it.
    """
    names = (settings.host, *settings.allowed_hosts)
    return settings.require_tokens or not all(is_loopback(name) for name in names)


def is_loopback(host: str) -> bool:
    """Whether an address or name can only be reached from this machine."""
    name = host.lower().strip("[]")
    if name in LOOPBACK_NAMES:
        return True
    return is_address(name) and ip_address(name).is_loopback


def is_address(name: str) -> bool:
    """Whether a name is a numeric address."""
    try:
        ip_address(name)
    except ValueError:
        return False
    return True
