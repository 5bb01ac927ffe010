"""Which version of a loop wrote a checkpoint.

A checkpoint is no truth, so there are no steps from one version to the next: what another version left behind is
dropped and the loop starts anew; finished model calls are answered from the memo.
"""

from __future__ import annotations

from typing import Any

from langchain_core.runnables import RunnableConfig

from fabula.story.stored import CURRENT, Shape


def loop_version(own: int, *shapes: Shape) -> str:
    """The version of a loop's state: its own number, then those of the stored shapes that it holds."""
    return ".".join(str(number) for number in (own, *(CURRENT[shape] for shape in shapes)))


def is_of_version(values: dict[str, Any], version: str) -> bool:
    """Whether a state was written by this version of its loop; one that does not say has the first of everything."""
    first = ".".join("1" for _ in version.split("."))
    return bool(values.get("v", first) == version)


async def can_go_on(saver: Any, config: RunnableConfig, version: str) -> bool:
    """Whether a thread has a checkpoint of this version; one of another version is dropped."""
    found = await saver.aget_tuple(config)
    if found is None:
        return False
    if is_of_version(found.checkpoint["channel_values"], version):
        return True
    await saver.adelete_thread(config["configurable"]["thread_id"])
    return False
