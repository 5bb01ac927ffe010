"""A door for processes that serve nobody: signs of life and metrics, for whoever watches over workers."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from fabula.actions.house import House
from fabula.settings import Settings

if TYPE_CHECKING:
    from fabula.server.siblings import Siblings

OpsPortOption = Annotated[
    int | None,
    typer.Option("--ops-port", help="Answer /healthz, /readyz and /metrics at this port.", min=1, max=65535),
]


@asynccontextmanager
async def ops_door(
    house: House, listener: socket.socket | None, siblings: Siblings | None = None
) -> AsyncIterator[None]:
    """Answers at a port as long as the block lasts; without a port there is no door."""
    if listener is None:
        yield
        return
    import uvicorn

    from fabula.server.app import create_ops_app

    class Door(uvicorn.Server):
        @contextmanager
        def capture_signals(self) -> Iterator[None]:
            """Signals are for the process that has this door."""
            yield

    config = uvicorn.Config(
        create_ops_app(house, siblings),
        http="fabula.server.access.http_protocol:BoundedHttp",
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=1,
    )
    door = Door(config)
    sockets = [listener, *([] if siblings is None else [siblings.open_socket()])]
    serving = asyncio.create_task(door.serve(sockets=sockets))
    try:
        yield
    finally:
        door.should_exit = True
        await serving


def take_ops_port(settings: Settings, port: int | None) -> socket.socket | None:
    """A socket that listens at the port, if there is one; raises a sentence when that cannot be."""
    if port is None:
        return None
    from fabula.cli.serve import take_port

    return take_port(settings.model_copy(update={"port": port}))
