"""A database that somebody else wrote, or that was restored from elsewhere: it runs nothing and ends in no accident."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import ormsgpack
import pytest
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from tests.conftest import Place

from fabula.adapters.stores import sql_store
from fabula.adapters.stores.checkpoints import StoreCheckpoints
from fabula.adapters.stores.loop_checkpoints import LoopCheckpoint
from fabula.testing.world import FixedClock

METADATA = json.dumps({"source": "loop", "step": 1, "parents": {}})


def calling(code: int) -> Callable[[Path], tuple[str, bytes]]:
    """A checkpoint that asks LangGraph to make a folder, in one of its ways to name what is to be called."""

    def packed(folder: Path) -> tuple[str, bytes]:
        argument = {0: str(folder), 1: (str(folder),), 2: {"path": str(folder)}, 3: str(folder)}.get(code, {})
        named = ormsgpack.packb(("os", "mkdir", argument, "__call__"))
        checkpoint = {**empty_checkpoint(), "channel_values": {"where": ormsgpack.Ext(code, named)}}
        return "msgpack", ormsgpack.packb(checkpoint)

    return packed


UNREADABLE: dict[str, Callable[[Path], tuple[str, bytes]]] = {
    **{f"that calls ({code})": calling(code) for code in range(8)},
    "of json that names a type": lambda _: ("json", b'{"lc": 2, "type": "constructor", "id": ["uuid", "UUID"]}'),
    "of pickle": lambda _: ("pickle", b"cos\nmkdir\n(V/tmp/x\ntR."),
    "that is cut": lambda _: ("msgpack", JsonPlusSerializer().dumps_typed(empty_checkpoint())[1][:-3]),
    "that is a list": lambda _: ("msgpack", ormsgpack.packb([1])),
    "without versions": lambda _: ("msgpack", ormsgpack.packb({**empty_checkpoint(), "channel_versions": {"a": "b"}})),
    "that is nothing": lambda _: ("null", b""),
}


@pytest.mark.parametrize("kind", UNREADABLE)
async def test_a_checkpoint_names_nothing_that_is_called_and_what_cannot_be_read_is_none(
    kind: str, place: Place, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "made by a checkpoint"
    encoding, packed = UNREADABLE[kind](folder)
    store = sql_store(place.settings, FixedClock())
    await store.open()
    row = LoopCheckpoint(
        thread_id="s", namespace="", checkpoint_id="c", encoding=encoding, checkpoint=packed, metadata=METADATA
    )
    await store.write(lambda unit: unit.loop_checkpoints.change(removed=[], put=[row]))
    saver = await StoreCheckpoints(store).saver()
    assert await saver.aget_tuple({"configurable": {"thread_id": "s", "checkpoint_ns": ""}}) is None
    assert [found async for found in saver.alist(None)] == []
    assert not folder.exists()
    assert "Where the loop 's' stands cannot be read" in caplog.text
    await store.close()


async def test_a_checkpoint_that_langgraph_packed_itself_is_read(place: Place) -> None:
    checkpoint = {**empty_checkpoint(), "channel_values": {"where": "open", "kept": {"n": [1, 2.5, None, "\u00e9"]}}}
    encoding, packed = JsonPlusSerializer().dumps_typed(checkpoint)
    store = sql_store(place.settings, FixedClock())
    await store.open()
    row = LoopCheckpoint(
        thread_id="s", namespace="", checkpoint_id="c", encoding=encoding, checkpoint=packed, metadata=METADATA
    )
    await store.write(lambda unit: unit.loop_checkpoints.change(removed=[], put=[row]))
    saver = await StoreCheckpoints(store).saver()
    found = await saver.aget_tuple({"configurable": {"thread_id": "s", "checkpoint_ns": ""}})
    assert found is not None and found.checkpoint == checkpoint
    await store.close()
