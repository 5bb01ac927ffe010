"""Checkpoints of loops: where a loop stands, so that it can go on after a crash."""

from __future__ import annotations

from typing import Any, Protocol


class Checkpoints(Protocol):
    """Law: `saver` answers a LangGraph checkpointer, opened at the first question, the same one ever after;
    `expect_new` is a hint that a thread starts now and has no checkpoints;
    `forget` removes all checkpoints of a thread that has finished, and does nothing for an unknown one; a process that
    is killed right afterwards may leave them;
    `threads` names every thread of which there are checkpoints.
    """

    async def saver(self) -> Any: ...

    def expect_new(self, thread_id: str) -> None: ...

    async def forget(self, thread_id: str) -> None: ...

    async def threads(self) -> set[str]: ...

    async def close(self) -> None: ...
