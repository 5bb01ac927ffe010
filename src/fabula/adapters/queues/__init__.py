"""Queues announce work that waits: `local` inside one process, `celery_queue` between processes over a broker."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.ports.errors import BackendError
from fabula.ports.queue import Queue
from fabula.settings import Settings

if TYPE_CHECKING:
    from fabula.adapters.queues.celery_queue import CeleryQueue

NO_CLIENT = "A broker needs Celery. Install it with `pip install 'fabula[scaled]'`."


def open_queue(settings: Settings) -> Queue:
    """The queue that the settings name: over a broker, or inside this process."""
    if settings.broker_url:
        return broker_queue(settings.broker_url)
    from fabula.adapters.queues.local import LocalQueue

    return LocalQueue()


def broker_queue(address: str, *, prefix: str = "fabula.") -> CeleryQueue:
    """The queue over a broker, whose own queues are named with a prefix.

    Celery is imported here, because a server of one process never needs it.
    """
    try:
        from fabula.adapters.queues.celery_queue import CeleryQueue
    except ModuleNotFoundError as error:
        raise BackendError(NO_CLIENT) from error
    return CeleryQueue(address, prefix=prefix)
