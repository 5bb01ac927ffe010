"""Answers in JSON, as every door writes them."""

from __future__ import annotations

from collections.abc import Mapping

import orjson
from starlette.responses import Response

from fabula.ports.errors import FabulaError
from fabula.server.error_codes import error_payload, http_status, retry_headers


def json_response(body: bytes, *, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """A body of JSON on the wire."""
    return Response(body, status_code=status, media_type="application/json", headers=headers)


def error_response(error: FabulaError) -> Response:
    """A refusal: the error is the whole body."""
    return json_response(orjson.dumps(error_payload(error)), status=http_status(error), headers=retry_headers(error))
