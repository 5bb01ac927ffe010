"""The headers that every answer carries, and those that let pages of a configured origin read it."""

from __future__ import annotations

from collections.abc import Mapping

Headers = list[tuple[bytes, bytes]]

# Trusted Types leave the one policy that Svelte makes for its own templates: nothing else may write markup or scripts.
CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'self'",
        "script-src 'self'",
        "style-src 'self'",
        "font-src 'self'",
        "worker-src 'self'",
        "img-src 'self' blob:",
        "connect-src 'self'",
        "object-src 'none'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types svelte-trusted-html",
    )
)

SECURITY_HEADERS: Headers = [
    (b"content-security-policy", CONTENT_SECURITY_POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), payment=(), usb=()"),
]

_ALLOWED_METHODS = b"GET, HEAD, POST, PUT, PATCH, DELETE"
_ALLOWED_HEADERS = b"authorization, content-type, last-event-id, x-file-name"
_EXPOSED_HEADERS = b"content-disposition, retry-after"
_PREFLIGHT_REMEMBERED_S = b"600"


def with_security(headers: Headers) -> Headers:
    """The headers of an answer with what is missing of the security headers."""
    present = {name.lower() for name, _ in headers}
    return [*headers, *(pair for pair in SECURITY_HEADERS if pair[0] not in present)]


def cors_headers(origin: str) -> Headers:
    """Lets pages of `origin` read the answer."""
    return [
        (b"access-control-allow-origin", origin.encode("latin-1", "replace")),
        (b"access-control-expose-headers", _EXPOSED_HEADERS),
        (b"vary", b"origin"),
    ]


def preflight_headers(asked: Mapping[str, str]) -> Headers:
    """The answer to a browser that asks whether it may call, besides the headers that name its origin."""
    near = "access-control-request-private-network" in asked
    return [
        (b"access-control-allow-methods", _ALLOWED_METHODS),
        (b"access-control-allow-headers", _ALLOWED_HEADERS),
        (b"access-control-max-age", _PREFLIGHT_REMEMBERED_S),
        *([(b"access-control-allow-private-network", b"true")] if near else []),
    ]
