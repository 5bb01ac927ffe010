"""The guard: ASGI middleware that lets a request in or refuses it. It never holds a stream back."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from fabula.ports.actors import OPERATOR, Actor
from fabula.ports.errors import StoreError, TooMany
from fabula.ports.throttle import Throttle
from fabula.server.access.answers import AnswerWeights, PortionedSend
from fabula.server.access.callers import SUBPROTOCOL, TokenCache, seat_in, token_in
from fabula.server.access.headers import cors_headers, preflight_headers, with_security
from fabula.server.access.places import Places
from fabula.server.access.refusals import (
    LINES_A_MINUTE,
    Refusal,
    RefusalLog,
    forwarded,
    full_hands,
    plain,
    refuse,
    strange_host,
    strange_origin,
    token_needed,
    token_unknown,
    too_large,
    too_many_open,
)
from fabula.server.access.rules import REALTIME_PATH, SEAT_PATHS, AccessRules

log = logging.getLogger("fabula.access")

_FORWARDED = frozenset(
    {"forwarded", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip", "x-client-ip", "via"}
)
_SECONDS_BETWEEN_LOOKS = 5.0
LARGEST_BODIES = 128 * 1024 * 1024
_STARTS = ("http.response.start", "websocket.http.response.start")


def guard(app: ASGIApp, access: AccessRules, *, monotonic: Callable[[], float] = time.monotonic) -> ASGIApp:
    """The app behind a door that follows the rules; the actor is in `scope["state"]["actor"]` behind it."""
    tokens = TokenCache(access.find_token, monotonic)
    refused = RefusalLog(monotonic)
    bodies = _Bodies(max(LARGEST_BODIES, 2 * access.max_upload), Throttle(monotonic, LINES_A_MINUTE))
    places = Places(access.max_open)

    async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await app(scope, receive, send)
            return
        headers = _headers_of(scope)
        send = _dressed(send, access, headers)
        if (refusal := _strange(access, headers, scope["path"])) is not None:
            refused.tell(refusal, scope)
            await refuse(refusal, scope, send)
        elif _is_preflight(scope, headers):
            await _answer_preflight(headers, send)
        else:
            token = token_in(headers) or _seat(access, headers, scope)
            try:
                actor = await _actor(access, tokens, headers, scope["path"], token)
            except StoreError as error:
                actor = Refusal(status=503, error=error)
            actor = await _counted(access, actor, scope["path"])
            if isinstance(actor, Refusal):
                refused.tell(actor, scope)
                await refuse(actor, scope, send)
            elif not places.take(actor):
                refused.tell(too_many := too_many_open(places.most), scope)
                await refuse(too_many, scope, send)
            else:
                try:
                    await _let_in(app, access, tokens, bodies, actor, token, headers, scope, receive, send)
                finally:
                    places.give_back(actor)

    return guarded


async def _let_in(
    app: ASGIApp,
    access: AccessRules,
    tokens: TokenCache,
    bodies: _Bodies,
    actor: Actor | None,
    token: str | None,
    headers: Mapping[str, str],
    scope: Scope,
    receive: Receive,
    send: Send,
) -> None:
    if actor is not None:
        scope["state"] = {**scope.get("state", {}), "actor": actor}
    if scope["type"] == "websocket":
        await app(scope, receive, send)
    else:
        if actor is not None and actor.token_id is not None:
            send = _while_valid(send, tokens, token or "")
        owner = None if actor is None else actor.token_id
        answer = PortionedSend(send, scope, bodies.answers, owner)
        try:
            limit = access.limit_for(scope["path"], actor)
            await _within_limit(app, limit, bodies, headers, scope, receive, answer.send)
        finally:
            answer.end()


def _strange(access: AccessRules, headers: Mapping[str, str], path: str) -> Refusal | None:
    host, origin = headers.get("host", ""), headers.get("origin")
    if not access.allows_host(host):
        return strange_host(host)
    if origin is not None and path in SEAT_PATHS:
        # No other page gives this server's pages a seat, or takes it from them, not even one that may call.
        return None if access.is_own_page(origin, host) else strange_origin(origin)
    if origin is not None:
        return None if access.allows_origin(origin, host) else strange_origin(origin)
    # Browsers send no Origin with images, scripts and forms' GETs, but newer ones tell where those come from.
    foreign = headers.get("sec-fetch-site") == "cross-site" and headers.get("sec-fetch-mode") != "navigate"
    return strange_origin("another site") if foreign else None


def _seat(access: AccessRules, headers: Mapping[str, str], scope: Scope) -> str | None:
    """The token of a browser's cookie, where only a page of this server can have sent it.

    Browsers add cookies by themselves, so a cookie changes something only with the Origin of the server's own page;
    pictures and downloads, which have none, are asked for by a page of the same origin or by the user.
    """
    if access.is_own_page(headers.get("origin"), headers.get("host", "")):
        return seat_in(headers)
    reads = scope["type"] == "http" and scope["method"] in ("GET", "HEAD") and "origin" not in headers
    near = headers.get("sec-fetch-site") in (None, "same-origin", "none")
    return seat_in(headers) if reads and near else None


async def _actor(
    access: AccessRules, tokens: TokenCache, headers: Mapping[str, str], path: str, token: str | None
) -> Actor | Refusal | None:
    """Who calls. None is a stranger at an open path: whoever asks there for an actor finds none."""
    if not access.tokens_required and token_in(headers) is None:
        # A browser sends one cookie to all servers of a machine: one of another server counts for nothing here.
        seated = None if token is None else await tokens.actor_with(token)
        if seated is not None:
            return seated
        if access.behind_proxy or _FORWARDED.isdisjoint(headers):
            return OPERATOR
        # Whoever stands before a proxy is not at this machine.
        return None if access.is_open(path) else forwarded()
    if access.is_open(path):
        return None
    if token is None:
        return None if path in access.late_paths else token_needed()
    return await tokens.actor_with(token) or token_unknown()


async def _counted(access: AccessRules, actor: Actor | Refusal | None, path: str) -> Actor | Refusal | None:
    """Whoever was let in, unless they call too often. Socket.IO counts events, not the requests that carry them."""
    if access.count_call is not None and isinstance(actor, Actor) and path != REALTIME_PATH:
        try:
            await access.count_call(actor)
        except TooMany as error:
            return Refusal(status=429, error=error)
    return actor


def _dressed(send: Send, access: AccessRules, asked: Mapping[str, str]) -> Send:
    origin = asked.get("origin")
    cors = cors_headers(origin) if origin is not None and access.lists_origin(origin) else []
    speaks = SUBPROTOCOL in (part.strip() for part in asked.get("sec-websocket-protocol", "").split(","))

    async def dressed(message: Message) -> None:
        if message["type"] in _STARTS:
            message = {**message, "headers": with_security([*message.get("headers", ()), *cors])}
        elif message["type"] == "websocket.accept" and speaks and not message.get("subprotocol"):
            message = {**message, "subprotocol": SUBPROTOCOL}
        await send(message)

    return dressed


def _while_valid(send: Send, tokens: TokenCache, token: str) -> Send:
    """Sends for as long as the token works: a long stream ends soon after it was revoked."""
    looked_at = tokens.now()

    async def sending(message: Message) -> None:
        nonlocal looked_at
        if message.get("more_body") and tokens.now() - looked_at > _SECONDS_BETWEEN_LOOKS:
            looked_at = tokens.now()
            if not await _may_stay(tokens, token):
                await send({"type": "http.response.body", "body": b"", "more_body": False})
                raise ClientDisconnect
        await send(message)

    return sending


async def _may_stay(tokens: TokenCache, token: str) -> bool:
    try:
        return await tokens.actor_with(token) is not None
    except StoreError:
        # A store that is away for a moment is no reason to end a stream; the next look comes soon.
        return True


def _is_preflight(scope: Scope, headers: Mapping[str, str]) -> bool:
    return scope["type"] == "http" and scope["method"] == "OPTIONS" and "access-control-request-method" in headers


async def _answer_preflight(headers: Mapping[str, str], send: Send) -> None:
    answer = preflight_headers(headers)
    await send({"type": "http.response.start", "status": 204, "headers": answer})
    await send({"type": "http.response.body", "body": b""})


async def _within_limit(
    app: ASGIApp,
    limit: int,
    bodies: _Bodies,
    headers: Mapping[str, str],
    scope: Scope,
    receive: Receive,
    send: Send,
) -> None:
    declared = headers.get("content-length", "")
    if declared.isdecimal() and (len(declared) > 18 or int(declared) > limit):
        await refuse(too_large(limit), scope, send)
        return
    reader = _LimitedReader(limit, bodies, scope, receive, send)
    try:
        await app(scope, reader.receive, reader.send)
    except ClientDisconnect:
        # Either the answer has been given and the app was only told that the client is gone, or it is.
        if not reader.refused and bodies.left_lines.allows():
            log.info(
                "a client left before its request was whole", extra={"facts": {"path": plain(scope["path"][:100])}}
            )
    finally:
        bodies.held -= reader.seen


class _Bodies:
    """The bodies of all requests together: `held` bytes of them are in memory; and what their answers weigh."""

    def __init__(self, most: int, left_lines: Throttle) -> None:
        self.most, self.held, self.left_lines = most, 0, left_lines
        self.answers = AnswerWeights()


class _LimitedReader:
    """Counts a body as it is read; past the limit it answers at once and tells the app that the client is gone."""

    def __init__(self, limit: int, bodies: _Bodies, scope: Scope, receive: Receive, send: Send) -> None:
        self._limit, self._bodies = limit, bodies
        self._scope, self._receive, self._send = scope, receive, send
        self.seen = 0
        self._answering = False
        self.refused = False

    async def receive(self) -> Message:
        if self.refused:
            return {"type": "http.disconnect"}
        message = await self._receive()
        if message["type"] == "http.request":
            size = len(message.get("body", b""))
            self.seen += size
            self._bodies.held += size
            if self.seen > self._limit:
                return await self._cut_off(too_large(self._limit))
            if self._bodies.held > self._bodies.most:
                return await self._cut_off(full_hands())
        return message

    async def send(self, message: Message) -> None:
        if self.refused:
            return
        self._answering = True
        await self._send(message)

    async def _cut_off(self, refusal: Refusal) -> Message:
        self.refused = True
        if not self._answering:
            await refuse(refusal, self._scope, self._send)
        return {"type": "http.disconnect"}


def _headers_of(scope: Scope) -> dict[str, str]:
    """A request's headers by lower-case name. Of a repeated one the last counts, except Host and Origin.

    Two Hosts or Origins are a trick to have the guard read one and the app another: they count as none that is allowed.
    """
    found: dict[str, str] = {}
    for raw_name, raw_value in scope["headers"]:
        name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1")
        found[name] = f"{found[name]}, {value}" if name in found and name in ("host", "origin") else value
    return found
