"""Strangers at full size: whatever they send before anybody asks who they are, everybody else is answered at once.

The small sizes of the same attacks are in `tests/functional/test_before_the_door.py`.
"""

from __future__ import annotations

import asyncio
import logging
import os
import struct
import subprocess
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.stalls import LONGEST_WORK_S, longest_work, stall_lines

from fabula.testing.server_process import PROGRAM, clean_environment, server_process

pytestmark = pytest.mark.torture

log = logging.getLogger(__name__)
MOST_MEMORY = 200 * 2**20
HANDSHAKE = (
    b"GET /ws HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)

Attack = Callable[[int], Coroutine[Any, Any, None]]


@asynccontextmanager
async def connection(port: int) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        yield reader, writer
    finally:
        writer.close()


async def send_endless_headers(port: int) -> None:
    """Four connections, up to a gigabyte each."""

    async def one() -> None:
        async with connection(port) as (_, writer):
            writer.write(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n")
            with suppress(ConnectionError):
                for number in range(1000):
                    writer.write(b"".join(b"X-%d-%d: %s\r\n" % (number, line, b"y" * 1000) for line in range(1000)))
                    await writer.drain()

    await asyncio.gather(*(one() for _ in range(4)))


async def hold_half_requests(port: int) -> None:
    """A thousand connections that never finish their headers."""
    held = [await asyncio.open_connection("127.0.0.1", port) for _ in range(1000)]
    for _, writer in held:
        writer.write(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n")
    await asyncio.sleep(2)
    for _, writer in held:
        writer.close()


async def send_empty_fragments(port: int) -> None:
    """Two million of them."""
    async with connection(port) as (reader, writer):
        writer.write(HANDSHAKE)
        await reader.readuntil(b"\r\n\r\n")
        flood = (struct.pack("!BB", 0x00, 0x80) + bytes(4)) * 20_000
        writer.write(struct.pack("!BB", 0x01, 0x80) + bytes(4))
        with suppress(ConnectionError):
            for _ in range(100):
                writer.write(flood)
                await writer.drain()


async def talk_to_the_game_socket(port: int) -> None:
    """Twelve sockets that send large frames without a token."""

    async def one() -> None:
        async with connection(port) as (reader, writer):
            writer.write(HANDSHAKE)
            await reader.readuntil(b"\r\n\r\n")
            text = b'{"type": "interaction_event", "agent_id": "a", "text": "' + b"x" * 200_000 + b'"}'
            frame = struct.pack("!BBQ", 0x81, 0xFF, len(text)) + bytes(4) + text
            with suppress(ConnectionError):
                for _ in range(100):
                    writer.write(frame)
                    await writer.drain()

    await asyncio.gather(*(one() for _ in range(12)))


async def leave_within_bodies(port: int) -> None:
    for _ in range(500):
        async with connection(port) as (_, writer):
            writer.write(b"POST /rpc HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n{")
            await writer.drain()


@pytest.mark.parametrize(
    "attack",
    [
        send_endless_headers,
        hold_half_requests,
        send_empty_fragments,
        talk_to_the_game_socket,
        leave_within_bodies,
    ],
    ids=lambda attack: str(attack.__name__),
)
async def test_a_stranger_neither_slows_nor_swells_the_server(tmp_path: Path, attack: Attack) -> None:
    settings = {"FABULA_SAMPLES": "false", "FABULA_REQUIRE_TOKENS": "true"}
    await asyncio.to_thread(_make_token, tmp_path)
    with server_process(tmp_path, settings=settings) as (process, address):
        before = _resident(process.pid)
        async with httpx.AsyncClient(base_url=address, timeout=60) as monitor:
            await monitor.get("/healthz")
            slowest, largest = await _watch(monitor, process.pid, attack(int(address.rsplit(":", 1)[1])))
            # The next beat of the watchdog tells of the last stall.
            await asyncio.sleep(0.3)
        written = tmp_path / "server.log"
        told = "longest wait %.3f s, longest work %.3f s, growth %.0f MB"
        log.warning(told, slowest, longest_work(written), (largest - before) / 2**20)
        assert largest - before < MOST_MEMORY
        assert longest_work(written) < LONGEST_WORK_S, stall_lines(written)
    assert "Traceback" not in written.read_text("utf-8")
    assert list(tmp_path.glob("logs/*")) == []


async def _watch(monitor: httpx.AsyncClient, pid: int, attack: Coroutine[Any, Any, None]) -> tuple[float, int]:
    """The slowest answer and the most memory while an attack goes on."""
    attacking = asyncio.create_task(attack)
    clock, slowest, largest = asyncio.get_running_loop().time, 0.0, 0
    while not attacking.done():
        started = clock()
        assert (await monitor.get("/healthz")).text == "ok"
        slowest, largest = max(slowest, clock() - started), max(largest, _resident(pid))
        await asyncio.sleep(0.01)
    await attacking
    return slowest, largest


def _resident(pid: int) -> int:
    pages = int(Path(f"/proc/{pid}/statm").read_text("ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def _make_token(data_dir: Path) -> None:
    command = [*PROGRAM, "token", "create", "--role", "admin", "--data-dir", str(data_dir)]
    subprocess.run(command, env=clean_environment(), check=True, capture_output=True)
