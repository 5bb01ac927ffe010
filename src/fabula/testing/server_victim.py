"""The real server under a writing load, to be killed: clients write over HTTP, and an answer is an acknowledgement."""

from __future__ import annotations

import http.client
import json
import os
import re
import subprocess
import threading
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from fabula.testing.server_process import PROGRAM

CLIENTS = 4
FIRST_WRITE_S = 30.0


class ServerVictim:
    """A server on a data folder with a few clients, each of which writes one api after the other until it is gone.

    An api is a resource and a secret, written in one unit of work: one without the other would be half a write.
    """

    def __init__(self, folder: Path, prefix: str, *, program: Iterable[str] = PROGRAM) -> None:
        self.process, port = start_server(folder, program=program)
        self._acknowledged: set[str] = set()
        self._at_work = threading.Event()
        self._clients = [
            threading.Thread(target=self._write, args=(port, f"{prefix}-{lane}"), daemon=True)
            for lane in range(CLIENTS)
        ]
        for client in self._clients:
            client.start()
        # A life begins with the first acknowledgement: on a busy machine none would come before an early kill.
        self._at_work.wait(FIRST_WRITE_S)

    def acknowledged(self) -> set[str]:
        for client in self._clients:
            client.join()
        if self.process.stdout is not None:
            self.process.stdout.close()
        return self._acknowledged

    def _write(self, port: int, prefix: str) -> None:
        with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=30)) as connection:
            number = 0
            while create_api(connection, f"{prefix}-{number}"):
                self._acknowledged.add(f"{prefix}-{number}")
                self._at_work.set()
                number += 1


def start_server(folder: Path, *, program: Iterable[str] = PROGRAM) -> tuple[subprocess.Popen[bytes], int]:
    """`fabula serve` on a data folder, and the port on which it says that it listens."""
    command = [*program, "serve", "--port", "0"]
    environment = {**os.environ, "FABULA_DATA_DIR": str(folder), "FABULA_SAMPLES": "false"}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment)
    for line in process.stdout or ():
        if found := re.search(rb"http://127\.0\.0\.1:(\d+)", line):
            return process, int(found[1])
    raise RuntimeError("The server did not start.")


def create_api(connection: http.client.HTTPConnection, id: str) -> bool:
    """Whether the server acknowledged a new api; False when it was killed meanwhile."""
    params = {
        "api_id": id,
        "display_name": id,
        "provider": "open_ai",
        "base_url": "http://127.0.0.1:9/v1",
        "api_key": f"sk-{id}",
        "model": "none",
    }
    body = json.dumps({"jsonrpc": "2.0", "id": id, "method": "api.create", "params": params})
    try:
        connection.request("POST", "/rpc", body, {"Content-Type": "application/json"})
        answer = json.loads(connection.getresponse().read())
    except (OSError, http.client.HTTPException, ValueError):
        return False
    if "result" not in answer:
        raise AssertionError(f"The server refused a write: {answer}")
    return True
