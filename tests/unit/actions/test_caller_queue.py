"""Who waits for whom where only one may work at a time."""

from __future__ import annotations

import asyncio

from fabula.actions.caller_queue import CallerQueue
from fabula.ports.actors import Actor

MANY, OTHER = Actor(role="player", token_id="many"), Actor(role="player", token_id="other")


async def test_who_asks_many_times_at_once_has_another_wait_for_one_of_them() -> None:
    queue, order = CallerQueue(), list[str | None]()

    async def work(actor: Actor) -> None:
        async with queue.turn_of(actor):
            order.append(actor.token_id)
            await asyncio.sleep(0)

    async with asyncio.TaskGroup() as group:
        for actor in (*[MANY] * 20, OTHER):
            group.create_task(work(actor))
    assert len(order) == 21 and order[1] == "other"


async def test_no_more_are_let_in_at_once_than_there_are_places() -> None:
    queue, inside, most = CallerQueue(at_once=2), 0, 0

    async def work(name: str) -> None:
        nonlocal inside, most
        async with queue.turn_of(Actor(role="player", token_id=name)):
            inside += 1
            most = max(most, inside)
            await asyncio.sleep(0)
            inside -= 1

    async with asyncio.TaskGroup() as group:
        for number in range(9):
            group.create_task(work(f"player {number}"))
    assert (inside, most) == (0, 2)


async def test_who_leaves_while_waiting_keeps_nobody_out() -> None:
    queue = CallerQueue()
    async with queue.turn_of(OTHER):
        waiting = asyncio.create_task(queue.turn_of(MANY).__aenter__())
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.wait([waiting])
    async with asyncio.timeout(5), queue.turn_of(MANY):
        pass
