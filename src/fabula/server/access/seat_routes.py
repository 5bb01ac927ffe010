"""The door for browsers: `POST /enter` changes an access token for a cookie, `POST /leave` takes it back.

A page cannot send an Authorization header with pictures, downloads and links; the cookie goes with all of them. No
script can read it, no other site can have it sent, and the guard takes it only from the server's own pages.
"""

from __future__ import annotations

import orjson
from fastapi import APIRouter, Request, Response

from fabula.actions.care.tokens import find_token, token_hash
from fabula.actions.house import House
from fabula.ports.errors import FabulaError, InvalidParams
from fabula.server.access.callers import SEAT_COOKIE
from fabula.server.access.refusals import token_unknown
from fabula.server.json_answers import error_response

KEPT_S = 180 * 24 * 3600
LONGEST_TOKEN = 200


def seat_routes(house: House) -> APIRouter:
    """The two routes of the door."""
    router = APIRouter()

    @router.post("/enter")
    async def enter(request: Request) -> Response:
        try:
            token = _token_in(await request.body())
            if await find_token(house, token_hash(token)) is None:
                raise token_unknown().error
        except FabulaError as error:
            return error_response(error)
        answer = Response(status_code=204)
        secure = _comes_by_tls(house, request)
        answer.set_cookie(SEAT_COOKIE, token, max_age=KEPT_S, path="/", httponly=True, samesite="strict", secure=secure)
        return answer

    @router.post("/leave")
    async def leave(request: Request) -> Response:
        answer = Response(status_code=204)
        answer.delete_cookie(
            SEAT_COOKIE, path="/", httponly=True, samesite="strict", secure=_comes_by_tls(house, request)
        )
        return answer

    return router


def _token_in(body: bytes) -> str:
    """The token that was sent. Letters that no token has never reach a header."""
    try:
        sent = orjson.loads(body)
    except orjson.JSONDecodeError:
        sent = None
    token = sent.get("token") if isinstance(sent, dict) else None
    if not isinstance(token, str) or not token.strip():
        raise InvalidParams('Send the access token as {"token": "..."}.')
    token = token.strip()
    if len(token) > LONGEST_TOKEN or not token.replace("-", "_").replace("_", "a").isalnum() or not token.isascii():
        raise token_unknown().error
    return token


def _comes_by_tls(house: House, request: Request) -> bool:
    forwarded = house.settings.behind_proxy and request.headers.get("x-forwarded-proto", "").strip() == "https"
    return forwarded or request.url.scheme == "https"
