"""Progress: how far a long piece of work has come, told to whoever watches."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Called with `done, total, label`; the total is 0 while nobody knows it. It returns at once and never fails."""

    def __call__(self, done: int, total: int, label: str, /) -> None: ...


def quiet(done: int, total: int, label: str) -> None:
    """For work that nobody watches."""
