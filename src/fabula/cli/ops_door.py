"""A door for processes that serve nobody: signs of life and metrics, for whoever watches over workers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Annotated

import typer

from fabula.actions.house import House

OpsPortOption = Annotated[
    int | None,
    typer.Option("--ops-port", help="Answer /healthz, /readyz and /metrics at this port.", min=1, max=65535),
]


@asynccontextmanager
async def ops_door(house: House, port: int | None) -> AsyncIterator[None]:
    """Answers at a port as long as the block lasts; without a port there is no door."""
    if port is None:
        yield
        return
    import uvicorn

    from fabula.cli.serve import take_port
    from fabula.server.app import create_ops_app

    class Door(uvicorn.Server):
        @contextmanager
        def capture_signals(self) -> Iterator[None]:
            """Signals are for the process that has this door."""
            yield

    with take_port(house.settings.model_copy(update={"port": port})) as listener:
        config = uvicorn.Config(
            create_ops_app(house),
            http="fabula.server.access.http_protocol:BoundedHttp",
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=1,
        )
        door = Door(config)
        serving = asyncio.create_task(door.serve(sockets=[listener]))
        try:
            yield
        finally:
            door.should_exit = True
            await serving
