"""The file routes: `POST /upload/...` takes bytes in, `GET /download/...` gives bytes out."""

from __future__ import annotations

import logging
import re
from collections.abc import Awaitable, Callable
from urllib.parse import quote

import orjson
from fastapi import APIRouter, Request, Response

from fabula.actions.house import House
from fabula.actions.library.files import give_file, give_sized_cover, take_file
from fabula.actions.plays.export_session import give_session_export
from fabula.ports.errors import FabulaError, InvalidRequest
from fabula.server.access import actor_of
from fabula.server.error_codes import INSIDE
from fabula.server.json_answers import error_response

log = logging.getLogger("fabula.files")


def file_routes(house: House) -> APIRouter:
    """The two routes for bytes."""
    router = APIRouter()

    @router.post("/upload/{resource_id}/{file_id}")
    async def upload(resource_id: str, file_id: str, request: Request) -> Response:
        async def take() -> Response:
            _check(request, resource_id, file_id)
            taken = await take_file(
                house,
                actor_of(request.scope),
                resource_id,
                file_id,
                await request.body(),
                file_name=_spoken(request.headers.get("x-file-name")),
                content_type=_spoken(request.headers.get("content-type")) or "application/octet-stream",
            )
            return Response(orjson.dumps(taken.as_json()), media_type="application/json")

        return await _at_the_door(take)

    async def small_cover(resource_id: str, request: Request) -> Response:
        side = request.query_params["side"]
        file = await give_sized_cover(house, actor_of(request.scope), resource_id, int(side) if _is_side(side) else 0)
        headers = {"content-disposition": "inline", "etag": f'"{file.tag}"', "cache-control": "private, no-cache"}
        if headers["etag"] in _tags_of(request.headers.get("if-none-match", "")):
            return Response(status_code=304, headers=headers)
        return Response(file.data, media_type=file.content_type, headers=headers)

    @router.get("/download/{resource_id}/{file_id}")
    async def download(resource_id: str, file_id: str, request: Request) -> Response:
        async def give() -> Response:
            _check(request, resource_id, file_id)
            if file_id == "cover" and "side" in request.query_params:
                return await small_cover(resource_id, request)
            kind, _, export_id = resource_id.partition(":")
            if (kind, file_id) == ("session_export", "file"):
                play = await give_session_export(house, actor_of(request.scope), export_id)
                headers = {"content-disposition": _disposition(play.file_name)}
                return Response(play.data, media_type=play.content_type, headers=headers)
            file = await give_file(house, actor_of(request.scope), resource_id, file_id)
            headers = {"content-disposition": _disposition(file.file_name)}
            return Response(file.data, media_type=file.content_type, headers=headers)

        return await _at_the_door(give)

    return router


async def _at_the_door(work: Callable[[], Awaitable[Response]]) -> Response:
    """What nobody expected is logged once, here; the caller reads one sentence."""
    try:
        return await work()
    except FabulaError as error:
        return error_response(error)
    except Exception:
        log.exception("a file could not be served")
        return error_response(INSIDE)


def _tags_of(header: str) -> list[str]:
    """The tags that a browser has; a proxy that packs answers marks each as weak."""
    return [tag.strip().removeprefix("W/") for tag in header.split(",")]


def _is_side(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 5


def _check(request: Request, *names: str) -> None:
    for name in names:
        if len(name) > 300 or not name.isprintable():
            raise InvalidRequest("The address names no file of this server.")


def _spoken(header: str | None) -> str | None:
    """A header's text as it may be shown again: printable and not long."""
    if header is None:
        return None
    return "".join(char for char in header if char.isprintable())[:255]


def _disposition(file_name: str) -> str:
    plain = re.sub(r"[^A-Za-z0-9._ -]", "_", file_name)
    extended = "" if plain == file_name else f"; filename*=UTF-8''{quote(file_name)}"
    return f'attachment; filename="{plain}"{extended}'
