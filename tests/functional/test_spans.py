"""With an endpoint set, the trace of a turn also goes out as OpenTelemetry spans; without one nothing is loaded."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest
from tests.live import gate_session, live_server
from ulid import ULID

WORDS = "I whistle the tune of the drowned bell."


@contextmanager
def collector(bodies: list[bytes], status: int = 200) -> Iterator[str]:
    """A collector that keeps what it is sent; answers its address."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            bodies.append(self.rfile.read(int(self.headers["content-length"])))
            self.send_response(status)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None: ...

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


async def test_a_turn_goes_out_as_spans_of_one_trace_with_nobodys_words(tmp_path: Path) -> None:
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    bodies: list[bytes] = []
    with collector(bodies) as address:
        async with live_server(tmp_path, otlp_endpoint=address) as client:
            session = await gate_session(client)
            frames = await client.turn(session, WORDS)
            turn_id = frames[-1]["response"]["result"]["turn_id"]
    sent = [ExportTraceServiceRequest.FromString(body) for body in bodies]
    every = [span for one in sent for of in one.resource_spans for scope in of.scope_spans for span in scope.spans]
    # Periodic work of the server leaves traces of its own.
    spans = [span for span in every if span.trace_id == ULID.from_str(turn_id.removeprefix("turn_")).bytes]
    names = {span.name for span in spans}
    assert {"turn", "narrate", "commit"} <= names and any(name.startswith("ask ") for name in names)
    [root] = [span for span in spans if span.name == "turn"]
    assert {span.parent_span_id for span in spans if span.name != "turn"} == {root.span_id}
    assert not any(b"whistle" in body or b"Mara" in body for body in bodies)


async def test_a_collector_that_refuses_costs_no_turn_and_no_trace(tmp_path: Path) -> None:
    with collector([], status=400) as address:
        async with live_server(tmp_path, otlp_endpoint=address) as client:
            session = await gate_session(client)
            frames = await client.turn(session, WORDS)
            turn_id = frames[-1]["response"]["result"]["turn_id"]
            assert (await client.call("session.explain_turn", session, turn_id=turn_id))["kept"]


@pytest.mark.all
def test_without_an_endpoint_nothing_is_loaded_for_it() -> None:
    code = "import sys, fabula.cli.serve, fabula.wiring; print([n for n in sys.modules if 'telemetry.sdk' in n])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
