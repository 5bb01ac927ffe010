"""No play leaves the house: a variable of the environment that makes LangGraph send its loops away has no effect."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from fabula.testing.server_process import PROGRAM, clean_environment

PLAYS = {"lighthouse-the-unlit-hour": "Hello.\nI look around.\n", "the-lamplighter": "1\nHello, old man.\n"}
INK = "the-lamplighter"


@contextmanager
def tracing_service() -> Iterator[tuple[str, list[str]]]:
    """Stands in for a tracing service; answers its address and what was sent to it."""
    heard: list[str] = []

    class Listening(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            heard.append(self.path)
            self.rfile.read(int(self.headers.get("content-length") or 0))
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"{}")

        do_GET = do_PATCH = do_POST

        def log_message(self, format: str, *args: object) -> None:
            """Says nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Listening)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", heard
    server.shutdown()


@pytest.mark.all
@pytest.mark.parametrize("story", ["lighthouse-the-unlit-hour", INK])
def test_what_is_played_is_sent_to_nobody(tmp_path: Path, story: str) -> None:
    with tracing_service() as (address, heard):
        tracing = {"LANGSMITH_TRACING": "true", "LANGSMITH_API_KEY": "lsv2_x", "LANGSMITH_ENDPOINT": address}
        older = {"LANGCHAIN_TRACING_V2": "true", "LANGCHAIN_API_KEY": "lsv2_x", "LANGCHAIN_ENDPOINT": address}
        done = subprocess.run(
            [*PROGRAM, "play", "--data-dir", str(tmp_path), "--story", story],
            input=PLAYS[story] + "/quit\n",
            capture_output=True,
            text=True,
            env={**clean_environment(), **tracing, **older},
            timeout=120,
            check=False,
        )
    assert (done.returncode, done.stderr) == (0, "")
    assert "Lamplighter" in done.stdout if story == INK else "Tobias Finch" in done.stdout
    assert heard == []
