"""Progress: how far a long piece of work has come, told to whoever watches."""

from __future__ import annotations

from typing import Protocol

from fabula.story.events import Progress


class TellProgress(Protocol):
    """Returns at once and never fails."""

    def __call__(self, event: Progress, /) -> None: ...


def quiet(event: Progress) -> None:
    """For work that nobody watches."""
