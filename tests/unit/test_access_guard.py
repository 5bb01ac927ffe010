"""The door: who is let in, who is refused, and how the refusal reads."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, StreamingResponse
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.types import Message, Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

from fabula.actions.care.tokens import token_hash
from fabula.ports.actors import Actor
from fabula.ports.errors import StoreAway
from fabula.ports.store import Token
from fabula.server.access import AccessRules, actor_of, guard, is_loopback, rules_from, tokens_required
from fabula.server.access.rules import host_name
from fabula.settings import Settings

KNOWN = {
    token_hash("player-secret"): Token(token_id="token_1", label="", role="player", hash="", created_at_ms=1),
    token_hash("old-secret"): Token(
        token_id="token_2", label="", role="admin", hash="", created_at_ms=1, revoked_at_ms=2
    ),
}


async def find(hash: str) -> Token | None:
    return KNOWN.get(hash)


async def whoami(request: Request) -> JSONResponse:
    caller = actor_of(request.scope)
    return JSONResponse({"role": caller.role, "token_id": caller.token_id})


async def length(request: Request) -> PlainTextResponse:
    return PlainTextResponse(str(len(await request.body())))


async def ticks(request: Request) -> StreamingResponse:
    async def body() -> AsyncIterator[bytes]:
        for number in range(3):
            yield f"data: {number}\n\n".encode()

    return StreamingResponse(body(), media_type="text/event-stream")


async def socket(websocket: WebSocket) -> None:
    await websocket.accept()
    await websocket.send_text(actor_of(websocket.scope).role)
    await websocket.close()


HOUSE = Starlette(
    routes=[
        Route("/healthz", lambda request: PlainTextResponse("ok")),
        Route("/rpc", whoami, methods=["GET", "POST"]),
        Route("/length", length, methods=["POST"]),
        Route("/upload/x", length, methods=["POST"]),
        Route("/ticks", ticks),
        WebSocketRoute("/ws", socket),
        WebSocketRoute("/other", socket),
    ]
)


def rules(**changes: object) -> AccessRules:
    return rules_from(Settings.model_validate(changes), find_token=find)


def client(access: AccessRules, base_url: str = "http://127.0.0.1:8420") -> TestClient:
    return TestClient(guard(HOUSE, access), base_url=base_url, raise_server_exceptions=False)


def test_on_loopback_every_caller_is_admin() -> None:
    assert client(rules()).post("/rpc").json() == {"role": "admin", "token_id": None}


@pytest.mark.parametrize("host", ["localhost:8420", "127.0.0.1", "[::1]:8420", "LOCALHOST"])
def test_loopback_names_are_answered(host: str) -> None:
    assert client(rules()).get("/healthz", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.nip.io", "192.168.1.5:8420", "localhost@evil.example", "", "localhost/x", "::1"]
)
def test_a_strange_host_is_refused_with_a_sentence(host: str) -> None:
    answer = client(rules()).get("/healthz", headers={"host": host})
    assert answer.status_code == 403
    assert answer.json()["code"] == 40303
    assert "allowed_hosts" in answer.json()["message"]


def test_a_configured_host_is_answered_and_asks_for_a_token() -> None:
    access = rules(allowed_hosts=("story.example",))
    visitor = client(access, "http://story.example")
    assert visitor.get("/healthz").status_code == 200
    assert visitor.post("/rpc").status_code == 401


def test_a_server_on_all_interfaces_answers_numeric_addresses_but_no_strange_names() -> None:
    access = rules(host="0.0.0.0")
    assert client(access).get("/healthz", headers={"host": "192.168.1.5:8420"}).status_code == 200
    assert client(access).get("/healthz", headers={"host": "rebound.example"}).status_code == 403


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", "http://localhost:5173", "http://127.0.0.1", "file://", "127.0.0.1:8420"]
)
def test_a_page_of_another_origin_is_refused(origin: str) -> None:
    answer = client(rules()).post("/rpc", headers={"origin": origin})
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, 40303)
    assert "access-control-allow-origin" not in answer.headers


def test_a_refusal_at_the_route_of_json_rpc_is_a_json_rpc_error() -> None:
    answer = client(rules()).post("/rpc", headers={"host": "evil.example"}).json()
    assert (answer["jsonrpc"], answer["id"], answer["error"]["code"]) == ("2.0", None, 40303)


def test_a_refusal_leaves_a_line_and_a_flood_of_them_only_a_few(caplog: pytest.LogCaptureFixture) -> None:
    visitor = client(rules())
    for number in range(100):
        visitor.get(f"/healthz?{number}", headers={"host": "evil.example", "x-note": "x"})
        visitor.get("/healthz", headers=[(b"origin", b"https://evil.example\x85forged line")])
    lines = [getattr(record, "facts", {}) for record in caplog.records if record.name == "fabula.access"]
    assert 2 <= len(lines) <= 20
    assert "evil.example" in lines[0]["why"] and "\x85" not in lines[1]["why"]


@pytest.mark.parametrize("header", ["x-forwarded-for", "forwarded", "x-real-ip", "X-Forwarded-Host", "via"])
def test_where_no_tokens_are_asked_for_a_request_through_a_proxy_is_refused(header: str) -> None:
    passed_on = {header: "203.0.113.7"}
    answer = client(rules()).post("/rpc", headers=passed_on)
    assert answer.status_code == 403 and "behind_proxy" in answer.json()["error"]["message"]
    assert client(rules()).get("/healthz", headers=passed_on).status_code == 200
    assert client(rules(behind_proxy=True)).post("/rpc", headers=passed_on).json()["role"] == "admin"
    token = {"authorization": "Bearer player-secret", **passed_on}
    assert client(rules()).post("/rpc", headers=token).json()["role"] == "player"


async def test_a_stream_ends_soon_after_its_token_was_revoked() -> None:
    now, valid, sent = [0.0], [True], list[Message]()

    async def find_while_valid(hash: str) -> Token | None:
        return KNOWN[token_hash("player-secret")] if valid[0] else None

    async def endless(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        for number in range(100):
            now[0] += 1
            valid[0] = number < 10
            await send({"type": "http.response.body", "body": b"x", "more_body": True})

    async def receive() -> Message:
        return await asyncio.Future()

    async def send(message: Message) -> None:
        sent.append(message)

    headers = [(b"host", b"localhost"), (b"authorization", b"Bearer player-secret")]
    scope: Scope = {"type": "http", "method": "GET", "path": "/ticks", "query_string": b"", "headers": headers}
    await guard(endless, AccessRules(find_token=find_while_valid), monotonic=lambda: now[0])(scope, receive, send)
    assert 10 < len(sent) < 25
    assert sent[-1] == {"type": "http.response.body", "body": b"", "more_body": False}


async def test_a_stream_goes_on_while_nobody_can_tell_whether_its_token_works() -> None:
    now, sent = [0.0], list[Message]()

    async def find_at_first(hash: str) -> Token | None:
        if now[0] > 0:
            raise StoreAway("gone")
        return KNOWN[hash]

    async def telling(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        for _ in range(20):
            now[0] += 1
            await send({"type": "http.response.body", "body": b"x", "more_body": True})

    async def receive() -> Message:
        return await asyncio.Future()

    async def send(message: Message) -> None:
        sent.append(message)

    headers = [(b"host", b"localhost"), (b"authorization", b"Bearer player-secret")]
    scope: Scope = {"type": "http", "method": "GET", "path": "/ticks", "query_string": b"", "headers": headers}
    await guard(telling, AccessRules(find_token=find_at_first), monotonic=lambda: now[0])(scope, receive, send)
    assert [message["body"] for message in sent[1:]] == [b"x"] * 20


def test_where_no_token_can_be_looked_up_a_caller_is_told_when_to_come_back(caplog: pytest.LogCaptureFixture) -> None:
    async def find_nobody(hash: str) -> Token | None:
        raise StoreAway("The store at postgresql://fabula@10.0.0.5/fabula does not answer.")

    away = client(AccessRules(find_token=find_nobody, tokens_required=True))
    for _ in range(100):
        answer = away.post("/rpc", headers={"authorization": "Bearer player-secret"})
        assert answer.status_code == 503 and answer.headers["retry-after"] == "1"
        assert answer.json()["error"]["message"] == "Just now the store does not answer. Try again in a moment."
    assert len(caplog.records) < 50 and not any(record.exc_info for record in caplog.records)
    token = {"host": "localhost", "authorization": "Bearer player-secret"}
    with pytest.raises(WebSocketDisconnect), away.websocket_connect("/other", headers=token):
        pass


def test_the_servers_own_page_may_call() -> None:
    assert client(rules()).post("/rpc", headers={"origin": "http://127.0.0.1:8420"}).status_code == 200


def test_two_origins_in_one_request_are_refused() -> None:
    twice = [("origin", "http://127.0.0.1:8420"), ("origin", "https://evil.example")]
    assert client(rules()).post("/rpc", headers=twice).status_code == 403


def test_an_image_on_another_site_is_refused_and_a_link_is_followed() -> None:
    image = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"}
    link = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
    assert client(rules()).get("/healthz", headers=image).status_code == 403
    assert client(rules()).get("/healthz", headers=link).status_code == 200


def test_a_configured_origin_may_ask_and_read() -> None:
    access = rules(allowed_origins=("https://app.example/",))
    origin = {"origin": "https://app.example"}
    asked = client(access).options("/rpc", headers={**origin, "access-control-request-method": "POST"})
    assert asked.status_code == 204
    assert asked.headers["access-control-allow-origin"] == "https://app.example"
    assert "authorization" in asked.headers["access-control-allow-headers"]
    answer = client(access).post("/rpc", headers=origin)
    assert answer.headers.get_list("access-control-allow-origin") == ["https://app.example"]
    assert answer.headers["vary"] == "origin"


def test_a_strange_origin_is_told_no_already_when_it_asks() -> None:
    asked = client(rules()).options(
        "/rpc", headers={"origin": "https://evil.example", "access-control-request-method": "POST"}
    )
    assert asked.status_code == 403


def test_beyond_loopback_a_caller_without_token_is_refused() -> None:
    answer = client(rules(host="0.0.0.0")).post("/rpc")
    assert (answer.status_code, answer.json()["error"]["code"]) == (401, 40101)
    assert "fabula token create" in answer.json()["error"]["message"]
    assert answer.headers["www-authenticate"].startswith("Bearer")


@pytest.mark.parametrize(
    "token", ["Bearer nonsense", "Bearer old-secret", "Bearer ", "Basic cGxheWVy", "player-secret"]
)
def test_a_wrong_or_revoked_token_is_refused_and_not_repeated(token: str) -> None:
    answer = client(rules(require_tokens=True)).post("/rpc", headers={"authorization": token})
    assert answer.status_code == 401
    assert "secret" not in answer.text and "nonsense" not in answer.text


def test_a_token_tells_who_calls() -> None:
    answer = client(rules(host="0.0.0.0")).post("/rpc", headers={"authorization": "bearer player-secret"})
    assert answer.json() == {"role": "player", "token_id": "token_1"}


def test_a_token_counts_on_loopback_too() -> None:
    here = client(rules())
    assert here.post("/rpc", headers={"authorization": "Bearer player-secret"}).json()["role"] == "player"
    assert here.post("/rpc", headers={"authorization": "Bearer nonsense"}).status_code == 401


def test_the_browser_app_and_signs_of_life_need_no_token() -> None:
    visitor = client(rules(require_tokens=True))
    assert visitor.get("/healthz").text == "ok"
    assert visitor.get("/").status_code == 404  # behind the guard: this house has no such room
    assert visitor.get("/assets/x.js").status_code == 404


async def test_a_token_is_looked_up_once_in_a_while_and_revoking_it_takes_hold() -> None:
    tokens, asked, now = dict(KNOWN), [0], [0.0]

    async def counting(hash: str) -> Token | None:
        asked[0] += 1
        return tokens.get(hash)

    app = guard(HOUSE, AccessRules(find_token=counting, tokens_required=True), monotonic=lambda: now[0])
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost") as caller:
        caller.headers["authorization"] = "Bearer player-secret"
        assert [(await caller.post("/rpc")).status_code for _ in range(5)] == [200] * 5
        assert asked == [1]
        tokens.clear()
        now[0] = 6.0
        assert (await caller.post("/rpc")).status_code == 401


def test_a_large_body_is_refused_and_an_upload_may_be_larger() -> None:
    access = AccessRules(find_token=find, max_body=1000, max_upload=5000)
    assert client(access).post("/length", content=b"x" * 1000).text == "1000"
    assert client(access).post("/upload/x", content=b"x" * 5000).text == "5000"
    for path, size in (("/length", 1001), ("/upload/x", 5001)):
        answer = client(access).post(path, content=b"x" * size)
        assert (answer.status_code, answer.json()["code"]) == (413, -32600)
        assert "KiB" in answer.json()["message"]


async def test_a_body_without_declared_length_is_cut_off_at_the_limit() -> None:
    sent: list[Message] = []
    pieces = [{"type": "http.request", "body": b"x" * 600, "more_body": True}] * 3

    async def receive() -> Message:
        return pieces.pop()

    async def send(message: Message) -> None:
        sent.append(message)

    scope: Scope = {
        "type": "http",
        "method": "POST",
        "path": "/length",
        "query_string": b"",
        "headers": [(b"host", b"localhost")],
    }
    await guard(HOUSE, AccessRules(find_token=find, max_body=1000))(scope, receive, send)
    assert [message.get("status") for message in sent] == [413, None]
    assert len(pieces) == 1


@pytest.mark.parametrize("declared", ["9" * 5000, "1001"])
def test_a_lying_or_enormous_length_is_refused(declared: str) -> None:
    access = AccessRules(find_token=find, max_body=1000)
    answer = client(access).post("/length", content=b"x", headers={"content-length": declared})
    assert answer.status_code == 413


def test_every_answer_carries_the_security_headers() -> None:
    for path, host in (("/healthz", "localhost"), ("/missing", "localhost"), ("/healthz", "evil.example")):
        headers = client(rules()).get(path, headers={"host": host}).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert headers["referrer-policy"] == "no-referrer"
        assert "frame-ancestors 'none'" in headers["content-security-policy"]


async def test_a_stream_passes_piece_by_piece() -> None:
    sent: list[Message] = []

    async def receive() -> Message:
        return await asyncio.Future()  # a client that only listens

    async def send(message: Message) -> None:
        sent.append(message)

    scope: Scope = {
        "type": "http",
        "method": "GET",
        "path": "/ticks",
        "query_string": b"",
        "headers": [(b"host", b"localhost")],
    }
    await guard(HOUSE, rules())(scope, receive, send)
    assert [m["body"] for m in sent if m.get("body")] == [b"data: 0\n\n", b"data: 1\n\n", b"data: 2\n\n"]


def test_a_websocket_of_another_origin_is_refused() -> None:
    with (
        pytest.raises(WebSocketDisconnect),
        client(rules()).websocket_connect("/ws", headers={"host": "localhost", "origin": "https://evil.example"}),
    ):
        pass


def test_a_websocket_of_a_strange_host_is_refused() -> None:
    with pytest.raises(WebSocketDisconnect), client(rules()).websocket_connect("/ws", headers={"host": "evil.example"}):
        pass


def test_a_websocket_needs_a_token_as_header_or_subprotocol() -> None:
    here = client(rules(require_tokens=True))
    with pytest.raises(WebSocketDisconnect), here.websocket_connect("/other", headers={"host": "localhost"}):
        pass
    header = {"host": "localhost", "authorization": "Bearer player-secret"}
    with here.websocket_connect("/other", headers=header) as connected:
        assert connected.receive_text() == "player"
    offered = ["fabula", "bearer.player-secret"]
    with here.websocket_connect("/other", headers={"host": "localhost"}, subprotocols=offered) as connected:
        assert str(connected.accepted_subprotocol) == "fabula"
        assert connected.receive_text() == "player"


def test_at_the_game_socket_the_token_may_come_later_but_a_wrong_one_is_refused_at_once() -> None:
    here = client(rules(require_tokens=True))
    with (
        pytest.raises(LookupError),
        here.websocket_connect("/ws", headers={"host": "localhost"}) as connected,
    ):
        connected.receive_text()
    wrong = {"host": "localhost", "authorization": "Bearer wrong"}
    with pytest.raises(WebSocketDisconnect), here.websocket_connect("/ws", headers=wrong):
        pass


def test_an_admin_may_act_as_all_and_a_player_only_as_player() -> None:
    assert all(Actor(role="admin").may_act_as(role) for role in ("admin", "author", "player"))
    assert not Actor(role="player").may_act_as("author")
    assert not Actor(role="author").may_act_as("admin")


def test_without_a_guard_there_is_no_caller() -> None:
    with pytest.raises(LookupError):
        actor_of({"type": "http"})


@pytest.mark.parametrize(
    ("settings", "required"),
    [
        ({}, False),
        ({"host": "localhost"}, False),
        ({"host": "::1"}, False),
        ({"host": "127.0.0.2"}, False),
        ({"host": "0.0.0.0"}, True),
        ({"host": "::"}, True),
        ({"host": "192.168.1.2"}, True),
        ({"host": ""}, True),
        ({"require_tokens": True}, True),
        ({"allowed_hosts": ("story.example",)}, True),
        ({"allowed_hosts": ("*",)}, True),
    ],
)
def test_tokens_are_required_beyond_loopback(settings: dict[str, object], required: bool) -> None:
    assert tokens_required(Settings.model_validate(settings)) is required


@given(st.text(max_size=60))
def test_no_header_makes_the_host_check_fail_to_answer(header: str) -> None:
    name = host_name(header)
    assert name is None or (name and name == name.lower() and "@" not in header)
    assert is_loopback(header) in (True, False)
