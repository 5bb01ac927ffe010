"""The ledger writes in order and together, and one entry that cannot be kept does not take the others with it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from fabula.loops.npc.ledger import Ledger, LedgerQueues
from fabula.ports.errors import InvalidParams
from fabula.ports.npcs import NpcKey
from fabula.ports.store import Store, Unit
from fabula.story.npc import GameEvent

MARA = NpcKey(game_id="g", agent_id="mara")


async def _notice(unit: Unit, text: str) -> None:
    await unit.npcs.notice(MARA, connection_id="c", event=GameEvent(text=text))


async def _refuse(unit: Unit) -> None:
    await _notice(unit, "half")
    raise InvalidParams("This cannot be kept.")


async def test_entries_are_kept_in_order_without_anybody_waiting(sqlite_store: Store) -> None:
    ledger = Ledger(sqlite_store)
    for number in range(50):
        ledger.write(lambda unit, text=str(number): _notice(unit, text))  # type: ignore[misc]
    await ledger.close()
    async with sqlite_store.reading() as unit:
        kept = await unit.npcs.recent(MARA, limit=100)
    assert [one.lived.event.text for one in kept] == [str(number) for number in range(50)]


async def test_an_entry_that_cannot_be_kept_fails_alone_and_leaves_nothing(sqlite_store: Store) -> None:
    ledger = Ledger(sqlite_store)
    first, bad, last = (
        ledger.write(lambda unit: _notice(unit, "first")),
        ledger.write(_refuse),
        ledger.write(lambda unit: _notice(unit, "last")),
    )
    await asyncio.gather(first, last)
    with pytest.raises(InvalidParams):
        await bad
    async with sqlite_store.reading() as unit:
        kept = await unit.npcs.recent(MARA, limit=10)
    assert [one.lived.event.text for one in kept] == ["first", "last"]


async def test_others_write_while_very_much_is_kept(sqlite_store: Store) -> None:
    ledger = Ledger(sqlite_store)
    kept = [ledger.write(lambda unit: _notice(unit, "The bell rings.")) for _ in range(1_000)]
    await asyncio.sleep(0)
    await sqlite_store.write(lambda unit: _notice(unit, "Somebody else writes."))
    assert not kept[-1].done()
    await ledger.close()
    assert all(one.done() for one in kept)


async def test_of_the_ledgers_of_a_token_one_writes_and_the_others_keep_no_connection(sqlite_store: Store) -> None:
    queues, inside, most = LedgerQueues(), 0, 0
    ledgers = [Ledger(sqlite_store, queues.of("token")) for _ in range(5)]
    another = Ledger(sqlite_store, queues.of("another"))
    may_end = asyncio.Event()

    async def slow(unit: Unit) -> None:
        nonlocal inside, most
        inside, most = inside + 1, max(most, inside + 1)
        await may_end.wait()
        inside -= 1

    opened = 0
    write = sqlite_store.write

    async def counted(*args: Any, **options: Any) -> Any:
        nonlocal opened
        opened += 1
        return await write(*args, **options)

    sqlite_store.write = counted  # type: ignore[method-assign]
    kept = [ledger.write(slow) for ledger in ledgers]
    kept.append(another.write(slow))
    while not inside:
        await asyncio.sleep(0)
    assert opened == 2 and queues.of("token").waiting == 5 and queues.of("another").waiting == 1
    may_end.set()
    await asyncio.gather(*kept)
    assert most == 1 and opened == 6 and queues.of("token").waiting == 0
