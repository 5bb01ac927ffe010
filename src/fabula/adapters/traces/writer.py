"""Writes traces aside, a moment later and several parts at once: no turn waits for them.

Texts are kept by their hash, so that what many prompts have in common stands there once. One that was lately written is
neither packed nor written again.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from fabula.adapters.group_commit import DelayedBatch
from fabula.ports.errors import FabulaError
from fabula.ports.meters import TRACE_PARTS, Meters
from fabula.ports.packed import pack_bytes
from fabula.ports.store import Store, Unit
from fabula.ports.threads import run_in_thread
from fabula.ports.traces import LONGEST_TEXT, CallTrace, PartKind, StoredPart, TracePart, TurnTrace, WorkTrace
from fabula.ports.world import Clock
from fabula.story.values import Json, JsonObject

log = logging.getLogger("fabula.traces")

AFTER_S = 0.25
MOST_WAITING = 5_000
MOST_LETTERS_WAITING = 32 * 2**20
"""So many parts, and so many letters of prompts and answers in them, wait to be written at most."""
REMEMBERED_S = 3600.0
MOST_REMEMBERED = 8_192


class Export(Protocol):
    """Sends parts on to somewhere else; it neither waits nor fails."""

    def put(self, parts: Sequence[TracePart]) -> None: ...

    async def close(self) -> None: ...


class TraceWriter:
    """The log of traces on a store; see `ports.traces` for its law."""

    def __init__(
        self, *, store: Store, clock: Clock, meters: Meters, keeps: bool = True, export: Export | None = None
    ) -> None:
        self._store, self._meters, self._keeps, self._export = store, meters, keeps, export
        self._batch: DelayedBatch[TracePart] = DelayedBatch(self._write, after_s=AFTER_S)
        self._waiting, self._letters = 0, 0
        self._clock = clock
        # The texts that were lately written, and when, the oldest first. A plain dict, because a thread looks texts up.
        self._known: dict[str, float] = {}

    @property
    def is_on(self) -> bool:
        return self._keeps or self._export is not None

    def put(self, part: TracePart) -> None:
        if not self.is_on:
            return
        letters = _letters_of(part)
        if self._waiting >= MOST_WAITING or self._letters + letters > MOST_LETTERS_WAITING:
            self._meters.add(TRACE_PARTS, "dropped")
            return
        self._waiting += 1
        self._letters += letters
        self._batch.put(part)

    async def settle(self) -> None:
        await self._batch.settle()

    async def close(self) -> None:
        """Writes what waits, and lets go of where it is sent to."""
        await self.settle()
        if self._export is not None:
            await self._export.close()

    async def _write(self, parts: list[TracePart]) -> None:
        try:
            if self._export is not None:
                self._export.put(parts)
            if self._keeps:
                await self._keep(parts)
        finally:
            self._waiting -= len(parts)
            self._letters -= sum(map(_letters_of, parts))

    async def _keep(self, parts: list[TracePart]) -> None:
        self._forget_old()
        packed = await run_in_thread(_packed, parts, self._known)

        async def keep(unit: Unit) -> None:
            await unit.traces.keep(packed.parts, packed.texts)

        try:
            await self._store.write(keep, durable=False)
        except FabulaError as error:
            self._meters.add(TRACE_PARTS, "dropped", amount=len(parts))
            log.warning("%d parts of traces could not be kept: %s", len(parts), error.message)
            return
        self._meters.add(TRACE_PARTS, "kept", amount=len(parts))
        now = self._clock.monotonic()
        self._known |= dict.fromkeys(packed.texts, now)

    def _forget_old(self) -> None:
        before = self._clock.monotonic() - REMEMBERED_S
        while self._known:
            oldest = next(iter(self._known))
            if self._known[oldest] > before and len(self._known) <= MOST_REMEMBERED:
                break
            del self._known[oldest]


def _letters_of(part: TracePart) -> int:
    return sum(len(one.content) for one in part.messages) + len(part.reply) if isinstance(part, CallTrace) else 0


@dataclass(frozen=True, kw_only=True)
class _Packed:
    parts: Sequence[StoredPart]
    texts: Mapping[str, bytes]


def _packed(parts: Sequence[TracePart], known: Container[str]) -> _Packed:
    texts: dict[str, bytes] = {}

    def named(text: str) -> str:
        raw = text[:LONGEST_TEXT].encode("utf-8", "replace")
        hash = hashlib.blake2b(raw, digest_size=16).hexdigest()
        if hash not in known and hash not in texts:
            texts[hash] = pack_bytes(raw)
        return hash

    stored = []
    for part in parts:
        match part:
            case TurnTrace():
                stored.append(_part(part, "turn", {**_turn_doc(part), **part.describe()}))
            case CallTrace():
                messages: list[Json] = [{"role": one.role, "text": named(one.content)} for one in part.messages]
                stored.append(
                    _part(part, "call", {**_call_doc(part), "messages": messages, "reply": named(part.reply)})
                )
            case WorkTrace():
                stored.append(_part(part, "work", _work_doc(part)))
    return _Packed(parts=stored, texts=texts)


def _part(part: TracePart, kind: PartKind, doc: JsonObject) -> StoredPart:
    return StoredPart(turn_id=part.turn_id, kind=kind, at_ms=part.began_at_ms, doc=doc)


def _turn_doc(part: TurnTrace) -> JsonObject:
    return {
        "took_ms": part.took_ms,
        "outcome": part.outcome,
        "steps": [{"name": one.name, "began_ms": one.began_ms, "took_ms": one.took_ms} for one in part.steps],
    }


def _call_doc(part: CallTrace) -> JsonObject:
    return {
        "agent": part.origin.agent,
        "model": part.model,
        "prompt_tokens": part.usage.prompt_tokens,
        "completion_tokens": part.usage.completion_tokens,
        "took_ms": part.took_ms,
        "first_piece_ms": part.first_piece_ms,
        "memo_hit": part.memo_hit,
        "repaired": part.origin.is_repair,
        "problem": part.problem,
    }


def _work_doc(part: WorkTrace) -> JsonObject:
    return {
        "work_id": part.work_id,
        "kind": part.kind,
        "attempt": part.attempt,
        "took_ms": part.took_ms,
        "outcome": part.outcome,
        "problem": part.problem,
    }
