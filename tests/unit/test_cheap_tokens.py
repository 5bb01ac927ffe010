"""What every token of every turn passes through does nothing twice, and nothing that was not asked for."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
from sqlalchemy import Select, bindparam, column, select
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import Receive, Scope, Send

from fabula.adapters.models.session import FewHeads
from fabula.adapters.stores.sql import COMPILED_KEPT, Compiler
from fabula.language.spoilers import Spoilers
from fabula.server.rpc.routes import rpc_first

SECRET = "The keeper drowned Corvina in the cistern."


class CountingTransport(asyncio.Transport):
    """Counts how often reading goes on."""

    def __init__(self) -> None:
        super().__init__()
        self.resumed = 0

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return default

    def pause_reading(self) -> None:
        pass

    def resume_reading(self) -> None:
        self.resumed += 1


async def test_a_connection_to_a_model_goes_on_reading_only_after_it_paused() -> None:
    transport, connection = CountingTransport(), FewHeads(loop=asyncio.get_running_loop())
    connection.connection_made(transport)
    connection.set_response_params()
    connection.data_received(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n")
    for _ in range(60):
        connection.resume_reading()
    assert transport.resumed == 0
    connection.pause_reading()
    for _ in range(60):
        connection.resume_reading()
    assert transport.resumed == 1


def test_only_words_with_which_something_closed_may_begin_are_looked_at_further() -> None:
    spoilers = Spoilers.of([("", "Mara waits."), ("cellar", SECRET)])
    closed = spoilers.closed(spoilers.guard())
    words = ("the", "The", "keep", "Corvina", "corvina", "cor", "rain", "thesis", "drowned", "waits")
    assert [word for word in words if closed.may_begin_with(word)] == ["the", "The", "Corvina", "corvina", "cor"]


def test_a_statement_is_compiled_once_and_the_oldest_make_way() -> None:
    compiler = Compiler(SQLiteDialect_pysqlite(paramstyle="named"))
    statement: Select[Any] = select(column("a"))
    asked = statement.where(column("b") == bindparam("this"))
    first = compiler.compile(asked, {"this": 1})
    assert compiler.compile(asked, {"this": 2}) is first and first.named({"this": 2}) == {"this": 2}
    for number in range(COMPILED_KEPT):
        compiler.compile(statement.limit(number), {})
    assert compiler.compile(asked, {"this": 1}) is not first


async def test_a_call_passes_the_routes_by_and_everything_else_takes_them() -> None:
    async def rpc(request: Request) -> Response:
        return PlainTextResponse(await request.body())

    async def routes(scope: Scope, receive: Receive, send: Send) -> None:
        await PlainTextResponse("routes")(scope, receive, send)

    transport = httpx.ASGITransport(rpc_first(rpc, routes))
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        assert (await client.post("/rpc", content=b"called")).text == "called"
        for method, path in (("GET", "/rpc"), ("POST", "/rpc/"), ("POST", "/files")):
            assert (await client.request(method, path)).text == "routes"


async def test_a_call_that_fails_inside_is_answered_as_such() -> None:
    async def broken(request: Request) -> Response:
        raise RuntimeError("nobody expected this")

    transport = httpx.ASGITransport(rpc_first(broken, broken), raise_app_exceptions=False)  # type: ignore[arg-type]
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        answer = await client.post("/rpc")
    assert answer.status_code == 500 and "nobody" not in answer.text
