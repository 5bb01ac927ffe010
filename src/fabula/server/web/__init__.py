"""Serves the browser app that the build hook made from web/, or a page that says how to build it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

APP_FOLDER = Path(__file__).parent / "app"
_PAGES = ("/", "/index.html", "/app", "/app/{place:path}")
_LOOSE_FILES = ("favicon.svg", "manifest.webmanifest")
_ASK_AGAIN = {"cache-control": "no-cache"}
_FOREVER = "public, max-age=31536000, immutable"


def mount_web(app: Starlette, folder: Path = APP_FOLDER) -> None:
    """Adds the browser app's routes. Every place under /app/ is the same page: the app itself finds its way there."""
    page = _page(folder)
    app.router.routes.extend(Route(path, page, methods=["GET"]) for path in _PAGES)
    app.router.routes.extend(Route(f"/{name}", _file(folder / name), methods=["GET"]) for name in _LOOSE_FILES)
    app.router.routes.append(Mount("/assets", _HashedFiles(directory=folder / "assets", check_dir=False)))


def is_built(folder: Path = APP_FOLDER) -> bool:
    """Whether the browser app has been built into the package."""
    return (folder / "index.html").is_file()


# The endpoints below are plain functions, so that looking at files happens on a thread and not on the event loop.


def _page(folder: Path) -> Callable[[Request], Response]:
    def page(request: Request) -> Response:
        if is_built(folder):
            return FileResponse(folder / "index.html", headers=_ASK_AGAIN)
        return HTMLResponse(_NOT_BUILT, headers=_ASK_AGAIN)

    return page


def _file(path: Path) -> Callable[[Request], Response]:
    def file(request: Request) -> Response:
        return FileResponse(path, headers=_ASK_AGAIN) if path.is_file() else Response(status_code=404)

    return file


class _HashedFiles(StaticFiles):
    """Files whose names change with their content: a browser may keep them for ever."""

    async def check_config(self) -> None:
        """The folder may be missing: then every file in it is."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        response.headers["cache-control"] = _FOREVER
        return response


_NOT_BUILT = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>Fabula</title>
<h1>Fabula is running</h1>
<p>The server works; its browser app has not been built yet, which needs the npm registry once.
<p>Run <code>make web</code> in the folder of Fabula and reload this page.
Without a clone, <code>pip install --force-reinstall fabula</code> builds it too.
<p>Programs can talk to the server at once: <a href="/openrpc.json">/openrpc.json</a> describes its methods.
</html>
"""
