"""Starts `fabula` processes in a moment: one process has imported everything, and forks a child for each command.

Starting Python and importing the server takes seconds of processor time; a suite that starts hundreds of processes
cannot wait for that. A child is the real command in a process of its own, with its own environment, folder and files.

    done = subprocess.run([*PROGRAM, "play", "--story", "x"], ...)      # instead of server_process.PROGRAM
    with running_server(tmp_path) as address: ...                        # instead of server_process.running_server
    child = fork_server.start(["serve", "--port", "0"], {"FABULA_DATA_DIR": str(folder)}, log=folder / "log")

1. The fork server starts when it is first needed, imports everything, and listens on a socket. Where several test
   processes run, `share_fork_server` starts one for all of them.
   The test processes are forked from it, too (`python_of_workers`): each would import the same.
2. Whoever wants a command sends its arguments, environment, folder and three open files (`tests/forked_program.py`).
3. The child that was forked runs the command; its process id is answered at once, its exit code when it has ended.
4. A child whose caller is gone is killed, and all of them are when the test process ends.

What a program reads of its environment while it is imported does not reach a child: a test about that, and one or two
that start the server as users do, take `PROGRAM` and `running_server` of `fabula.testing.server_process`.
"""

from __future__ import annotations

import atexit
import fcntl
import gc
import io
import json
import os
import re
import runpy
import select
import selectors
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path

_LISTENS = re.compile(r"listens on (http://\S+)")
_PATIENCE_S = 120.0
ROOT = Path(__file__).parent.parent
FABULA = "fabula"
PYTHON = "python"
MEASURED = "COVERAGE_OF_COMMANDS"
"""The variable that says where commands leave which lines they ran; see tests/coverage.py."""
SHARED = "SHARED_FORKS_OF_TESTS"
"""The variable that names the folder of the fork server that several test processes share."""


@dataclass(frozen=True, kw_only=True)
class Child:
    """A running command; its output goes to `log`. It lives as long as its connection is open."""

    pid: int
    log: Path
    connection: socket.socket = field(repr=False)

    def address(self) -> str:
        """Where the server listens, as soon as it says so."""
        until = time.monotonic() + _PATIENCE_S
        while time.monotonic() < until:
            if found := _LISTENS.search(self.log.read_text("utf-8", "replace")):
                return found[1]
            if not self.lives():
                break
            time.sleep(0.01)
        raise RuntimeError(f"The server did not start: {self.log.read_text('utf-8', 'replace')}")

    def lives(self) -> bool:
        """Whether it has not ended: its number says nothing, because another process may have it by now."""
        return self.connection.fileno() >= 0 and not select.select([self.connection], [], [], 0)[0]

    def send(self, how: signal.Signals) -> None:
        """Sends a signal; one that has ended by itself, or by an earlier signal, gets none, and nobody else does."""
        if self.lives():
            with suppress(ProcessLookupError):
                os.kill(self.pid, how)

    def kill(self, how: signal.Signals = signal.SIGKILL) -> None:
        """Sends the signal at once, and waits until the process is gone."""
        self.send(how)
        self.wait()

    def wait(self) -> None:
        """Waits until the process is gone."""
        until = time.monotonic() + _PATIENCE_S
        while self.lives():
            if time.monotonic() > until:
                raise RuntimeError(f"The process {self.pid} does not end.")
            time.sleep(0.002)
        self.connection.close()


class ForkServer:
    """A way to the process that forks; `start` is for tests that kill what they started."""

    def __init__(self, path: Path) -> None:
        self.socket = path
        self._children: list[Child] = []

    def start(self, arguments: Sequence[str], environment: Mapping[str, str], *, log: Path) -> Child:
        """Starts `fabula` with these arguments, and these variables in its environment alone."""
        log.write_bytes(b"")
        wish = Wish(program=FABULA, arguments=[*arguments], environment=dict(environment), folder=os.getcwd())
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(str(self.socket))
        with log.open("ab") as output, open(os.devnull, "rb") as nothing:
            socket.send_fds(connection, [b"+"], [nothing.fileno(), output.fileno(), output.fileno()])
        connection.sendall(wish.line())
        child = Child(pid=int(_read_line(connection)), log=log, connection=connection)
        self._children = [one for one in self._children if one.lives()] + [child]
        return child


@cache
def fork_server() -> ForkServer:
    """The fork server of this test process, or of all that run together; it starts at the first call."""
    if SHARED in os.environ:
        return ForkServer(_shared_socket(Path(os.environ[SHARED])))
    folder = _new_folder()
    process = _start(folder, subprocess.PIPE)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    atexit.register(process.communicate)
    return ForkServer(folder / "socket")


def share_fork_server() -> Callable[[], None]:
    """Lets test processes that are started from here share one; answers how to end it.

    Importing everything takes as long as a hundred tests. It ends when nobody can write to the pipe any more, so it
    does not outlive this process.
    """
    folder = _new_folder()
    os.mkfifo(folder / "end")
    end = os.open(folder / "end", os.O_RDWR)
    os.environ[SHARED] = str(folder)

    def close() -> None:
        os.close(end)
        shutil.rmtree(folder, ignore_errors=True)

    return close


def _shared_socket(folder: Path) -> Path:
    """Where the shared one listens; the first test process that asks starts it, and the others wait."""
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "socket").exists():
            with (folder / "end").open("rb") as end:
                _running.append(_start(folder, end.fileno()))
    return folder / "socket"


_running: list[subprocess.Popen[bytes]] = []
"""What this process started for all, so that nobody waits for its end here."""


def _new_folder() -> Path:
    return Path(tempfile.mkdtemp(prefix="fabula-forks-"))


def _start(folder: Path, until: int) -> subprocess.Popen[bytes]:
    """Starts a fork server that runs until this input ends."""
    command = [sys.executable, "-m", "tests.fork_server", str(folder / "socket")]
    process = subprocess.Popen(command, cwd=ROOT, stdin=until, stdout=subprocess.PIPE)
    assert process.stdout is not None
    if process.stdout.readline() != b"ready\n":
        raise RuntimeError("The fork server did not start.")
    return process


@dataclass(frozen=True)
class Forked:
    """The beginning of a command line that is run by the fork server; it is looked up when it is unpacked."""

    program: str

    def __iter__(self) -> Iterator[str]:
        # Without site-packages and the user's settings, because all that is forked has them.
        yield from (sys.executable, "-I", "-S", str(ROOT / "tests/forked_program.py"))
        yield from (str(fork_server().socket), self.program)


PROGRAM = Forked(FABULA)


def python_of_workers() -> str:
    """The beginning of a command line that stands for `python`, for those who start test processes."""
    return shlex.join(Forked(PYTHON))


def script(file: Path) -> Forked:
    """The beginning of a command line that runs a Python file."""
    return Forked(str(file))


@contextmanager
def server_process(
    data_dir: Path, *options: str, settings: Mapping[str, str] | None = None
) -> Iterator[tuple[Child, str]]:
    """`fabula serve` on a free port and its address, for tests that kill it; it is asked to end at the end."""
    # Here, because nothing of the package may be imported before the fork server has begun to count its lines.
    from fabula.testing.server_process import clean_environment

    data_dir.mkdir(parents=True, exist_ok=True)
    arguments = ["serve", "--port", "0", "--data-dir", str(data_dir), *options]
    child = fork_server().start(arguments, clean_environment(settings), log=data_dir / "server.log")
    try:
        yield child, child.address()
    finally:
        child.kill(signal.SIGTERM)


@contextmanager
def running_server(data_dir: Path, *options: str, settings: Mapping[str, str] | None = None) -> Iterator[str]:
    """The same with the address alone."""
    with server_process(data_dir, *options, settings=settings) as (_, address):
        yield address


# What follows runs in the process that forks.

PARTS = (
    "alembic.autogenerate",
    "alembic.command",
    "alembic.runtime.migration",
    "asyncpg",
    "fabula.adapters.bus.postgres",
    "fabula.adapters.bus.redis",
    "fabula.adapters.models.open_ai",
    "fabula.adapters.stores.loop_saver",
    "fabula.adapters.queues.local",
    "fabula.adapters.stores.sqlite",
    "fabula.adapters.stores.sqlite_thread",
    "fabula.adapters.stores.store",
    "fabula.cli.main",
    "fabula.cli.play",
    "fabula.cli.player.ink_session",
    "fabula.cli.player.play_session",
    "fabula.cli.serve",
    "fabula.loops.ink.graph",
    "fabula.loops.scene.graph",
    "fabula.loops.conversations.graph",
    "jsonschema_rs",
    "langchain_core.tracers",
    "snowballstemmer",
    "sqlalchemy.dialects.postgresql.asyncpg",
    "fabula.server.access.http_protocol",
    "uvicorn.protocols.http.httptools_impl",
    "uvloop",
)
"""What a server imports until its first turn is over; none of it starts a thread, which a fork would lose."""

TOOLS = (
    "aiohttp.web",
    "celery.app.task",
    "hypothesis.strategies",
    "markdown_it",
    "mcp",
    "playwright.sync_api",
    "socketio",
)
"""What tests import beside it, so that each of those who run them need not."""


@dataclass(frozen=True, kw_only=True)
class Wish:
    """A command that is to be started."""

    program: str
    arguments: list[str]
    environment: dict[str, str]
    folder: str

    def line(self) -> bytes:
        return json.dumps(vars(self)).encode() + b"\n"


def _read_line(connection: socket.socket) -> bytes:
    """A line from a connection; nothing of the next one is read. Empty when the other side has gone."""
    line = b""
    while not line.endswith(b"\n") and (part := connection.recv(1)):
        line += part
    return line


def _read_wish(connection: socket.socket) -> tuple[Wish, list[int]]:
    _, files, _, _ = socket.recv_fds(connection, 1, 3)
    with connection.makefile("rb") as stream:
        return Wish(**json.loads(stream.readline())), files


def _become(wish: Wish, files: list[int]) -> None:
    """Turns a forked process into the command."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.environ.clear()
    os.environ.update(wish.environment)
    os.chdir(wish.folder)
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    # The interpreter asks at its start whether somebody sits at a terminal.
    assert isinstance(sys.stdout, io.TextIOWrapper)
    sys.stdout.reconfigure(line_buffering=os.isatty(1))
    sys.argv = [wish.program, *wish.arguments]
    _run(wish.program)


def _run(program: str) -> None:
    """Runs the command and ends the process as the interpreter would, without its last look at every object."""
    code = 0

    def leave() -> None:
        _leave_lines()
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(code)

    # What ends last was registered first: the command's own threads and last words come before.
    atexit.register(leave)
    try:
        if program == FABULA:
            import_module("fabula.cli.main").main()
        elif program == PYTHON:
            _run_like_python(*sys.argv[1:])
        else:
            runpy.run_path(program, run_name="__main__")
    except SystemExit as ends:
        code = ends.code if isinstance(ends.code, int) else 0 if ends.code is None else 1
        raise
    except BaseException:
        code = 1
        raise


def _run_like_python(*arguments: str) -> None:
    """Does what `python -u -c CODE` does."""
    *_, flag, code = arguments
    assert flag == "-c", arguments
    sys.argv = ["-c"]
    exec(code, {"__name__": "__main__"})  # noqa: S102 - what `python -c` is for


@dataclass
class _Forks:
    """The children that run, and who is told when they end."""

    selector: selectors.BaseSelector
    callers: dict[int, socket.socket] = field(default_factory=dict)

    def fork(self, listener: socket.socket) -> Wish | None:
        """Forks a child; answers its wish in the child, and None in the server."""
        connection, _ = listener.accept()
        wish, files = _read_wish(connection)
        pid = os.fork()
        if pid == 0:
            for other in [listener, connection, *self.callers.values()]:
                other.close()
            self.selector.close()
            _become(wish, files)
            return wish
        for file in files:
            os.close(file)
        self.callers[pid] = connection
        self.selector.register(connection, selectors.EVENT_READ, lambda: self.kill(pid))
        self._tell(connection, pid)
        return None

    def kill(self, pid: int) -> None:
        """The caller is gone: nobody waits for this child any longer."""
        self.selector.unregister(self.callers[pid])
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)

    def bury(self) -> None:
        """Tells the callers of children that have ended."""
        with suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                connection = self.callers.pop(ended[0])
                with suppress(KeyError):
                    self.selector.unregister(connection)
                self._tell(connection, os.waitstatus_to_exitcode(ended[1]))
                connection.close()

    def _tell(self, connection: socket.socket, number: int) -> None:
        with suppress(OSError):
            connection.sendall(b"%d\n" % number)


def _leave_lines() -> None:
    if "tests.coverage" in sys.modules:
        sys.modules["tests.coverage"].leave_lines()


def _serve(path: str) -> None:
    """Forks until the test process closes our input."""
    if MEASURED in os.environ:
        import_module("tests.coverage").begin()
    # As `open_embedder` has it: otherwise numpy starts threads, which a fork would lose.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    for part in (*PARTS, *TOOLS):
        with suppress(ModuleNotFoundError):
            import_module(part)
    # A third of a second of every server's start is spent on these.
    import_module("fabula.adapters.embedders.wordllama").load_weights()
    # Objects that live now are never looked at again, so that children share their memory.
    gc.collect()
    gc.freeze()
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen(128)
    told, tell = socket.socketpair()
    told.setblocking(False)
    tell.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(tell.fileno(), warn_on_full_buffer=False)
    selector = selectors.DefaultSelector()
    forks = _Forks(selector)
    selector.register(sys.stdin, selectors.EVENT_READ, "end")
    selector.register(told, selectors.EVENT_READ, "bury")
    selector.register(listener, selectors.EVENT_READ, "fork")
    os.write(1, b"ready\n")
    while True:
        for key, _ in selector.select():
            match key.data:
                case "end":
                    for pid in forks.callers:
                        os.kill(pid, signal.SIGKILL)
                    return
                case "bury":
                    told.recv(4096)
                    forks.bury()
                case "fork":
                    if forks.fork(listener) is not None:
                        return
                case gone:
                    gone()


if __name__ == "__main__":
    _serve(sys.argv[1])
