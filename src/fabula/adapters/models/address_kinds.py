"""What an IP address is: public, private, or one where no model may ever be reached; disguises are taken off first."""

from __future__ import annotations

import enum
import ipaddress
from functools import lru_cache

Ip = ipaddress.IPv4Address | ipaddress.IPv6Address


class AddressKind(enum.Enum):
    PUBLIC = "public"
    PRIVATE = "private"
    FORBIDDEN = "forbidden"


_METADATA = frozenset(
    ipaddress.ip_address(text)
    for text in (
        "100.100.100.200",
        "168.63.129.16",
        "192.0.0.192",
        "fd00:ec2::254",
        "fd20:ce::254",
    )
)
_FORBIDDEN = tuple(
    ipaddress.ip_network(text)
    for text in ("0.0.0.0/8", "169.254.0.0/16", "224.0.0.0/4", "240.0.0.0/4", "fe80::/10", "ff00::/8", "::/128")
)
# Prefixes of IPv6 behind which an IPv4 address hides, and how many bits follow it.
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
_NAT64_LOCAL = ipaddress.ip_network("64:ff9b:1::/48")
_COMPATIBLE = ipaddress.ip_network("::/96")
_TEREDO = ipaddress.ip_network("2001::/32")
_ISATAP = 0x00005EFE


def parse_literal(text: str) -> Ip | None:
    """A literal address in its one plain spelling, or None; zone names (`%eth0`) are kept for the judge to refuse."""
    try:
        return ipaddress.ip_address(text.removeprefix("[").removesuffix("]"))
    except ValueError:
        return None


@lru_cache(maxsize=256)
def kind_of(address: Ip) -> AddressKind:
    """What the address is, also when it is an IPv4 address in the clothes of an IPv6 one.

    Cached: every call of a model asks it, and there are few model servers.
    """
    if isinstance(address, ipaddress.IPv6Address):
        if address.scope_id is not None:
            return AddressKind.FORBIDDEN
        inner = _undressed(address)
        if inner is not None:
            return kind_of(inner)
    if address in _METADATA or any(address in network for network in _FORBIDDEN):
        return AddressKind.FORBIDDEN
    if address.is_multicast or address.is_unspecified:
        return AddressKind.FORBIDDEN
    if isinstance(address, ipaddress.IPv6Address) and address.is_site_local:
        return AddressKind.PRIVATE
    return AddressKind.PUBLIC if address.is_global else AddressKind.PRIVATE


def _undressed(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address.sixtofour is not None:
        return address.sixtofour
    if address in _TEREDO and address.teredo is not None:
        return address.teredo[1]
    number = int(address)
    if address in _NAT64 or address in _NAT64_LOCAL:
        return ipaddress.IPv4Address(number & 0xFFFFFFFF)
    if address in _COMPATIBLE and number > 1:
        return ipaddress.IPv4Address(number)
    if (number >> 32) & 0xFDFFFFFF == _ISATAP:
        return ipaddress.IPv4Address(number & 0xFFFFFFFF)
    return None
