"""Processes that are frozen within a transaction, and those who wait for what such a process has locked."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from sqlalchemy import text
from tests.conftest import Place
from tests.live import live_server

from fabula.adapters.stores import open_store
from fabula.adapters.stores.postgres import PostgresDatabase
from fabula.ports.errors import StoreAway
from fabula.ports.plays import Finished, NewTurn
from fabula.ports.store import Store, Unit
from fabula.testing.world import FixedClock

GET_LOCKED = text("SELECT session_id FROM plays WHERE session_id = :session FOR UPDATE")
MANY = 12


async def add_plays(store: Store, *names: str) -> None:
    for name in names:
        start = NewTurn(turn_id=f"{name}-t", session_id=name, parent_id=None, turn_index=0, kind="start")
        async with store.writing() as unit:
            await unit.plays.add(name, start, Finished(turn_id=start.turn_id, state={}, state_hash="h"))


async def test_a_writer_that_does_nothing_is_ended_and_whoever_waits_for_its_play_goes_on(
    postgres_place: Place, postgres_store: Store
) -> None:
    await add_plays(postgres_store, "mine")
    frozen = PostgresDatabase(postgres_place.settings.database_url, pool_size=1, frozen_writer_s=0.2)
    with pytest.raises(StoreAway, match="Try again"):
        async with frozen.transaction("write") as connection:
            assert (await connection.execute(GET_LOCKED, {"session": "mine"})).scalar() == "mine"
            await postgres_store.write(lambda unit: unit.plays.set_budget("mine", 7))
    assert (await frozen.ask("read", text("SELECT token_budget FROM plays"), {})).scalar() == 7
    await frozen.close()


async def test_those_who_wait_for_one_play_keep_nobody_else_from_the_store(
    postgres_place: Place, postgres_store: Store, clock: FixedClock
) -> None:
    await add_plays(postgres_store, "mine", "yours")
    small = open_store(postgres_place.settings.model_copy(update={"database_pool_size": 2}), clock)

    async def change(unit: Unit) -> None:
        if await unit.plays.get("mine") is not None:
            await unit.plays.set_budget("mine", 1)

    async with postgres_store.writing() as frozen:
        assert await frozen.plays.get("mine") is not None
        waiting = [asyncio.create_task(small.write(change)) for _ in range(MANY)]
        for _ in range(MANY):
            assert await small.read(lambda unit: unit.plays.get("yours")) is not None
            await small.write(lambda unit: unit.plays.set_budget("yours", 2))
        assert not any(one.done() for one in waiting)
    await asyncio.gather(*waiting)
    await small.close()


async def test_a_server_whose_connections_are_all_in_use_is_not_ready(postgres_place: Place, tmp_path: Path) -> None:
    address = postgres_place.settings.database_url
    async with live_server(tmp_path, database_url=address, secret_key="a key", database_pool_size=2) as client:
        async with client.house.store.reading(), client.house.store.reading():
            answer = await client.http.get("/readyz")
        assert answer.status_code == 503 and "did not answer" in answer.json()["reason"]
        assert (await client.http.get("/readyz")).status_code == 200
