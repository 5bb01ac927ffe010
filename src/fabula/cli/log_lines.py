"""How the server's log reads: a sentence for people, or a JSON object for machines; both name the facts behind it.

Whoever logs gives the facts as `extra={"facts": {...}}`. Nothing that a client sent is among them but ids,
and of those whom the door refused the host, origin and path that they asked for.
"""

from __future__ import annotations

import asyncio
import logging
import time
from typing import Any

import orjson

from fabula.ports.traces import TRACE_TASK
from fabula.settings import Settings

# These tell whole frames, headers and rows when they are asked for details, and so tokens and what players said.
TALKATIVE = {"uvicorn.error": logging.INFO}
QUIET = ("httpx", "alembic", "celery", "kombu", "amqp")


def start_log(settings: Settings) -> None:
    """Sets the log up for this process."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonLines() if settings.log_format == "json" else TextLines())
    logging.basicConfig(level=settings.log_level.upper(), handlers=[handler])
    debug = settings.log_level == "debug"
    for name, level in TALKATIVE.items():
        logging.getLogger(name).setLevel(level if debug else logging.WARNING)
    for name in QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)


class TextLines(logging.Formatter):
    """`time LEVEL name: sentence fact=value ...`"""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")

    def formatMessage(self, record: logging.LogRecord) -> str:
        facts = [f"{name}={_plain(value)}" for name, value in facts_of(record).items()]
        return " ".join([super().formatMessage(record), *facts])


class JsonLines(logging.Formatter):
    """One JSON object a line: `ts`, `level`, `logger`, `message`, the facts by their names, and `error`."""

    def format(self, record: logging.LogRecord) -> str:
        moment = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        line: dict[str, Any] = {
            **facts_of(record),
            "ts": f"{moment}.{int(record.msecs):03d}Z",
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info:
            line["error"] = self.formatException(record.exc_info)
        return orjson.dumps(line, default=str).decode()


def facts_of(record: logging.LogRecord) -> dict[str, Any]:
    """The facts that a line was given; those that are not known are left out."""
    facts = getattr(record, "facts", None)
    known = {str(name): value for name, value in facts.items() if value is not None} if isinstance(facts, dict) else {}
    trace_id = None if "trace_id" in known else _trace_at_work()
    return known if trace_id is None else {**known, "trace_id": trace_id}


def _trace_at_work() -> str | None:
    """The trace for which the task works that logs; whoever logs elsewhere has none."""
    try:
        task = asyncio.current_task()
    except RuntimeError:
        return None
    name = "" if task is None else task.get_name()
    return name.removeprefix(TRACE_TASK) if name.startswith(TRACE_TASK) else None


def _plain(value: object) -> str:
    text = str(value)
    return text if text.isprintable() and " " not in text else orjson.dumps(text).decode()
