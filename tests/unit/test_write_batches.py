"""GroupCommit: writers who come while a transaction runs share the next one, and hear of its failure."""

from __future__ import annotations

import asyncio

import pytest

from fabula.adapters.group_commit import DelayedBatch, GroupCommit


async def refuse_bad(items: list[str]) -> None:
    await asyncio.sleep(0)
    if "bad" in items:
        raise OSError("full")


async def test_a_single_writer_is_written_at_once_and_a_crowd_in_two_batches() -> None:
    written: list[list[int]] = []

    async def write(items: list[int]) -> None:
        await asyncio.sleep(0.01)
        written.append(items)

    batches = GroupCommit(write)
    await asyncio.gather(*(batches.add(number) for number in range(50)))
    await batches.add(50)
    assert [number for batch in written for number in batch] == list(range(51))
    assert len(written) <= 3 and written[-1] == [50]


async def test_every_writer_of_a_failed_batch_hears_of_it_and_the_next_batch_goes_on() -> None:
    batches = GroupCommit(refuse_bad)
    outcomes = await asyncio.gather(
        *(batches.add(item) for item in ("bad", "good", "bad", "good")), return_exceptions=True
    )
    assert [type(outcome) for outcome in outcomes] == [OSError, OSError, OSError, OSError]
    await batches.add("good")


async def test_a_writer_whose_batch_was_another_hears_nothing_of_its_failure() -> None:
    batches = GroupCommit(refuse_bad)
    outcomes = await asyncio.gather(batches.add("bad"), batches.add("good"), return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [OSError, type(None)]


@pytest.mark.parametrize("leaver", [0, 1, 2])
async def test_a_writer_that_leaves_does_not_stop_the_others(leaver: int) -> None:
    written: list[str] = []

    async def write(items: list[str]) -> None:
        await asyncio.sleep(0.02)
        written.extend(items)

    batches = GroupCommit(write)
    writers = [asyncio.create_task(batches.add(item)) for item in "abc"]
    await asyncio.sleep(0.005)
    writers[leaver].cancel()
    outcomes = await asyncio.gather(*writers, return_exceptions=True)
    assert [type(outcome) for outcome in outcomes].count(asyncio.CancelledError) == 1
    assert [item for place, item in enumerate("abc") if place != leaver] == [
        item for item in written if item != "abc"[leaver]
    ]
    await batches.add("d")
    assert written[-1] == "d"


async def test_what_may_wait_is_written_together_in_its_order_by_itself() -> None:
    written: list[list[int]] = []

    async def write(items: list[int]) -> None:
        written.append(items)

    later = DelayedBatch(write)
    for number in range(5):
        later.put(number)
    assert (written, later.unwritten) == ([], [0, 1, 2, 3, 4])
    for _ in range(100):
        if not later.unwritten:
            break
        await asyncio.sleep(0.01)
    assert (written, later.unwritten) == ([[0, 1, 2, 3, 4]], [])


async def test_what_is_dropped_in_time_is_never_written_and_what_is_settled_is() -> None:
    written: list[int] = []

    async def write(items: list[int]) -> None:
        await asyncio.sleep(0)
        written.extend(items)

    later = DelayedBatch(write)
    for number in range(6):
        later.put(number)
    later.drop(lambda number: number % 2 == 0)
    assert (written, later.unwritten) == ([], [1, 3, 5])
    await later.settle()
    assert (written, later.unwritten) == ([1, 3, 5], [])


async def test_what_is_being_written_is_not_dropped() -> None:
    written: list[int] = []

    async def write(items: list[int]) -> None:
        await asyncio.sleep(0.01)
        written.extend(items)

    later = DelayedBatch(write)
    later.put(1)
    settling = asyncio.create_task(later.settle())
    await asyncio.sleep(0)
    later.drop(lambda number: True)
    await settling
    assert written == [1]


async def test_nobody_waits_for_what_came_after_them() -> None:
    gates = {number: asyncio.Event() for number in (1, 2)}
    begun: list[int] = []

    async def write(items: list[int]) -> None:
        begun.extend(items)
        await gates[items[0]].wait()

    later = DelayedBatch(write)
    later.put(1)
    first = asyncio.create_task(later.settle())
    await asyncio.sleep(0)
    later.put(2)
    second = asyncio.create_task(later.settle())
    while begun != [1, 2]:
        await asyncio.sleep(0)
    gates[1].set()
    async with asyncio.timeout(120):
        await first
    assert (second.done(), later.unwritten) == (False, [2])
    gates[2].set()
    await second
    assert later.unwritten == []
