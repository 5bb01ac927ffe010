"""Checkpoints of loops: where a loop stands, so that it can go on after a crash."""

from __future__ import annotations

from typing import Any, Protocol


class Checkpoints(Protocol):
    """Law: `saver` is a LangGraph checkpointer; `forget` removes all checkpoints of a thread that has finished."""

    async def open(self) -> None: ...

    @property
    def saver(self) -> Any: ...

    async def forget(self, thread_id: str) -> None: ...

    async def close(self) -> None: ...
