"""What of the resources cannot be read: lists pass over it, so somebody has to be able to ask."""

from __future__ import annotations

from fabula.actions.house import House
from fabula.actions.repositories import EVERY_KIND
from fabula.actions.views import Paging
from fabula.ports.threads import run_in_thread

READ_AT_ONCE = 50


async def damaged_resources(house: House) -> list[str]:
    """A sentence about each resource that cannot be read. It reads all there are."""
    found: list[str] = []
    for repository in EVERY_KIND:
        cursor: str | None = None
        while True:
            async with house.store.reading() as unit:
                rows, cursor = await repository.page_of_rows(unit, Paging(limit=READ_AT_ONCE, cursor=cursor))
            problems = [await run_in_thread(repository.problem, row) for row in rows]
            found += [problem for problem in problems if problem is not None]
            if cursor is None:
                break
    return found
