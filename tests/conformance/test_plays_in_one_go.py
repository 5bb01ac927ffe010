"""Plays keep their law inside one go, too, where the statements of every turn take a short cut on SQLite."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from fabula.ports.errors import StoreError
from fabula.ports.store import Store
from fabula.testing.plays_kit import PlaysKit, finished, new_turn
from fabula.testing.world import FixedClock


class EachInOneGo:
    """A store whose every question is a unit of work of its own, done in one go."""

    def __init__(self, store: Store) -> None:
        self._store = store

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[Any]:
        yield _Unit(self._store.write)

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[Any]:
        yield _Unit(self._store.read)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


class _Unit:
    def __init__(self, go: Any) -> None:
        self._go = go

    def __getattr__(self, subject: str) -> Any:
        return _Subject(self._go, subject)


class _Subject:
    def __init__(self, go: Any, subject: str) -> None:
        self._go, self._subject = go, subject

    def __getattr__(self, name: str) -> Any:
        async def ask(*args: Any, **kwargs: Any) -> Any:
            return await self._go(lambda unit: getattr(getattr(unit, self._subject), name)(*args, **kwargs))

        return ask


class TestPlaysInOneGo(PlaysKit):
    # It looks from outside into a unit that is still open; one go is never seen open.
    test_commit_makes_turn_state_messages_and_head_true_together = None  # type: ignore[assignment]

    @pytest.fixture
    async def store(self, store: Store) -> Any:
        return EachInOneGo(store)


async def test_a_statement_that_fails_inside_one_go_is_told_in_plain_words(store: Store, clock: FixedClock) -> None:
    start = new_turn("t0", None, turn_index=0)
    await store.write(lambda unit: unit.plays.add("s", start, finished("t0")))
    again = new_turn("t0", None, session_id="other", turn_index=0)
    with pytest.raises(StoreError):
        await store.write(lambda unit: unit.plays.add("other", again, finished("t0")))
    assert await store.read(lambda unit: unit.plays.get("other")) is None
    assert (await store.read(lambda unit: unit.plays.turn("t0"))) is not None


async def test_awaiting_something_else_inside_one_go_is_refused_or_done(store: Store) -> None:
    """On SQLite there is nobody in the thread who could wait; the store stays usable."""

    async def waits(unit: Any) -> str:
        await asyncio.sleep(0)
        return "done"

    if (await store.status()).engine == "sqlite":
        with pytest.raises(RuntimeError, match="nothing but its unit"):
            await store.write(waits)
    else:
        assert await store.write(waits) == "done"
    await store.write(lambda unit: unit.memo.put("k", {"after": True}))
    assert await store.read(lambda unit: unit.memo.get("k")) == {"after": True}
