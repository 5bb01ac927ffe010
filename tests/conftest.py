"""What all tests may ask for: a clock, stores on both engines, and servers to be killed.

Also how a run is cut: `--whole`, the markers `all` and `mass`, and what is said at its beginning and end.
"""

from __future__ import annotations

import asyncio
import dataclasses
import gc
import os
import shutil
import ssl
import tempfile
from collections.abc import AsyncIterator, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from blockbuster import blockbuster_ctx
from hypothesis import settings as hypothesis_settings
from tests.fork_server import ForkServer, python_of_workers, share_fork_server
from tests.fork_server import fork_server as started_fork_server
from tests.mass import Mass, choose_whole
from tests.mass import mass as number_of_cases
from tests.shared import SHARED
from tests.templates import fill_folder

from fabula.adapters.stores import open_store
from fabula.ports.store import Store
from fabula.ports.world import Clock
from fabula.settings import Settings
from fabula.testing.postgres import new_database, postgres_server, postgres_url
from fabula.testing.rabbitmq import rabbitmq_url
from fabula.testing.redis import redis_server
from fabula.testing.world import FixedClock

__all__ = ["postgres_server", "postgres_url", "rabbitmq_url", "redis_server"]

# Machines that test are busy: a slow example is no failure.
hypothesis_settings.register_profile("house", deadline=None)
hypothesis_settings.load_profile("house")


def share_certificates() -> None:
    """Has all clients share the list of certificate authorities: each read it anew, which took a third of the time in
    which a server is opened and closed. What serves with a certificate of its own has its own context."""
    made = cache(ssl.create_default_context)
    of_servers = ssl.create_default_context

    def context(purpose: ssl.Purpose = ssl.Purpose.SERVER_AUTH, **files: Any) -> ssl.SSLContext:
        return (made if purpose is ssl.Purpose.SERVER_AUTH else of_servers)(purpose, **files)

    ssl.create_default_context = context


IN_MEMORY = Path("/dev/shm")
ROOM = 2 * 1024**3


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--whole", action="store_true", help="run mass tests in full, not a tenth of them")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    choose_whole(config.getoption("--whole"))
    # Tests write durably all the time; a file system in memory does not make them wait for a disk.
    if "TMPDIR" not in os.environ and IN_MEMORY.is_dir() and shutil.disk_usage(IN_MEMORY).free > ROOM:
        os.environ["TMPDIR"] = tempfile.tempdir = str(IN_MEMORY)
    share_certificates()
    if getattr(config.option, "numprocesses", None):
        config.add_cleanup(share_fork_server())


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes(specs: Sequence[Any]) -> None:
    """Those who run the tests are forked from the fork server: each would import the package for itself."""
    python = python_of_workers()
    for spec in specs:
        spec.python = python


def pytest_report_header(config: pytest.Config) -> list[str]:
    part = "in full" if config.getoption("--whole") else "a tenth of their cases (--whole runs all)"
    return [f"mass tests: {part}", f"temporary files: {tempfile.gettempdir()}"]


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collects without the garbage collector, and has it pass over all that is there now.

    Thousands of tests are many objects, none of them garbage; looked through again and again, they cost a fifth of the
    time that collecting takes, and a part of every test's.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


REPEATED = {"functional", "transcripts"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks what `make test-all` runs: mass tests, and repeats on Postgres of what does not depend on the engine.

    Those are in `tests/functional` and `tests/transcripts`. The kits and the migrations are the promise of each engine:
    they run on both in `make test`.
    """
    for item in items:
        if "mass" in getattr(item, "fixturenames", ()):
            item.add_marker("mass")
        chosen = (
            item.callspec.params.values() if isinstance(item, pytest.Function) and hasattr(item, "callspec") else ()
        )
        if REPEATED.intersection(item.path.parts) and "postgres" in chosen:
            item.add_marker("all")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if not SHARED.is_dir():
        skipped = [one for one in terminalreporter.stats.get("skipped", ()) if "../shared" in str(one.longrepr)]
        terminalreporter.write_line(
            f"Tests that read ../shared were skipped ({len(skipped)}): stories and lines that we may not ship lie "
            "there, and it is not beside this checkout."
        )


@pytest.fixture
def mass() -> Mass:
    """Answers how many of so many cases a mass test tries in this run."""
    return number_of_cases


@dataclasses.dataclass(frozen=True, kw_only=True)
class Place:
    """A place that holds one store's content, as the store kit wants it."""

    settings: Settings

    def store(self, clock: Clock) -> Store:
        return open_store(self.settings, clock)

    def store_with_key(self, clock: Clock, secret_key: str) -> Store:
        return open_store(self.settings.model_copy(update={"secret_key": secret_key}), clock)

    @property
    def environment(self) -> dict[str, str]:
        """What tells a server of this place."""
        address = self.settings.database_url
        return {"FABULA_DATABASE_URL": address} if address else {}

    async def bytes_at_rest(self) -> bytes:
        target = self.settings.data_folder / "at-rest.backup"
        store = self.store(FixedClock())
        await store.backup(target)
        await store.close()
        raw = [file.read_bytes() for file in self.settings.data_folder.iterdir() if file.name != "secret.key"]
        return b"".join(raw)


MAY_BLOCK = {
    "<frozen importlib._bootstrap>": "_find_and_load",  # the first use of a part imports it, once
    "fabula/adapters/stores/revisions.py": "upgrade",  # before the server answers anybody
    "asyncpg/connect_utils.py": "_parse_connect_arguments",  # looks for a password file once per connection
    "redis/utils.py": "get_lib_version",  # looks for its own version once per connection
}


@pytest.fixture
def fork_server() -> ForkServer:
    """Starts servers that are to be killed."""
    return started_fork_server()


@pytest.fixture(autouse=True, scope="module")
def collector_passes_over_what_stays() -> None:
    """Has the garbage collector look through what a file of tests makes, and not through what all before it left.

    Modules, caches and thousands of tests come to millions of objects. Looked through at every full pass, and in tests
    that count what is left behind, they took a quarter of the time of a run. So nothing may thaw them again
    (`gc.unfreeze`).
    """
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True, scope="session")
def nothing_blocks_the_loop() -> Iterator[None]:
    """A blocking call that our code makes on the event loop fails the test.

    Once for all tests: to put sixty functions in the place of others takes longer than many a test.
    """
    with blockbuster_ctx(scanned_modules="fabula", excluded_modules=["fabula.testing"]) as blockbuster:
        blockbuster.functions["os.path.abspath"].deactivate()
        for function in blockbuster.functions.values():
            for file, name in MAY_BLOCK.items():
                function.can_block_in(file, name)
        yield


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


@pytest.fixture
def sqlite_place(tmp_path: Path) -> Place:
    return Place(settings=Settings(data_dir=fill_folder(tmp_path / "data", "store")))


@pytest.fixture(scope="session")
def postgres_template(postgres_server: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The name of a database at the newest revision; copies of it need no migration."""
    with new_database(postgres_server) as address:
        settings = Settings(database_url=address, data_dir=tmp_path_factory.mktemp("template"))
        # In a thread, because the first to ask may be a test that runs in a loop already.
        with ThreadPoolExecutor() as pool:
            pool.submit(asyncio.run, _open_and_close(open_store(settings, FixedClock()))).result()
        yield urlsplit(address).path.strip("/")


async def _open_and_close(store: Store) -> None:
    await store.open()
    await store.close()


@pytest.fixture
def postgres_place(postgres_server: str, postgres_template: str, tmp_path: Path) -> Iterator[Place]:
    (tmp_path / "data").mkdir()
    with new_database(postgres_server, template=postgres_template) as address:
        yield Place(settings=Settings(database_url=address, data_dir=tmp_path / "data"))


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest) -> Place:
    """A place on each engine; a test that asks for it, or for `store`, runs twice."""
    found: Place = request.getfixturevalue(f"{request.param}_place")
    return found


@pytest.fixture
async def store(place: Place, clock: FixedClock) -> AsyncIterator[Store]:
    store = place.store(clock)
    await store.open()
    yield store
    await store.close()


@pytest.fixture
async def sqlite_store(sqlite_place: Place, clock: FixedClock) -> AsyncIterator[Store]:
    store = sqlite_place.store(clock)
    await store.open()
    yield store
    await store.close()


@pytest.fixture
async def postgres_store(postgres_place: Place, clock: FixedClock) -> AsyncIterator[Store]:
    store = postgres_place.store(clock)
    await store.open()
    yield store
    await store.close()
