"""A loop goes on from a checkpoint of its own version, and starts anew where another version left one."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.checkpoint.memory import InMemorySaver

from fabula.loops.checkpoint_version import can_go_on, loop_version

HERE: RunnableConfig = {"configurable": {"thread_id": "t", "checkpoint_ns": ""}}


async def saver_with(values: dict[str, Any]) -> InMemorySaver:
    """A saver that holds one checkpoint with these values."""
    saver = InMemorySaver()
    versions: dict[str, str | int | float] = dict.fromkeys(values, 1)
    checkpoint = {**empty_checkpoint(), "channel_values": values, "channel_versions": versions}
    await saver.aput(HERE, checkpoint, {}, versions)  # type: ignore[arg-type]
    return saver


def test_the_version_of_a_loop_names_the_shapes_that_its_state_holds() -> None:
    assert loop_version(3, "play_state", "error") == "3.1.2"


async def test_a_loop_without_a_checkpoint_starts_at_its_beginning() -> None:
    assert not await can_go_on(InMemorySaver(), HERE, "1.1")


@pytest.mark.parametrize("values", [{"v": "1.1", "turn_id": "t"}, {"turn_id": "t"}])
async def test_a_loop_goes_on_from_its_own_version_and_from_one_that_named_none(values: dict[str, Any]) -> None:
    saver = await saver_with(values)
    assert await can_go_on(saver, HERE, "1.1")
    assert await saver.aget_tuple(HERE) is not None


@pytest.mark.parametrize("values", [{"v": "1.1", "turn_id": "t"}, {"turn_id": "t"}, {"v": "2.2", "turn_id": "t"}])
async def test_what_another_version_left_is_dropped(values: dict[str, Any]) -> None:
    saver = await saver_with(values)
    assert not await can_go_on(saver, HERE, "1.2")
    assert await saver.aget_tuple(HERE) is None
