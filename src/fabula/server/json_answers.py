"""Answers in JSON, as every door writes them."""

from __future__ import annotations

from starlette.responses import Response


def json_response(body: bytes, *, status: int = 200) -> Response:
    """A body of JSON on the wire."""
    return Response(body, status_code=status, media_type="application/json")
