"""The bus: frames of running turns, numbered, to everyone who listens."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, kw_only=True)
class Frame:
    """One frame of a stream. `last` is the frame after which nothing follows."""

    sequence: int
    data: bytes
    last: bool


class Sender(Protocol):
    """The writing end of a stream. Frames are numbered from 0 in the order in which they are sent."""

    @property
    def next_sequence(self) -> int: ...

    def send(self, data: bytes, *, last: bool = False) -> None: ...


class Bus(Protocol):
    """Law:

    - Every listener of a stream sees all frames after the one it names, in one order, without gaps; one that comes
      late sees the earlier frames first.
    - A stream ends for its listeners after its last frame.
    - `open` of a stream that exists starts it anew; listeners of the old one are ended.
    - A finished stream can be listened to for a while; then, and for unknown streams, `listen` is None.
    - A listener that does not read harms nobody else.
    """

    def open(self, stream: str) -> Sender: ...

    def listen(self, stream: str, *, after: int = -1) -> AsyncGenerator[Frame, None] | None: ...
