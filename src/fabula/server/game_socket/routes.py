"""The door for games: `/ws`, and the page at `/play/npc` for trying an NPC in the browser."""

from __future__ import annotations

from pathlib import Path

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket

from fabula.actions.house import House
from fabula.ports.actors import Actor
from fabula.ports.meters import GAMES_CONNECTED
from fabula.server.game_socket.connection import Connection
from fabula.server.game_socket.state_budget import StateBudget

PAGE_FOLDER = Path(__file__).parent / "page"
PAGE_FILES = {
    "/play/npc": ("npc.html", "text/html"),
    "/play/npc.js": ("npc.js", "text/javascript"),
    "/play/npc.css": ("npc.css", "text/css"),
}


def mount_game_socket(app: Starlette, house: House) -> None:
    """Adds the socket and its page."""
    states = StateBudget()

    async def play(socket: WebSocket) -> None:
        actor = socket.scope.get("state", {}).get("actor")
        house.meters.add(GAMES_CONNECTED)
        try:
            actor = actor if isinstance(actor, Actor) else None
            await Connection(house, socket, actor=actor, states=states).run()
        finally:
            house.meters.add(GAMES_CONNECTED, amount=-1)

    app.router.routes.append(WebSocketRoute("/ws", play))
    app.router.routes.extend(Route(path, _file, methods=["GET"]) for path in PAGE_FILES)


def _file(request: Request) -> Response:
    """A plain function, so that looking at files happens on a thread."""
    name, kind = PAGE_FILES[request.url.path]
    return FileResponse(PAGE_FOLDER / name, media_type=kind, headers={"cache-control": "no-cache"})
