"""Checkpoints of loops: where a loop stands, so that it can go on after a crash."""

from __future__ import annotations

from typing import Any, Protocol


class Checkpoints(Protocol):
    """Law: `expect_new` is a hint that a thread starts now and has no checkpoints; `saver` answers a LangGraph checkpointer, opened at the first question, the same one ever after;
    `forget` removes all checkpoints of a thread that has finished, and does nothing for an unknown one.
    """

    async def saver(self) -> Any: ...

    def expect_new(self, thread_id: str) -> None: ...

    async def forget(self, thread_id: str) -> None: ...

    async def close(self) -> None: ...
