"""What the built app weighs and carries: budgets over Vite's manifest, licences, no inline styles, few fonts."""

from __future__ import annotations

import gzip
import json
import re
from typing import Any

import pytest

from fabula.server.web import APP_FOLDER, is_built

pytestmark = pytest.mark.skipif(not is_built(), reason="the browser app is not built (make web)")
KB = 1024
ENTRY = "index.html"
# Bytes of JavaScript (gzipped) that a room may add to the first load.
ROOMS = {
    "src/rooms/stage/Stage.svelte": 45 * KB,
    "src/rooms/house/House.svelte": 25 * KB,
    "src/rooms/me/Me.svelte": 25 * KB,
    "src/rooms/npc/Npc.svelte": 25 * KB,
}
LANGUAGES = ("src/words/de/index.ts", "src/words/zh-CN/index.ts")


def manifest() -> dict[str, dict[str, Any]]:
    return dict(json.loads((APP_FOLDER / "manifest.json").read_text("utf-8")))


def weight(*files: str) -> int:
    return sum(len(gzip.compress((APP_FOLDER / file).read_bytes(), 9)) for file in files)


def scripts_of(name: str, chunks: dict[str, dict[str, Any]]) -> set[str]:
    """The files that a chunk needs before it runs."""
    found: set[str] = set()
    waiting = [name]
    while waiting:
        chunk = chunks[waiting.pop()]
        if chunk["file"] not in found:
            found.add(chunk["file"])
            waiting += chunk.get("imports", [])
    return found


def styles_of(name: str, chunks: dict[str, dict[str, Any]], seen: set[str] | None = None) -> set[str]:
    seen = set() if seen is None else seen
    seen.add(name)
    own = set(chunks[name].get("css", []))
    for other in chunks[name].get("imports", []):
        if other not in seen:
            own |= styles_of(other, chunks, seen)
    return own


def test_the_first_load_of_the_shelf_keeps_its_budget() -> None:
    chunks = manifest()
    shelf = "src/rooms/shelf/Shelf.svelte"
    assert weight(*(scripts_of(ENTRY, chunks) | scripts_of(shelf, chunks))) <= 75 * KB
    assert weight(*(styles_of(ENTRY, chunks) | styles_of(shelf, chunks))) <= 14 * KB


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_adds_no_more_than_its_budget(room: str) -> None:
    chunks = manifest()
    own = scripts_of(room, chunks) - scripts_of(ENTRY, chunks)
    assert weight(*own) <= ROOMS[room]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_language_keeps_its_budget(language: str) -> None:
    chunks = manifest()
    assert weight(*(scripts_of(language, chunks) - scripts_of(ENTRY, chunks))) <= 12 * KB


def test_everything_together_keeps_its_budget() -> None:
    files = [path for path in APP_FOLDER.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) <= 1_800 * KB
    assert len([path for path in files if path.suffix == ".woff2"]) <= 30
    assert not [path.name for path in files if path.suffix in {".ttf", ".otf", ".woff", ".map"}]


def test_no_file_has_a_literal_style_attribute_or_an_inline_script() -> None:
    for path in APP_FOLDER.rglob("*"):
        if path.suffix in {".js", ".html"}:
            assert ' style="' not in path.read_text("utf-8"), path.name
    page = (APP_FOLDER / "index.html").read_text("utf-8")
    assert re.findall(r"<script(?![^>]*\bsrc=)", page) == []
    assert "<style" not in page and "https://" not in page and "http://" not in page


def test_the_paper_is_chosen_before_the_style_sheet_is_read() -> None:
    page = (APP_FOLDER / "index.html").read_text("utf-8")
    boot = re.search(r'<script src="/assets/boot-[0-9a-f]{8}\.js"></script>', page)
    assert boot is not None
    assert boot.start() < page.index('rel="stylesheet"')


def test_the_licences_of_everything_that_is_bundled_travel_with_it() -> None:
    told = (APP_FOLDER / "assets" / "licences.txt").read_text("utf-8")
    for name in ("svelte ", "@fontsource-variable/alegreya ", "@fontsource/alegreya-sans ", "esm-env "):
        assert re.search(rf"^{re.escape(name)}", told, re.MULTILINE), name
    assert "SIL OPEN FONT LICENSE" in told.upper()
