"""The requests of the last minute are remembered, and no more of them than is good for the server."""

from __future__ import annotations

from fabula.actions.recent_requests import RecentRequests


async def test_requests_are_remembered_for_their_time_and_then_forgotten() -> None:
    known = RecentRequests()
    known.keep("first", "x", letters=1, now=0.0, for_s=60.0)
    assert known.find("first", 59.0) is not None
    known.keep("second", "x", letters=1, now=61.0, for_s=60.0)
    assert len(known) == 1 and known.find("first", 59.0) is None and known.find("second", 61.0) is not None


async def test_many_long_requests_that_are_remembered_have_a_bound_together() -> None:
    known = RecentRequests(most=100, most_letters=1_000)
    for number in range(50):
        known.keep(f"r{number}", "x", letters=300, now=0.0, for_s=60.0)
    assert len(known) == 3
    for number in range(200):
        known.keep(f"short{number}", "x", letters=1, now=0.0, for_s=60.0)
    assert len(known) == 100


async def test_a_request_that_comes_again_counts_once() -> None:
    known = RecentRequests(most_letters=1_000)
    for _ in range(10):
        known.keep("again", "x", letters=600, now=0.0, for_s=60.0)
    assert len(known) == 1 and known.find("again", 1.0) is not None
