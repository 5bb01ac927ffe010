"""The law of the other repositories: blobs, uploads, the memo, recorded calls."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Literal

import pytest

from fabula.ports.errors import InvalidParams
from fabula.ports.models import CallOrigin, CallRecord, CallTotals, Usage
from fabula.ports.store import Store, Upload
from fabula.testing.world import FixedClock


class BlobsLaw:
    async def test_put_of_the_same_bytes_twice_keeps_one_copy_and_answers_the_same_hash(self, store: Store) -> None:
        data = bytes(range(256)) * 9000
        async with store.writing() as unit:
            first, second = await unit.blobs.put(data), await unit.blobs.put(data)
        async with store.reading() as unit:
            assert await unit.blobs.get(first) == data
        assert first == second == hashlib.sha256(data).hexdigest()

    async def test_each_put_is_one_use_and_the_bytes_go_with_the_last_use(self, store: Store) -> None:
        async with store.writing() as unit:
            hash = await unit.blobs.put(b"cover")
            await unit.blobs.put(b"cover")
            await unit.blobs.remove(hash)
            assert await unit.blobs.get(hash) == b"cover"
            await unit.blobs.remove(hash)
            assert await unit.blobs.get(hash) is None

    async def test_get_of_an_unknown_hash_is_none_and_remove_of_it_does_nothing(self, store: Store) -> None:
        async with store.writing() as unit:
            await unit.blobs.remove("f" * 64)
            assert await unit.blobs.get("f" * 64) is None
            hash = await unit.blobs.put(b"")
            assert await unit.blobs.get(hash) == b""


def _upload(clock: FixedClock, id: str, *, blob: str | None = None, lives_ms: int = 1000) -> Upload:
    expires = clock.now_ms() + lives_ms
    return Upload(upload_id=id, purpose="package_import", blob=blob, expires_at_ms=expires)


class UploadsLaw:
    async def test_put_under_an_id_that_exists_replaces_the_upload(self, store: Store, clock: FixedClock) -> None:
        async with store.writing() as unit:
            await unit.uploads.put(_upload(clock, "a"))
            later = _upload(clock, "a", lives_ms=5000)
            await unit.uploads.put(later)
        async with store.reading() as unit:
            assert await unit.uploads.get("a") == later
            assert await unit.uploads.get("nobody") is None

    async def test_get_never_answers_an_expired_one(self, store: Store, clock: FixedClock) -> None:
        async with store.writing() as unit:
            await unit.uploads.put(_upload(clock, "a", lives_ms=1000))
        clock.advance(999)
        async with store.reading() as unit:
            assert await unit.uploads.get("a") is not None
        clock.advance(1)
        async with store.reading() as unit:
            assert await unit.uploads.get("a") is None

    async def test_an_upload_owns_its_blob(self, store: Store, clock: FixedClock) -> None:
        async with store.writing() as unit:
            first, second = await unit.blobs.put(b"first"), await unit.blobs.put(b"second")
            await unit.uploads.put(_upload(clock, "a", blob=first))
            await unit.uploads.put(_upload(clock, "a", blob=first, lives_ms=2000))
            assert await unit.blobs.get(first) == b"first"
            await unit.uploads.put(_upload(clock, "a", blob=second))
            assert await unit.blobs.get(first) is None
            await unit.uploads.remove("a")
            await unit.uploads.remove("a")
            assert await unit.blobs.get(second) is None

    async def test_sweep_removes_expired_uploads_and_their_blobs_and_says_how_many(
        self, store: Store, clock: FixedClock
    ) -> None:
        async with store.writing() as unit:
            old, fresh = await unit.blobs.put(b"old"), await unit.blobs.put(b"fresh")
            await unit.uploads.put(_upload(clock, "old", blob=old, lives_ms=10))
            await unit.uploads.put(_upload(clock, "fresh", blob=fresh, lives_ms=10_000))
            clock.advance(10)
            assert await unit.uploads.sweep() == 1
            assert await unit.uploads.sweep() == 0
            assert await unit.blobs.get(old) is None
            assert await unit.uploads.get("fresh") is not None
            assert await unit.blobs.get(fresh) == b"fresh"


class MemoLaw:
    async def test_the_first_answer_under_a_key_stays_and_a_repeat_answers_the_same(self, store: Store) -> None:
        async with store.writing() as unit:
            assert await unit.memo.get("k") is None
            await unit.memo.put("k", {"text": "Once."})
            await unit.memo.put("k", {"text": "Twice."})
        async with store.reading() as unit:
            assert await unit.memo.get("k") == {"text": "Once."}

    async def test_put_replies_puts_answers_as_the_memo_does_or_none_of_them(self, store: Store) -> None:
        await store.put_replies({})
        await store.put_replies({"a": {"text": "Once."}})
        await store.put_replies({"a": {"text": "Twice."}, "b": {"text": "Then."}})
        with pytest.raises(InvalidParams):
            await store.put_replies({"c": {"text": "Kept?"}, "d": {"text": "\ud800"}})
        async with store.reading() as unit:
            found = [await unit.memo.get(key) for key in ("a", "b", "c", "d")]
        assert found == [{"text": "Once."}, {"text": "Then."}, None, None]


def _call(
    session: str | None,
    story: str | None,
    *,
    memo_hit: bool = False,
    outcome: Literal["ok", "failed"] = "ok",
    error: str | None = None,
) -> CallRecord:
    return CallRecord(
        origin=CallOrigin(agent="narrator", session_id=session, story_id=story, turn_id="turn_1"),
        model="understudy",
        usage=Usage(prompt_tokens=100, completion_tokens=20),
        latency_ms=12,
        first_piece_ms=None,
        memo_hit=memo_hit,
        outcome=outcome,
        error=error,
        recorded_at_ms=5,
    )


class CallsLaw:
    async def test_page_lists_in_the_order_of_recording_newest_last_filtered_by_session_or_story(
        self, store: Store
    ) -> None:
        calls = [_call("s1", None), _call("s2", "t1"), _call("s1", "t1"), _call(None, None)]
        async with store.writing() as unit:
            for call in calls:
                await unit.calls.add(call)
        async with store.reading() as unit:
            everything = await unit.calls.page()
            of_session = await unit.calls.page(session_id="s1")
            of_story = await unit.calls.page(story_id="t1")
            of_both = await unit.calls.page(session_id="s1", story_id="t1")
        assert [call for _, call in everything] == calls
        assert [number for number, _ in everything] == sorted({number for number, _ in everything})
        assert [call for _, call in of_session] == [calls[0], calls[2]]
        assert [call for _, call in of_story] == [calls[1], calls[2]]
        assert [call for _, call in of_both] == [calls[2]]

    async def test_latest_lists_the_newest_first(self, store: Store) -> None:
        calls = [_call("s1", None), _call("s2", "t1"), _call("s1", "t1")]
        async with store.writing() as unit:
            await unit.calls.add(*calls)
            assert await unit.calls.latest(limit=2) == [calls[2], calls[1]]

    async def test_page_after_starts_behind_a_number_and_limit_bounds_the_answer(self, store: Store) -> None:
        async with store.writing() as unit:
            for _ in range(5):
                await unit.calls.add(_call("s1", None))
            everything = await unit.calls.page(session_id="s1")
            assert await unit.calls.page(session_id="s1", after=everything[1][0], limit=2) == everything[2:4]

    async def test_tokens_used_adds_up_a_sessions_calls_and_answers_from_the_memo_cost_nothing(
        self, store: Store
    ) -> None:
        async with store.writing() as unit:
            for call in (_call("s1", None), _call("s1", None), _call("s1", None, memo_hit=True), _call("s2", None)):
                await unit.calls.add(call)
            assert await unit.calls.tokens_used("s1") == 240
            assert await unit.calls.tokens_used("nobody") == 0

    async def test_totals_adds_up_all_calls_of_a_session_or_story_or_of_everyone(self, store: Store) -> None:
        calls = [_call("s1", None), _call("s1", "t1", memo_hit=True), _call("s2", "t1", outcome="failed")]
        async with store.writing() as unit:
            for call in calls:
                await unit.calls.add(call)
            of_session = await unit.calls.totals(session_id="s1")
            of_story = await unit.calls.totals(story_id="t1")
            of_everyone = await unit.calls.totals()
            of_nobody = await unit.calls.totals(session_id="nobody")
        usage = calls[0].usage
        assert of_session == CallTotals(calls=2, memo_hits=1, **vars(usage))
        assert of_story == CallTotals(calls=2, failed=1, memo_hits=1, **vars(usage))
        assert (of_everyone.calls, of_everyone.prompt_tokens) == (3, 2 * usage.prompt_tokens)
        assert of_nobody == CallTotals()

    async def test_grouped_adds_up_the_calls_of_a_time_apart_by_what_is_asked_for(self, store: Store) -> None:
        day = 24 * 3600 * 1000
        calls = [
            replace(_call("s1", "t1"), recorded_at_ms=day - 1),
            replace(_call("s1", None, memo_hit=True), recorded_at_ms=day, model="echo"),
            replace(_call("s2", "t1", outcome="failed"), recorded_at_ms=2 * day - 1),
            replace(_call(None, None), recorded_at_ms=2 * day),
        ]
        async with store.writing() as unit:
            await unit.calls.add(*calls)
        async with store.reading() as unit:
            found, days = await unit.calls.grouped("day", from_ms=0, to_ms=2 * day, limit=10)
            _, sessions = await unit.calls.grouped("session", from_ms=0, to_ms=3 * day, limit=10)
            _, models = await unit.calls.grouped("model", from_ms=day, to_ms=2 * day, limit=10)
            _, dearest = await unit.calls.grouped("story", from_ms=0, to_ms=2 * day, limit=1)
            none, nothing = await unit.calls.grouped("agent", from_ms=5 * day, to_ms=6 * day, limit=10)
        assert (found.calls, found.failed, found.memo_hits, found.prompt_tokens) == (3, 1, 1, 200)
        assert [(name, one.calls, one.prompt_tokens) for name, one in days] == [(str(day), 2, 100), ("0", 1, 100)]
        assert {name: one.calls for name, one in sessions} == {"s1": 2, "s2": 1, "": 1}
        assert {name: one.calls for name, one in models} == {"understudy": 1, "echo": 1}
        assert [name for name, _ in dearest] == ["t1"]
        assert (none, nothing) == (CallTotals(), [])

    async def test_totals_of_turn_adds_up_the_calls_of_one_turn(self, store: Store) -> None:
        calls = [_call("s1", None), _call("s1", None, outcome="failed"), _call("s1", None, memo_hit=True)]
        of_turn = [replace(call, origin=replace(call.origin, turn_id="t7")) for call in calls]
        async with store.writing() as unit:
            await unit.calls.add(*of_turn, replace(calls[0], origin=replace(calls[0].origin, turn_id="t8")))
            found, none = await unit.calls.totals_of_turn("t7"), await unit.calls.totals_of_turn("t9")
        assert (found.calls, found.failed, found.memo_hits) == (3, 1, 1)
        assert found.prompt_tokens == 2 * calls[0].usage.prompt_tokens
        assert none == CallTotals()

    async def test_a_call_that_failed_with_unspeakable_text_is_recorded_all_the_same(self, store: Store) -> None:
        async with store.writing() as unit:
            await unit.calls.add(_call("s1", None, outcome="failed", error="half a \ud800 and \0 nothing"))
            [(_, recorded)] = await unit.calls.page(session_id="s1")
        assert recorded.error == "half a ? and ? nothing"
