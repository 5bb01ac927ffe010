"""Copies of the golden data of old versions, opened with the present code."""

from __future__ import annotations

import gzip
import json
import sqlite3
import tarfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

from tests.knot_troupe import KnotTroupe
from tests.live import Client, live_server
from tests.stored.make_golden import MODEL_ADDRESS

from fabula.story.values import JsonObject
from fabula.testing.model_script import Behaviour
from fabula.testing.model_server import ModelServer
from fabula.testing.troupe import Troupe

# Turns are taken up while the server starts; what they import is loaded before, as nothing else here waits for it.
for part in ("ink", "scene"):
    import_module(f"fabula.loops.{part}.graph")

GOLDEN = Path(__file__).parent / "golden"
NEW_ADDRESS = "UPDATE resources SET doc = replace(doc, '{}', '{}') WHERE kind = 'api' AND id = 'silent'"
"""The model that never answered has moved to a server of ours; the others have gone with their old server."""


@dataclass(frozen=True, kw_only=True)
class Golden:
    """A copy of an old version's data. `expected` is what that version answered at the end."""

    folder: Path
    expected: dict[str, Any]
    database_url: str = ""

    @cached_property
    def sessions(self) -> dict[str, str]:
        """The plays by what they are there for."""
        names: dict[str, str] = self.expected["names"]["sessions"]
        return names

    def answer(self, method: str, id: str) -> dict[str, Any]:
        """What the old version answered about one thing."""
        found: dict[str, Any] = self.expected["answers"][method][id]
        return found

    @asynccontextmanager
    async def open(self, **settings: Any) -> AsyncIterator[tuple[Client, ModelServer]]:
        """A server on the copy, and the model server that it talks to."""
        async with ModelServer(Company()) as models:
            await self._move_models(models.base_url.removesuffix("/v1"))
            given = {"database_url": self.database_url, "model_attempts": 1, **settings}
            async with live_server(self.folder / "data", **given) as client:
                yield client, models

    async def _move_models(self, address: str) -> None:
        moved = NEW_ADDRESS.format(MODEL_ADDRESS, address)
        if self.database_url:
            await run_on_postgres(self.database_url, f"SET search_path TO fabula; {moved}")
            return
        with closing(sqlite3.connect(self.folder / "data" / "fabula.db")) as database, database:
            database.execute(moved)


class Company:
    """A scripted model that plays every role of scenes and of Ink stories."""

    def __init__(self) -> None:
        self._scenes, self._knots = Troupe(), KnotTroupe()

    def __call__(self, request: JsonObject) -> Behaviour | str:
        try:
            return self._scenes(request)
        except AssertionError:
            return self._knots(request)


def unpack_sqlite(name: str, folder: Path) -> Golden:
    with tarfile.open(GOLDEN / f"sqlite-{name}.tar.gz") as packed:
        packed.extractall(folder, filter="data")
    return Golden(folder=folder, expected=_expected(f"sqlite-{name}"))


async def load_postgres_dump(name: str, address: str) -> None:
    """Brings a dump into an empty database."""
    await run_on_postgres(address, gzip.decompress((GOLDEN / f"postgres-{name}.sql.gz").read_bytes()).decode())


async def run_on_postgres(address: str, statements: str) -> None:
    import asyncpg  # type: ignore[import-untyped]

    connection = await asyncpg.connect(address)
    try:
        await connection.execute(statements)
    finally:
        await connection.close()


def open_postgres(name: str, folder: Path, address: str) -> Golden:
    """A database that holds the dump, beside the key file that fits to it."""
    expected = _expected(f"postgres-{name}")
    (folder / "data").mkdir(parents=True)
    (folder / "data" / "secret.key").write_text(expected["key_file"])
    return Golden(folder=folder, expected=expected, database_url=address)


def _expected(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((GOLDEN / f"expected-{name}.json").read_text("utf-8"))
    return found


SHOWN_LESS = frozenset({"api_key_masked"})
"""Short keys were shown almost whole."""


def differences(expected: Any, found: Any, path: str = "") -> list[str]:
    """Where two answers differ; what was added since is no difference, nor what is shown less of on purpose."""
    if isinstance(expected, dict) and isinstance(found, dict):
        expected = {key: value for key, value in expected.items() if key not in SHOWN_LESS}
        missing = [f"{path}.{key} is missing" for key in expected if key not in found]
        pairs = [(f".{key}", expected[key], found[key]) for key in expected if key in found]
    elif isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        missing, pairs = [], [(f"[{at}]", *pair) for at, pair in enumerate(zip(expected, found, strict=True))]
    else:
        return [] if expected == found else [f"{path} was {expected!r} and is {found!r}"]
    return missing + [one for place, old, new in pairs for one in differences(old, new, f"{path}{place}")]
