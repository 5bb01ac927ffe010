"""The conformance kit of models: each sentence of ModelClient's law is a check that every client must pass.

A test gives a `Subject`: a client, and requests that make it answer. Checks are plain coroutines, so any test runner
can drive them; `CHECKS` lists them all.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass

from fabula.ports.models import ModelClient, ModelError, ModelReply, ModelRequest, Piece
from fabula.story.values import Json, JsonObject


class RunningClock:
    """The machine's own clock."""

    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000

    def monotonic(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


@dataclass(frozen=True, kw_only=True)
class Subject:
    """A client under test. `secret` is the key it was given; `long` asks for an answer of many pieces.

    `fits` tells whether a value fits the schema of `structured`; `failing` asks for something that must fail, or is
    None for a client that cannot fail. `stopped` waits until the client's upstream has noticed that a call ended.
    """

    client: ModelClient
    prose: ModelRequest
    long: ModelRequest
    structured: ModelRequest
    fits: Callable[[Json, JsonObject], bool]
    unfit: ModelRequest | None = None
    failing: ModelRequest | None = None
    secret: str | None = None
    stopped: Callable[[], Awaitable[None]] | None = None


async def pieces_come_in_order_and_then_exactly_one_reply_whose_text_is_the_pieces_joined(subject: Subject) -> None:
    for request in (subject.prose, subject.long, subject.structured):
        parts = await _parts(subject.client, request)
        replies = [part for part in parts if isinstance(part, ModelReply)]
        pieces = [part.text for part in parts if isinstance(part, Piece)]
        assert len(replies) == 1 and parts[-1] is replies[0]
        assert replies[0].text == "".join(pieces)
        assert replies[0].text.strip()


async def a_long_answer_comes_in_many_pieces(subject: Subject) -> None:
    parts = await _parts(subject.client, subject.long)
    assert len(parts) > 5


async def a_failure_is_a_model_error_and_nothing_is_yielded_after_it(subject: Subject) -> None:
    if subject.failing is None:
        return
    answer = subject.client.stream(subject.failing)
    seen: list[Piece | ModelReply] = []
    try:
        async for part in answer:
            seen.append(part)
    except ModelError as error:
        assert error.message.strip().endswith((".", "?"))
    else:
        raise AssertionError("the failing request did not fail")
    assert not any(isinstance(part, ModelReply) for part in seen)
    assert [part async for part in answer] == []


async def closing_the_iterator_ends_the_upstream_request_at_once(subject: Subject) -> None:
    async with aclosing(subject.client.stream(subject.long)) as answer:
        await anext(answer)
    await _stopped(subject)
    await _still_answers(subject)


async def cancelling_the_task_that_reads_ends_the_upstream_request_at_once(subject: Subject) -> None:
    begun = asyncio.Event()
    reader = asyncio.create_task(_read_slowly(subject, begun))
    await asyncio.wait_for(begun.wait(), 60)
    reader.cancel()
    (outcome,) = await asyncio.gather(reader, return_exceptions=True)
    assert isinstance(outcome, asyncio.CancelledError)
    await _stopped(subject)
    await _still_answers(subject)


async def with_an_output_schema_the_structured_reply_fits_it(subject: Subject) -> None:
    reply = await _reply(subject.client, subject.structured)
    assert subject.structured.output_schema is not None
    assert subject.fits(reply.structured, subject.structured.output_schema)


async def an_answer_that_does_not_fit_the_schema_fails_as_unusable(subject: Subject) -> None:
    if subject.unfit is None:
        return
    try:
        await _parts(subject.client, subject.unfit)
    except ModelError as error:
        assert type(error).__name__ == "ModelUnusable"
    else:
        raise AssertionError("an unfit answer was taken")


async def the_fingerprint_never_holds_a_key(subject: Subject) -> None:
    assert subject.client.fingerprint
    assert subject.secret is None or subject.secret not in subject.client.fingerprint


async def calls_in_parallel_do_not_disturb_each_other(subject: Subject) -> None:
    replies = await asyncio.gather(*(_reply(subject.client, subject.prose) for _ in range(3)))
    assert all(reply.text.strip() for reply in replies)


Check = Callable[[Subject], Awaitable[None]]
CHECKS: tuple[Check, ...] = (
    pieces_come_in_order_and_then_exactly_one_reply_whose_text_is_the_pieces_joined,
    a_long_answer_comes_in_many_pieces,
    a_failure_is_a_model_error_and_nothing_is_yielded_after_it,
    closing_the_iterator_ends_the_upstream_request_at_once,
    cancelling_the_task_that_reads_ends_the_upstream_request_at_once,
    with_an_output_schema_the_structured_reply_fits_it,
    an_answer_that_does_not_fit_the_schema_fails_as_unusable,
    the_fingerprint_never_holds_a_key,
    calls_in_parallel_do_not_disturb_each_other,
)


async def _parts(client: ModelClient, request: ModelRequest) -> list[Piece | ModelReply]:
    async with aclosing(client.stream(request)) as answer:
        return [part async for part in answer]


async def _reply(client: ModelClient, request: ModelRequest) -> ModelReply:
    last = (await _parts(client, request))[-1]
    assert isinstance(last, ModelReply)
    return last


async def _read_slowly(subject: Subject, begun: asyncio.Event) -> None:
    async with aclosing(subject.client.stream(subject.long)) as answer:
        async for _ in answer:
            begun.set()
            await asyncio.sleep(0.01)


async def _stopped(subject: Subject) -> None:
    if subject.stopped is not None:
        await asyncio.wait_for(subject.stopped(), 30)


async def _still_answers(subject: Subject) -> None:
    assert (await _reply(subject.client, subject.prose)).text.strip()
