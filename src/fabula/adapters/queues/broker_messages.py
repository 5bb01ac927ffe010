"""What comes over the broker, as far as it is ours: anybody who can write to it can forge a message.

1. A message is the id of a piece of work and its queue. It is read here and written anew, so that nothing else that
   Celery would do for a message is done: no other task, nothing after it, no time to wait for, no packed body.
2. Of the commands that Celery's workers take from everybody only the question for their queues is answered.
3. What is said about all this is a line now and then, without the message and without a trace: who can write to the
   broker could fill the log with them.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any, Final

import orjson
from celery.worker.consumer import Consumer  # type: ignore[import-untyped]
from kombu import compression
from kombu.pidbox import Node

from fabula.adapters.queues.celery_app import TASK, TRACE_HEADER
from fabula.ports.work import QUEUES

log = logging.getLogger("fabula.queue.messages")

LONGEST_NAME: Final = 256
LARGEST_BODY: Final = 4096
LONGEST_LINE: Final = 200
LINES_A_MINUTE: Final = 10
ASK_FOR_QUEUES: Final = "active_queues"
_ALONE: Final = {"callbacks": None, "errbacks": None, "chain": None, "chord": None}
_TALKATIVE: Final = (
    "celery.app.trace",
    "celery.worker",
    "celery.worker.consumer.consumer",
    "celery.worker.control",
    "celery.worker.pidbox",
    "celery.worker.request",
    "celery.worker.strategy",
    "fabula.queue.messages",
    "kombu.pidbox",
    "kombu.transport.redis",
    "kombu.transport.virtual.base",
)


def shut_doors(app: Any) -> None:
    """Has Celery unpack nothing, obey nobody and say little, in this process; `OwnMessages` does the rest."""
    for kind in compression.encoders():  # type: ignore[no-untyped-call]
        compression.register(None, _not_unpacked, kind)  # type: ignore[no-untyped-call]
    app.control.mailbox.node_cls = AskedForQueues
    for name in _TALKATIVE:
        logger = logging.getLogger(name)
        if not any(isinstance(one, _ShortLines) for one in logger.filters):
            logger.addFilter(_ShortLines())


class OwnMessages(Consumer):  # type: ignore[misc]
    """Listens, and passes on what is ours."""

    def create_task_handler(self, *args: Any, **kwargs: Any) -> Callable[[Any], Any]:
        take = super().create_task_handler(*args, **kwargs)

        def take_ours(message: Any) -> Any:
            if not _rewritten(message):
                log.warning("A message on the broker was not ours, and is dropped.")
                return message.reject_log_error(log, self.connection_errors)
            return take(message)

        return take_ours


class AskedForQueues(Node):
    """Answers which queues a worker listens to. Whoever asks for more, or by a pattern, is not heard."""

    def handle_message(self, body: Any, message: Any = None) -> Any:
        asker = body.get("reply_to") if isinstance(body, dict) else None
        if not isinstance(asker, dict) or body.get("method") != ASK_FOR_QUEUES:
            return None
        where, ticket = (asker.get("exchange"), asker.get("routing_key")), body.get("ticket")
        if not all(isinstance(name, str) and len(name) <= LONGEST_NAME for name in (*where, ticket)):
            return None
        to = {"exchange": where[0], "routing_key": where[1]}
        return self.dispatch(ASK_FOR_QUEUES, reply_to=to, ticket=ticket)  # type: ignore[no-untyped-call]


def _rewritten(message: Any) -> bool:
    """Makes a message one that says what ours say and nothing else; whether it is one of ours at all."""
    headers, body = message.headers, message.body
    if message.errors or not isinstance(headers, dict) or headers.get("task") != TASK:
        return False
    if message.content_type != "application/json" or not isinstance(body, (str, bytes)) or len(body) > LARGEST_BODY:
        return False
    try:
        [[work_id, queue], _, _] = orjson.loads(body)
    except (ValueError, TypeError):
        return False
    if not _is_name(work_id) or queue not in QUEUES:
        return False
    id, trace_id = (str(headers.get(name) or "")[:LONGEST_NAME] for name in ("id", TRACE_HEADER))
    message.headers = {"lang": "py", "task": TASK, "id": id, "root_id": id, TRACE_HEADER: trace_id}
    message.content_encoding = "utf-8"
    message.body = orjson.dumps([[work_id, queue], {}, _ALONE])
    return True


def _is_name(name: object) -> bool:
    return isinstance(name, str) and 0 < len(name) <= LONGEST_NAME and name.isascii() and name.isprintable()


def _not_unpacked(body: object) -> bytes:
    raise ValueError("Messages are not packed.")


class _ShortLines(logging.Filter):
    """A few lines a minute, each cut to its beginning."""

    def __init__(self) -> None:
        super().__init__()
        self._began, self._lines = 0.0, 0

    def filter(self, record: logging.LogRecord) -> bool:
        now = time.monotonic()
        if now - self._began > 60:
            self._began, self._lines = now, 0
        self._lines += 1
        first = record.getMessage().strip().partition("\n")[0][:LONGEST_LINE]
        record.msg, record.args = "".join(char if char.isprintable() else "?" for char in first), None
        record.exc_info = record.exc_text = None
        return self._lines <= LINES_A_MINUTE
