"""The server: all doors on one ASGI app, behind one guard."""

from __future__ import annotations

from fastapi import FastAPI
from starlette.types import ASGIApp

import fabula
from fabula.actions.care.pace import check_calls
from fabula.actions.care.tokens import find_token
from fabula.actions.house import House
from fabula.ports.actors import Actor
from fabula.ports.store import Token
from fabula.server.access import guard, rules_from
from fabula.server.access.seat_routes import seat_routes
from fabula.server.files.routes import file_routes
from fabula.server.game_socket.routes import mount_game_socket
from fabula.server.head_requests import answer_heads
from fabula.server.mcp.routes import mount_mcp
from fabula.server.ops.routes import ops_routes
from fabula.server.plays.routes import play_routes
from fabula.server.realtime.routes import mount_realtime
from fabula.server.rpc.catalogue import build_catalogue
from fabula.server.rpc.method import Catalogue
from fabula.server.rpc.routes import RpcEndpoint, rpc_endpoint, rpc_first, rpc_routes, with_discovery
from fabula.server.siblings import Siblings
from fabula.server.stream.feed_routes import feed_routes
from fabula.server.stream.routes import stream_routes
from fabula.server.web import mount_web


def create_app(house: House, siblings: Siblings | None = None) -> ASGIApp:
    """The whole server for a house that is open; `siblings` are processes that share its port."""
    catalogue = with_discovery(build_catalogue())
    rpc = rpc_endpoint(house, catalogue)
    return _guarded(house, rpc_first(rpc, _doors(house, catalogue, rpc, siblings)))


def create_ops_app(house: House, siblings: Siblings | None = None) -> ASGIApp:
    """Only what operators look at: for processes that serve nobody else."""
    app = FastAPI(title="Fabula", version=fabula.__version__, docs_url=None, redoc_url=None, openapi_url=None)
    app.include_router(ops_routes(house, siblings))
    return _guarded(house, app)


def _guarded(house: House, app: ASGIApp) -> ASGIApp:
    async def lookup(hash: str) -> Token | None:
        return await find_token(house, hash)

    async def count_call(actor: Actor) -> None:
        await check_calls(house, actor)

    rules = rules_from(house.settings, find_token=lookup, count_call=count_call)
    return guard(answer_heads(app), rules)


def open_doors(house: House, siblings: Siblings | None = None) -> FastAPI:
    """All routes, with no guard before them."""
    catalogue = with_discovery(build_catalogue())
    return _doors(house, catalogue, rpc_endpoint(house, catalogue), siblings)


def _doors(house: House, catalogue: Catalogue, rpc: RpcEndpoint, siblings: Siblings | None) -> FastAPI:
    app = FastAPI(title="Fabula", version=fabula.__version__, docs_url=None, redoc_url=None, openapi_url=None)
    app.include_router(ops_routes(house, siblings))
    app.include_router(seat_routes(house))
    app.include_router(rpc_routes(catalogue, rpc))
    app.include_router(stream_routes(house))
    app.include_router(feed_routes(house))
    app.include_router(play_routes(house))
    app.include_router(file_routes(house))
    mount_game_socket(app, house)
    mount_realtime(app, house, siblings)
    mount_mcp(app, house)
    mount_web(app)
    return app
