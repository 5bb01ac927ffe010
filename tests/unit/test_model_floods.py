"""A model server that answers one question very many times: its connection is ended, and nothing of it is kept."""

from __future__ import annotations

import asyncio

import pytest

from fabula.adapters.models.address_policy import AddressPolicy
from fabula.adapters.models.session import open_session
from fabula.adapters.models.wire import Wire
from fabula.ports.models import ModelError
from fabula.testing.model_kit import RunningClock

FLOODS = {
    "continue": b"HTTP/1.1 100 Continue\r\n\r\n",
    "early hints": b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n",
    "whole answers": b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
    "refusals": b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n",
}


@pytest.mark.parametrize("flood", FLOODS)
async def test_a_model_server_that_answers_without_end_is_left(flood: str) -> None:
    left = asyncio.Event()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        try:
            while True:
                writer.write(FLOODS[flood] * 5_000)
                await writer.drain()
        except ConnectionError:
            left.set()
        finally:
            writer.close()

    policy = AddressPolicy(allow_private=True)
    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server, await open_session(policy) as session:
        port = server.sockets[0].getsockname()[1]
        base_url = f"http://127.0.0.1:{port}/v1"
        wire = Wire(session=session, policy=policy, base_url=base_url, api_key="k", clock=RunningClock())
        async with asyncio.timeout(120):
            with pytest.raises(ModelError):
                await wire.models()
            await left.wait()
