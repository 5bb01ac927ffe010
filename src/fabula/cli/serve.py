"""`fabula serve`: starts the server, or says in one sentence why it cannot.

1. read the settings, 2. take the port, 3. open the house (the store migrates), 4. refuse to stand open beyond loopback
without a token, 5. serve until interrupted, then let open requests end. With `--workers` several processes do 3 to 5 on
one port (see `server_processes`).
"""

from __future__ import annotations

import asyncio
import errno
import gc
import os
import shutil
import socket
import sys
import tempfile
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated, Any

import typer
import uvicorn
from rich.text import Text

from fabula.actions.care.tokens import list_tokens
from fabula.actions.house import House
from fabula.actions.library.samples import install_samples_at_first
from fabula.actions.turns.turn_runner import warm_up
from fabula.cli.log_lines import start_log
from fabula.cli.options import ConfigOption, DataDirOption, program, screen, settings_from
from fabula.cli.server_processes import ServerProcess, serve_with
from fabula.ports.actors import OPERATOR
from fabula.ports.errors import FabulaError
from fabula.ports.threads import run_in_thread
from fabula.server.access import is_loopback, tokens_required
from fabula.server.app import create_app
from fabula.server.game_socket.wire import LARGEST_FRAME
from fabula.server.ops.freed_memory import give_back_memory
from fabula.server.ops.watchdog import watched_loop
from fabula.server.siblings import Siblings
from fabula.server.web import is_built
from fabula.settings import Settings, SettingsError
from fabula.wiring import open_house

_SECONDS_FOR_OPEN_REQUESTS = 5
LOOK_EVERY_S, TIDY_EVERY_S, MOST_ROUNDS = 1.0, 60.0, 10
SPARING, THRIFTY = (5_000, 10, 1_000), (5_000, 10, 10)
"""When the collector looks for garbage by itself: only among what is new, or again and again as the interpreter's own
would."""
_HERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}
"""How a server that listens on every address is reached on its own machine."""
app = typer.Typer()


@app.command()
def serve(
    host: Annotated[str | None, typer.Option(help="The address to listen on; 127.0.0.1 unless told.")] = None,
    port: Annotated[int | None, typer.Option(help="The port to listen on; 8420 unless told, 0 for any.")] = None,
    config: ConfigOption = None,
    data_dir: DataDirOption = None,
    workers: Annotated[
        int | None, typer.Option(help="How many server processes share the port; more than one needs Postgres.")
    ] = None,
) -> None:
    """Start the server."""
    settings = settings_from(config, host=host, port=port, data_dir=data_dir, workers=workers)
    start_log(settings)
    raise_file_limit()
    with take_port(settings) as listener:
        if (why := why_one_process(settings)) is not None:
            screen().print(Text(why), style="yellow")
        if settings.workers <= 1 or why is not None:
            _run(settings, listener)
        else:
            _run_processes(settings, listener)


def why_one_process(settings: Settings) -> str | None:
    """Why a server stays at one process although more were asked for."""
    if settings.workers <= 1:
        return None
    if not settings.database_url:
        return (
            "Serving with one process: SQLite keeps everything in a file that one process writes at a time. "
            "Set database_url to serve with more."
        )
    if not hasattr(os, "fork"):
        return "Serving with one process: this system cannot fork. Start several servers behind a proxy instead."
    return None


def _run_processes(settings: Settings, listener: socket.socket) -> None:
    """Serves with several processes. They share what was imported by now."""
    gc.collect()
    gc.freeze()
    folder = Path(tempfile.mkdtemp(prefix="fabula-"))
    child = serve_with(settings.workers, folder=folder, serving=lambda: _greet(listener))
    if not isinstance(child, ServerProcess):
        shutil.rmtree(folder, ignore_errors=True)
    if isinstance(child, ServerProcess):
        _run(settings, listener, child)
    elif child:
        raise typer.Exit(child)


def raise_file_limit() -> None:
    """Takes as many open files as the system allows: each connection is one, and the usual limit is from older days."""
    if sys.platform != "win32":
        import resource

        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def take_port(settings: Settings) -> socket.socket:
    """A socket that listens where the settings say; raises a sentence when that cannot be."""
    if not 0 <= settings.port <= 65535:
        raise SettingsError(f"There is no port {settings.port}. Choose one from 1024 to 65535, or 0 for any.")
    try:
        family, _, _, _, address = socket.getaddrinfo(settings.host or None, settings.port, type=socket.SOCK_STREAM)[0]
        # Python's own event loop sends small pieces at once only where a socket says that it is TCP.
        listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    except OSError as error:
        raise SettingsError(f"The address {settings.host}:{settings.port} cannot be used: {error}.") from None
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(address)
        listener.listen(2048)
    except OSError as error:
        listener.close()
        raise SettingsError(_why_not(error, settings)) from None
    return listener


def _why_not(error: OSError, settings: Settings) -> str:
    if error.errno == errno.EADDRINUSE:
        return (
            f"Port {settings.port} is taken by another program. Choose another one: {_command_with(settings.port + 1)}"
        )
    if error.errno == errno.EACCES:
        return f"Port {settings.port} may only be used by the system. Choose one above 1023: {_command_with(8420)}"
    return f"The server cannot listen on {settings.host}:{settings.port}: {error}. Check the settings host and port."


def _command_with(port: int) -> str:
    """What to type for another port, the way this server was started; make tells its children that it runs."""
    port = port if port <= 65535 else 8420
    return f"FABULA_PORT={port} make run" if os.environ.get("MAKELEVEL") else f"{program()} serve --port {port}"


def _run(settings: Settings, listener: socket.socket, process: ServerProcess | None = None) -> None:
    # Until all is loaded nothing becomes garbage that would be worth a search; `_warm_up` ends this.
    gc.disable()
    if sys.platform == "win32":
        asyncio.run(_serve(settings, listener, process))
    else:
        import uvloop

        uvloop.run(_serve(settings, listener, process))


class Server(uvicorn.Server):
    """The server of one process, which ends by itself when it is asked to.

    The original raises the signal again once it has ended. That would end the process before the house is closed, and
    what it holds would be taken up by others only when its lease is over.
    """

    def __init__(
        self,
        config: uvicorn.Config,
        *,
        let_go: Callable[[], Coroutine[Any, Any, None]],
        process: ServerProcess | None = None,
    ) -> None:
        super().__init__(config)
        self._let_go, self._process = let_go, process

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self._process is not None:
            self._process.watch_parent(self._leave)
            self._process.tell_ready()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        with super().capture_signals():
            yield
            self._captured_signals.clear()

    def _leave(self) -> None:
        self.should_exit = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Ends the work first: streams then end with a last frame that says so, before connections are closed."""
        letting_go = asyncio.create_task(self._let_go())
        await super().shutdown(sockets)
        await letting_go


async def _serve(settings: Settings, listener: socket.socket, process: ServerProcess | None = None) -> None:
    async with open_house(settings, tends_turns=True) as house:
        house.warmth.is_warm = False
        await _check_tokens(house)
        await install_samples_at_first(house)
        siblings = None if process is None else Siblings(own=process.number, folder=process.folder)
        server = Server(uvicorn_config(house, siblings), let_go=house.work.close, process=process)
        if process is None:
            _greet(listener)
        warming, tidying = asyncio.create_task(_warm_up(house)), asyncio.create_task(_tidy_up(house))
        with watched_loop(house.meters):
            await server.serve(sockets=[listener, *([] if siblings is None else [siblings.open_socket()])])
        tidying.cancel()
        await warming


async def _warm_up(house: House) -> None:
    """Loads what the first turn needs, then tells the collector that all of it stays.

    Loaded modules are not garbage, but they set the collector off: it would look through everything again and again.
    So it rests since `_run`.
    """
    try:
        await warm_up(house)
    finally:
        spare_what_stays()
        gc.enable()
    house.warmth.is_warm = True


def spare_what_stays() -> None:
    """Has the collector pass over all that is there now, and look through little at a time.

    Without this, every few turns would wait tens of milliseconds while modules are searched for garbage, and a crowd of
    streams would all wait while everything that lives is looked through. That is left to `_tidy_up`. What is new is
    looked through twice, five thousand things at a time and fifty thousand: a hundred thousand took eighty
    milliseconds. Whatever left circles behind, and whoever plays, most of them are freed before they are many.

    Nothing is collected first: that takes 150 milliseconds, and finds some hundred things among 300,000.
    """
    gc.freeze()
    gc.set_threshold(*SPARING)


async def _tidy_up(house: House) -> None:
    """Looks through everything for garbage now and then, when nobody plays if that can be, and gives what is free back
    to the system.

    A turn leaves its state behind in a circle, a few times over. Where states are large, that does not wait: a hundred
    turns of the largest would take a gigabyte until then.
    """
    rounds = looks = 0
    while True:
        await asyncio.sleep(LOOK_EVERY_S)
        if house.turn_states.take_large():
            gc.set_threshold(*THRIFTY)
            looks = 0
        looks += 1
        if looks < TIDY_EVERY_S / LOOK_EVERY_S:
            continue
        rounds, looks = rounds + 1, 0
        gc.set_threshold(*SPARING)
        if not (house.work.ids() or house.models.calls_under_way) or rounds >= MOST_ROUNDS:
            gc.collect()
            # In a thread, because it takes as long as there is much to give back.
            await run_in_thread(give_back_memory)
            rounds = 0


def uvicorn_config(house: House, siblings: Siblings | None = None) -> uvicorn.Config:
    """How the house is served."""
    return uvicorn.Config(
        create_app(house, siblings),
        http=f"fabula.server.access.http_protocol:{'BoundedHttp' if siblings is None else 'SiblingHttp'}",
        ws="fabula.server.game_socket.batching_socket:BatchingWebSocket",
        # Chunks are a few words long: packing them costs more time than it saves bytes.
        ws_per_message_deflate=False,
        # A message of this size is still read, to be answered with an error; a larger one ends the connection.
        ws_max_size=4 * LARGEST_FRAME,
        lifespan="off",
        log_config=None,
        access_log=house.settings.log_level == "debug",
        server_header=False,
        timeout_graceful_shutdown=_SECONDS_FOR_OPEN_REQUESTS,
    )


async def _check_tokens(house: House) -> None:
    if tokens_required(house.settings) and not any(
        token.revoked_at_ms is None for token in await list_tokens(house, OPERATOR)
    ):
        where = "with require_tokens" if is_loopback(house.settings.host) else "beyond this machine"
        raise FabulaError(
            f"The server would listen {where} and nobody has an access token. "
            f"Make one first: {program()} token create --role admin"
        )


def _greet(listener: socket.socket) -> None:
    """Says where the server is, in one piece: whoever waits for the first line finds the others with it."""
    host, port = listener.getsockname()[:2]
    lines = [f"Fabula listens on {_address(host, port)}"]
    if host in _HERE:
        lines.append(f"  That is every address of this machine. Here: {_address(_HERE[host], port)}")
        if (own := own_address(listener.family)) is not None:
            lines.append(f"  From other machines: {_address(own, port)}")
    lines.append("  Open its address in a browser." if is_built() else "  The browser app is not built yet: make web")
    lines.append(f"  `{program()} doctor` shows what is connected. Press Ctrl+C to stop.")
    greeting = Text("\n".join(lines))
    greeting.stylize("bold", 0, len(lines[0]))
    screen().print(greeting)


def _address(host: str, port: int) -> str:
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def own_address(family: int) -> str | None:
    """The address under which other machines reach this one; None where it has no network."""
    somewhere = ("2001:db8::1", 9) if family == socket.AF_INET6 else ("192.0.2.1", 9)
    with suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as probe:
        # Connecting a datagram socket sends nothing: it only asks the system which way it would send.
        probe.connect(somewhere)
        found = str(probe.getsockname()[0])
        return None if is_loopback(found) else found
    return None
