"""Where loops stand is written for many at once: what cannot be packed of one keeps nothing from the others."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import CheckpointMetadata, empty_checkpoint
from tests.conftest import Place

from fabula.adapters.stores import sql_store
from fabula.adapters.stores.loop_saver import LoopSaver
from fabula.testing.world import FixedClock

STEP: CheckpointMetadata = {"source": "loop", "step": 1}


@pytest.fixture
async def saver(place: Place) -> AsyncIterator[LoopSaver]:
    store = sql_store(place.settings, FixedClock())
    await store.open()
    yield LoopSaver(store)
    await store.close()


async def put(saver: LoopSaver, thread: str, value: Any, metadata: CheckpointMetadata = STEP) -> None:
    config: RunnableConfig = {"configurable": {"thread_id": thread, "checkpoint_ns": ""}}
    await saver.aput(config, {**empty_checkpoint(), "channel_values": {"where": value}}, metadata, {})


@pytest.mark.parametrize(
    ("value", "metadata"),
    [(2**70, STEP), (object(), STEP), ("open", {**STEP, "parents": object()})],
)
async def test_a_state_that_cannot_be_packed_keeps_no_other_loop_from_being_written(
    saver: LoopSaver, value: Any, metadata: Any, caplog: pytest.LogCaptureFixture
) -> None:
    await put(saver, "over", "open")
    await saver.settle()
    await put(saver, "good", "open")
    await put(saver, "bad", value, metadata)
    await saver.adelete_thread("over")
    assert await saver.threads() == {"good"}
    (told,) = [line for line in caplog.messages if "'bad'" in line]
    assert "could not be written down" in told
