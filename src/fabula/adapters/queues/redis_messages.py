"""Celery's way to Redis, on which nothing is decoded that is far larger than a message of ours.

A message is decoded whole before `broker_messages` sees it, and one of megabytes that somebody forged takes ten times
its size in memory. So what is too large is dropped where Redis answers: no queue, command or list of messages that
were not acknowledged brings it.
"""

from __future__ import annotations

import logging
from typing import Any, Final

from kombu.transport.redis import Channel, Transport
from redis import Connection, SSLConnection

log = logging.getLogger("fabula.queue.messages")

LARGEST_MESSAGE: Final = 64 * 1024
"""In bytes; ours have about one thousand."""


class _Bounded:
    def read_response(self, *args: Any, **kwargs: Any) -> Any:
        return without_large(super().read_response(*args, **kwargs))  # type: ignore[misc]


class BoundedConnection(_Bounded, Connection):
    """A connection to Redis that brings nothing too large."""


class BoundedSSLConnection(_Bounded, SSLConnection):
    """The same, encrypted."""


class BoundedChannel(Channel):
    connection_class = BoundedConnection
    connection_class_ssl = BoundedSSLConnection


class BoundedTransport(Transport):
    Channel = BoundedChannel


def without_large(answer: Any) -> Any:
    """What Redis answered; None, as if nothing had come, in place of a message that is too large."""
    if not any(_is_large(part) for part in (answer if isinstance(answer, list) else (answer,))):
        return answer
    log.warning("Something on the broker was far larger than a message of ours, and is dropped.")
    return None


def _is_large(part: Any) -> bool:
    return isinstance(part, (bytes, str)) and len(part) > LARGEST_MESSAGE
