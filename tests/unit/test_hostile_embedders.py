"""A server that speaks `/v1/embeddings` and lies: nothing of what it says is kept, and nobody waits long for it."""

from __future__ import annotations

import asyncio
import tracemalloc
import zlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import orjson
import pytest

from fabula.adapters.embedders.api import ApiEmbedder
from fabula.ports.errors import BackendError
from fabula.testing.model_kit import RunningClock

DIMENSION = 16
MIB = 2**20


def answer(*vectors: object) -> bytes:
    return orjson.dumps({"data": [{"index": at, "embedding": vector} for at, vector in enumerate(vectors)]})


def head(body: bytes, *more: bytes) -> bytes:
    lines = (b"HTTP/1.1 200 OK", b"Content-Type: application/json", b"Content-Length: %d" % len(body), *more)
    return b"\r\n".join(lines) + b"\r\n\r\n" + body


@asynccontextmanager
async def embedder_at(answered: Callable[[], bytes], *, pause_s: float = 0.0) -> AsyncIterator[ApiEmbedder]:
    """The embedder of a server that answers each question with these bytes, in two pieces."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                length = next(line for line in head.lower().splitlines() if line.startswith(b"content-length:"))
                await reader.readexactly(int(length.partition(b":")[2]))
                whole = answered()
                writer.write(whole[: len(whole) // 2])
                await writer.drain()
                await asyncio.sleep(pause_s)
                writer.write(whole[len(whole) // 2 :])
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        embedder = ApiEmbedder(
            base_url=f"http://127.0.0.1:{port}/v1", model="m", api_key="", dimension=DIMENSION, clock=RunningClock()
        )
        yield embedder
        await embedder.close()


async def test_an_answer_that_comes_in_pieces_is_read_to_its_end() -> None:
    vector = [1.0] + [0.0] * (DIMENSION - 1)
    async with embedder_at(lambda: head(answer(vector)), pause_s=0.05) as embedder:
        assert await embedder.embed(["The sea."]) == [tuple(vector)]


LIES: dict[str, Callable[[], bytes]] = {
    "nothing where a number should be": lambda: answer([None] * DIMENSION),
    "numbers that are too large to be squared": lambda: answer([1e300] * DIMENSION),
    "numbers as texts that are none": lambda: answer(["inf"] * DIMENSION),
    "numbers as texts": lambda: answer(["1"] * DIMENSION),
    "true": lambda: answer([True] * DIMENSION),
    "lists in place of numbers": lambda: answer([[1.0]] * DIMENSION),
    "rows of different lengths": lambda: answer([1.0] * DIMENSION, [1.0]),
    "too few numbers": lambda: answer([1.0] * (DIMENSION - 1)),
    "two vectors for one text": lambda: answer([1.0] * DIMENSION, [1.0] * DIMENSION),
    "an object as a vector": lambda: answer({"0": 1.0}),
    "places that cannot be compared": lambda: orjson.dumps({"data": [{"index": []}, {"index": "x"}]}),
    "no list": lambda: b'{"data": 1}',
    "no object": lambda: b"[]",
    "no JSON": lambda: b"<html>",
    "nothing": lambda: b"",
    "deep": lambda: b"[" * 100_000,
}


@pytest.mark.parametrize("lie", LIES)
async def test_what_are_no_vectors_is_refused_with_a_sentence(lie: str) -> None:
    async with embedder_at(lambda: head(LIES[lie]())) as embedder:
        with pytest.raises(BackendError, match="embedder_base"):
            await embedder.embed(["The sea."])


async def test_no_key_follows_an_embedder_to_another_address() -> None:
    asked: list[str] = []

    async def elsewhere(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append((await reader.readuntil(b"\r\n\r\n")).decode())
        writer.close()

    async with await asyncio.start_server(elsewhere, "127.0.0.1", 0) as other:
        place = f"Location: http://127.0.0.1:{other.sockets[0].getsockname()[1]}/v1/embeddings".encode()
        for status in (b"301 Moved", b"302 Found", b"307 Temporary Redirect", b"308 Permanent Redirect"):
            sent = b"HTTP/1.1 " + status + b"\r\n" + place + b"\r\nContent-Length: 0\r\n\r\n"
            async with embedder_at(lambda sent=sent: sent) as embedder:  # type: ignore[misc]
                with pytest.raises(BackendError, match="another address"):
                    await embedder.embed(["The sea."])
    assert asked == []


FLOODS: dict[str, Callable[[], bytes]] = {
    "very many vectors": lambda: head(b'{"data":[' + b"{}," * (4 * MIB) + b"{}]}"),
    "very many numbers": lambda: head(b'{"data":[{"index":0,"embedding":[' + b"0.1," * (4 * MIB) + b"0.1]}]}"),
    "a long text beside short ones, in place of vectors": lambda: head(answer("x" * MIB, *[""] * 400)),
    "a long text among numbers": lambda: head(answer(["x" * MIB, *[1.0] * 400])),
    "a long text in place of a vector among vectors": lambda: head(answer(*[["x" * MIB]] * 2, *[[1.0]] * 400)),
    "one very long text": lambda: head(b'{"data":"' + b"x" * (16 * MIB) + b'"}'),
    "much in little": lambda: head(zlib.compress(b"[" + b"0," * (64 * MIB) + b"0]"), b"Content-Encoding: deflate"),
    "answers without end": lambda: b"HTTP/1.1 100 Continue\r\n\r\n" * 100_000,
}


@pytest.mark.parametrize("flood", FLOODS)
async def test_a_server_that_sends_far_too_much_does_not_swell_whoever_asks(flood: str) -> None:
    sent = FLOODS[flood]()
    async with embedder_at(lambda: sent) as embedder:
        tracemalloc.start()
        try:
            with pytest.raises(BackendError, match="embedder_base"):
                await embedder.embed(["The sea."])
            assert tracemalloc.get_traced_memory()[1] < 80 * MIB
        finally:
            tracemalloc.stop()


async def test_a_server_that_is_silent_is_not_waited_for_again_at_once(caplog: pytest.LogCaptureFixture) -> None:
    asked = 0

    def count() -> bytes:
        nonlocal asked
        asked += 1
        return head(answer([1.0] * DIMENSION))

    async with embedder_at(count, pause_s=60) as embedder:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(1.1):
                await embedder.embed(["The sea."])
        for _ in range(5):
            with pytest.raises(BackendError, match="embedder_base"):
                await embedder.embed(["The sea."])
        assert asked == 1 and len(caplog.records) == 1
