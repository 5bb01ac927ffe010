"""`fabula backup` and `fabula restore` beside a running server, which goes on without a restart."""

from __future__ import annotations

import http.client
import json
import os
import subprocess
from contextlib import closing
from pathlib import Path

from tests.fork_server import PROGRAM

from fabula.testing.server_victim import create_api, start_server


def fabula(folder: Path, *words: str) -> str:
    command = [*PROGRAM, *words]
    environment = {**os.environ, "FABULA_DATA_DIR": str(folder)}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=120).stdout


def api_ids(port: int) -> set[str]:
    body = json.dumps({"jsonrpc": "2.0", "id": "1", "method": "api.list", "params": {}})
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=120)) as connection:
        connection.request("POST", "/rpc", body, {"Content-Type": "application/json"})
        return {api["api_id"] for api in json.loads(connection.getresponse().read())["result"]["apis"]}


def created(port: int, id: str) -> bool:
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=120)) as connection:
        return create_api(connection, id)


def test_a_running_server_is_backed_up_and_restored_and_goes_on(tmp_path: Path) -> None:
    folder, file = tmp_path / "data", tmp_path / "fabula.backup"
    process, port = start_server(folder, program=PROGRAM)
    try:
        assert created(port, "before")
        made = json.loads(fabula(folder, "backup", str(file), "--json"))
        assert created(port, "after")
        assert api_ids(port) >= {"before", "after"}
        restored = json.loads(fabula(folder, "restore", str(file), "--yes", "--json"))
        assert "before" in api_ids(port) and "after" not in api_ids(port)
        assert created(port, "after")
    finally:
        process.kill()
        process.communicate()
    assert restored["kinds"] == made["kinds"]
    assert restored["locked_secrets"] == []
