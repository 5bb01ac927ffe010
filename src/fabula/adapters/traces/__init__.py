"""Traces of turns: written to the store aside, and sent on where that is asked for."""

from __future__ import annotations

import logging
from importlib.util import find_spec

from fabula.adapters.traces.writer import Export
from fabula.settings import Settings

log = logging.getLogger("fabula.traces")

NOT_INSTALLED = (
    "otlp_endpoint is set, but what sends traces there is not installed: pip install 'fabula[opentelemetry]'. "
    "They are kept here all the same."
)


def open_export(settings: Settings) -> Export | None:
    """Where traces are sent on to, if that is asked for and can be done. Without a word nothing is imported for it."""
    if not settings.otlp_endpoint:
        return None
    if find_spec("opentelemetry.sdk") is None or find_spec("opentelemetry.exporter") is None:
        log.warning(NOT_INSTALLED)
        return None
    from fabula.adapters.traces.open_telemetry import SpanExport

    return SpanExport(settings.otlp_endpoint)
