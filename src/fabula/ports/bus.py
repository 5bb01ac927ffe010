"""The bus: events of running turns, numbered, to everyone who listens, in this process or another."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

E = TypeVar("E")
E_contra = TypeVar("E_contra", contravariant=True)


@dataclass(frozen=True, kw_only=True, slots=True)
class Frame(Generic[E]):
    """One event of a stream with its number. `last` is the event after which nothing follows."""

    sequence: int
    event: E
    last: bool


class Sender(Protocol[E_contra]):
    """The writing end of a stream. Events are numbered from 0 in the order in which they are sent."""

    @property
    def next_sequence(self) -> int: ...

    def send(self, event: E_contra, *, last: bool = False) -> None:
        """Never waits: adapters that cross processes deliver a few milliseconds later, many events at once."""
        ...

    async def flush(self) -> None:
        """Returns when everything that was sent can be read by others, or when the transport is away."""
        ...

    async def close(self) -> None:
        """Ends the stream without a last event. After the last event it does nothing."""
        ...


class Bus(Protocol[E]):
    """Law:

    - Every listener of a stream sees all events after the one it names, in one order, without gaps; one that comes
      late sees the earlier events first.
    - Listeners in the sender's process hear an event at once; others when `flush` returns, and soon without it.
    - A stream ends for its listeners after its last event, or when its sender is closed.
    - `open` of a stream that exists starts it anew: listeners of the old one are ended, and what its sender still sends
      is heard by nobody. A process whose stream was opened anew in another one learns of it when it next sends.
    - A finished stream can be listened to for a while; then, and for unknown streams, `subscribe` is None.
    - A stream that runs is never forgotten. One whose process died is forgotten after a while.
    - Who listens to a stream while it is forgotten hears it to its end.
    - A listener that does not read harms nobody else.
    - Of a very long stream only the newest events are kept: who names an older one gets None, and a listener that falls
      further behind is ended. Nobody ever sees a gap.
    - While the transport is away, sending and listening inside one process go on, nothing waits for it, and
      `subscribe` to a stream of another process is None. Listeners of such a stream wait.
    - When the transport is back, streams that run, or that ended meanwhile, are whole again, and listeners go on
      without a gap or a repeat, even if the transport lost what it had.
    - `close` ends the streams that are open in this process.
    """

    async def open(self, stream: str) -> Sender[E]: ...

    async def subscribe(self, stream: str, *, after: int = -1) -> AsyncGenerator[Frame[E], None] | None: ...

    async def close(self) -> None: ...
