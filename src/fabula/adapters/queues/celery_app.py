"""How Celery is set up: three queues, late acknowledgement, one message at a time for each thread, no results kept.

Nothing here is truth. The work table says what there is to do and who does it; so messages need not survive the
broker, results are not kept, and a message may be given out twice.
"""

from __future__ import annotations

import ssl
from typing import Any, Final
from urllib.parse import urlsplit

from celery import Celery  # type: ignore[import-untyped]
from kombu.entity import Queue as BrokerQueue

from fabula.ports.errors import BackendError
from fabula.ports.queue import MOST_URGENT
from fabula.ports.work import QUEUES

PREFIX: Final = "fabula."
TASK: Final = "fabula.work"
TRACE_HEADER: Final = "fabula_trace_id"
PATIENCE_S: Final = 5.0
VISIBLE_AGAIN_S: Final = 1800
"""Redis gives a message again that was not acknowledged for so long: longer than any lease, and than most work."""

REDIS_TRANSPORT: Final = "fabula.adapters.queues.redis_messages:BoundedTransport"
SCHEMES: Final = ("redis", "rediss", "amqp", "amqps", "pyamqp")


def celery_app(address: str, prefix: str) -> Any:
    """Celery for one broker; it connects when it is first used. The names of queues begin with the prefix."""
    if urlsplit(address).scheme not in SCHEMES:
        raise BackendError(
            "The setting broker_url must look like redis://:password@host:6379/1 or amqp://user:password@host:5672//."
        )
    app = Celery("fabula", broker=address, set_as_current=False, fixups=())
    app.conf.update(
        task_queues=[_broker_queue(address, prefix + name) for name in QUEUES],
        task_default_queue=prefix + "background",
        task_create_missing_queues=False,
        task_acks_late=True,
        task_reject_on_worker_lost=True,
        # The table knows that an attempt failed, and when the next one is due.
        task_acks_on_failure_or_timeout=True,
        task_ignore_result=True,
        task_serializer="json",
        accept_content=["json"],
        task_default_delivery_mode="transient",
        worker_prefetch_multiplier=1,
        worker_consumer="fabula.adapters.queues.broker_messages:OwnMessages",
        worker_hijack_root_logger=False,
        worker_redirect_stdouts=False,
        worker_cancel_long_running_tasks_on_connection_loss=False,
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,
        broker_connection_timeout=PATIENCE_S,
        broker_transport_options=_transport_options(address),
        broker_transport=REDIS_TRANSPORT if is_redis(address) else None,
        broker_use_ssl=_encryption(address),
        # What a worker still runs when the broker is lost is not given to others by us, but by its lease.
        worker_enable_prefetch_count_reduction=False,
    )
    return app


def is_redis(address: str) -> bool:
    return urlsplit(address).scheme.startswith("redis")


def broker_priority(address: str, priority: int) -> int:
    """Redis counts the other way round: its 0 is the most urgent."""
    bounded = max(0, min(MOST_URGENT, priority))
    return MOST_URGENT - bounded if is_redis(address) else bounded


def broker_place(address: str) -> str:
    """Where the address of a broker leads, without its password."""
    parts = urlsplit(address)
    return f"{parts.hostname or 'localhost'}:{parts.port or (6379 if is_redis(address) else 5672)}"


def broker_name(address: str) -> str:
    return "Redis" if is_redis(address) else "RabbitMQ"


def _broker_queue(address: str, name: str) -> Any:
    arguments = None if is_redis(address) else {"x-max-priority": MOST_URGENT}
    return BrokerQueue(name, queue_arguments=arguments)  # type: ignore[no-untyped-call]


def _encryption(address: str) -> dict[str, Any] | None:
    """Celery's client encrypts where its own transport is named `rediss`, and ours has another name.

    Which certificates count is said in the address (`?ssl_cert_reqs=required`); as before, none is asked for otherwise.
    """
    parts = urlsplit(address)
    return {"ssl_cert_reqs": ssl.CERT_NONE} if parts.scheme == "rediss" and "ssl_" not in parts.query else None


def _transport_options(address: str) -> dict[str, Any]:
    if not is_redis(address):
        return {"max_retries": 0, "connect_timeout": PATIENCE_S}
    return {
        "visibility_timeout": VISIBLE_AGAIN_S,
        "priority_steps": [0, 3, 6, 9],
        "socket_connect_timeout": PATIENCE_S,
        "socket_keepalive": True,
        "max_retries": 0,
    }
