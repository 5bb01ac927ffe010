"""What a process does of one name, it does one after another; of other names, beside it."""

from __future__ import annotations

import asyncio
import gc

from fabula.actions.work.one_at_a_time import OneAtATime


async def test_work_of_one_name_finds_done_what_the_one_before_did_and_other_names_do_not_wait() -> None:
    lane, done, seen = OneAtATime(), list[str](), list[tuple[str, list[str]]]()

    async def work(name: str) -> None:
        async with lane.alone(name):
            seen.append((name, [one for one in done if one == name]))
            gc.collect()
            await asyncio.sleep(0)
            done.append(name)

    await asyncio.gather(*(work(name) for name in ("a", "a", "b", "a")))
    assert seen[:2] == [("a", []), ("b", [])], "the second of 'a' waits, and 'b' does not"
    assert seen[2:] == [("a", ["a"]), ("a", ["a", "a"])]
