"""The door for games: `/ws`. The app has a page for trying an NPC; `/play/npc`, its old address, leads there."""

from __future__ import annotations

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket

from fabula.actions.house import House
from fabula.ports.actors import Actor
from fabula.ports.meters import GAMES_CONNECTED
from fabula.server.access.answers import AnswerWeights
from fabula.server.access.places import Places
from fabula.server.game_socket.connection import Connection
from fabula.server.game_socket.pace import GamePaces
from fabula.server.game_socket.state_budget import StateBudget


def mount_game_socket(app: Starlette, house: House) -> None:
    """Adds the socket, and the way to its page."""
    states, events, places = StateBudget(), StateBudget(), Places(house.settings.max_open_per_token)
    paces, unread = GamePaces(house.clock.monotonic, most_open=places.most), AnswerWeights()

    async def play(socket: WebSocket) -> None:
        actor = socket.scope.get("state", {}).get("actor")
        house.meters.add(GAMES_CONNECTED)
        try:
            actor = actor if isinstance(actor, Actor) else None
            connection = Connection(
                house, socket, actor=actor, states=states, events=events, places=places, paces=paces, unread=unread
            )
            await connection.run()
        finally:
            house.meters.add(GAMES_CONNECTED, amount=-1)

    app.router.routes.append(WebSocketRoute("/ws", play))
    app.router.routes.append(Route("/play/npc", _to_the_page, methods=["GET"]))


async def _to_the_page(request: Request) -> Response:
    return RedirectResponse("/app/npc", status_code=308)
