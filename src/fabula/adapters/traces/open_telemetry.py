"""Sends traces on as OpenTelemetry spans. Times, sizes, names and outcomes are told, never words of players or models.

The id of a turn has 128 bits, as many as the id of a trace, and the ids of spans follow from what they tell of: so the
spans of one turn come together wherever they are sent from.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExportResult
from opentelemetry.trace import SpanContext, SpanKind, Status, StatusCode, TraceFlags
from ulid import ULID

import fabula
from fabula.ports.traces import CallTrace, TracePart, TurnTrace, WorkTrace

log = logging.getLogger("fabula.traces")

PATH = "/v1/traces"
TIMEOUT_S = 5.0
MOST_WAITING, AT_ONCE = 2_000, 200
"""How many parts wait while nobody takes them, the oldest making way, and how many are sent together."""

Attributes = Mapping[str, str | bool | int]


class SpanExport:
    """Sends parts one batch after another, from a thread of its own: a collector that hangs holds up nobody else."""

    def __init__(self, endpoint: str) -> None:
        # It would write a line for every batch that fails; one for each time the collector goes away is enough.
        logging.getLogger("opentelemetry.exporter").setLevel(logging.CRITICAL)
        self._exporter = OTLPSpanExporter(address_of(endpoint), timeout=TIMEOUT_S)
        self._thread = ThreadPoolExecutor(1, "spans")
        self._waiting: deque[TracePart] = deque(maxlen=MOST_WAITING)
        self._sending: asyncio.Task[None] | None = None
        self._is_away = False

    def put(self, parts: Sequence[TracePart]) -> None:
        self._waiting.extend(parts)
        if self._sending is None or self._sending.done():
            self._sending = asyncio.create_task(self._send())

    async def close(self) -> None:
        if self._sending is not None:
            await asyncio.wait([self._sending], timeout=TIMEOUT_S)
            self._sending.cancel()
        self._thread.shutdown(wait=False, cancel_futures=True)

    async def _send(self) -> None:
        while self._waiting:
            batch = list(islice(self._waiting, AT_ONCE))
            for _ in batch:
                self._waiting.popleft()
            went = await asyncio.get_running_loop().run_in_executor(self._thread, self._export, batch)
            if not went and not self._is_away:
                log.warning("Traces cannot be sent to the otlp_endpoint; they are lost there until it answers again.")
            self._is_away = not went

    def _export(self, batch: Sequence[TracePart]) -> bool:
        return self._exporter.export(list(spans_of(batch))) is SpanExportResult.SUCCESS


def address_of(endpoint: str) -> str:
    """Where spans are posted to; an endpoint is named without that path by custom."""
    bare = endpoint.rstrip("/")
    return bare if bare.endswith(PATH) else bare + PATH


RESOURCE = Resource({"service.name": "fabula", "service.version": fabula.__version__})


def spans_of(parts: Sequence[TracePart]) -> Iterator[ReadableSpan]:
    """The spans of some parts of traces, each under its turn."""
    for part in parts:
        match part:
            case TurnTrace():
                yield from _of_turn(part)
            case CallTrace():
                yield _of_call(part)
            case WorkTrace():
                yield _of_work(part)


def _of_turn(part: TurnTrace) -> Iterator[ReadableSpan]:
    # An attempt that was stopped goes on elsewhere, and the one that ends the turn stands for it.
    name = "" if part.outcome != "stopped" else f"stopped {part.began_at_ms}"
    facts: Attributes = {"fabula.turn_id": part.turn_id, "fabula.outcome": part.outcome}
    yield _span(part, "turn", name, facts, failed=part.outcome == "failed", kind=SpanKind.SERVER)
    for number, step in enumerate(part.steps):
        began = part.began_at_ms + step.began_ms
        inner = f"{part.began_at_ms} {number} {step.name}"
        yield _span(part, step.name, inner, {}, began_at_ms=began, took_ms=step.took_ms, under=name)


def _of_call(part: CallTrace) -> ReadableSpan:
    facts: Attributes = {
        "gen_ai.request.model": part.model,
        "gen_ai.usage.input_tokens": part.usage.prompt_tokens,
        "gen_ai.usage.output_tokens": part.usage.completion_tokens,
        "fabula.agent": part.origin.agent,
        "fabula.memo_hit": part.memo_hit,
        "fabula.repair": part.origin.is_repair,
    }
    inner = f"call {part.origin.agent} {part.began_at_ms} {part.took_ms} {id(part)}"
    name = f"ask {part.origin.agent}"
    return _span(part, name, inner, facts, failed=part.problem is not None, kind=SpanKind.CLIENT)


def _of_work(part: WorkTrace) -> ReadableSpan:
    facts: Attributes = {
        "fabula.work_id": part.work_id,
        "fabula.attempt": part.attempt,
        "fabula.outcome": part.outcome,
    }
    inner = f"work {part.work_id} {part.attempt}"
    return _span(part, part.kind, inner, facts, failed=part.outcome == "failed", kind=SpanKind.CONSUMER)


def _span(
    part: TracePart,
    name: str,
    inner: str,
    facts: Attributes,
    *,
    began_at_ms: int | None = None,
    took_ms: int | None = None,
    under: str = "",
    failed: bool = False,
    kind: SpanKind = SpanKind.INTERNAL,
) -> ReadableSpan:
    """A span; the one of the turn itself has no `inner` name and stands under nobody."""
    began = part.began_at_ms if began_at_ms is None else began_at_ms
    took = part.took_ms if took_ms is None else took_ms
    return ReadableSpan(
        name,
        context=_context(part.turn_id, inner),
        parent=_context(part.turn_id, under) if inner else None,
        resource=RESOURCE,
        attributes=facts,
        kind=kind,
        status=Status(StatusCode.ERROR if failed else StatusCode.UNSET),
        start_time=began * 1_000_000,
        end_time=(began + took) * 1_000_000,
    )


def _context(turn_id: str, inner: str) -> SpanContext:
    return SpanContext(trace_id_of(turn_id), _number(f"{turn_id}/{inner}", 8), False, TraceFlags(TraceFlags.SAMPLED))


def trace_id_of(turn_id: str) -> int:
    """The id of a turn as a trace has it: the same 128 bits."""
    try:
        return int(ULID.from_str(turn_id.rpartition("_")[2]))
    except ValueError:
        return _number(turn_id, 16)


def _number(text: str, size: int) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=size).digest(), "big")
