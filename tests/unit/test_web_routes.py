"""The browser app's routes, with and without a built app."""

from __future__ import annotations

from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from fabula.server.web import is_built, mount_web


def visitor(folder: Path) -> TestClient:
    app = Starlette()
    mount_web(app, folder)
    return TestClient(app)


@pytest.fixture
def built(tmp_path: Path) -> Path:
    (tmp_path / "assets").mkdir()
    (tmp_path / "index.html").write_text("<title>the app</title>")
    (tmp_path / "assets" / "main-abc.js").write_text("tell()")
    return tmp_path


def test_without_a_built_app_the_page_says_how_to_build_it(tmp_path: Path) -> None:
    answer = visitor(tmp_path).get("/")
    assert answer.status_code == 200
    assert "make web" in answer.text
    assert not is_built(tmp_path)
    assert visitor(tmp_path).get("/assets/main.js").status_code == 404


@pytest.mark.parametrize("path", ["/", "/index.html", "/app", "/app/stories/one"])
def test_every_place_of_the_app_is_its_page_and_is_asked_for_again(built: Path, path: str) -> None:
    answer = visitor(built).get(path)
    assert "the app" in answer.text
    assert answer.headers["cache-control"] == "no-cache"
    assert answer.headers["content-type"].startswith("text/html")


def test_hashed_files_may_be_kept_for_ever(built: Path) -> None:
    answer = visitor(built).get("/assets/main-abc.js")
    assert answer.text == "tell()"
    assert "immutable" in answer.headers["cache-control"]


@pytest.mark.parametrize("path", ["/assets/%2e%2e/%2e%2e/diary", "/assets/..%2f..%2fdiary", "/assets//diary", "/diary"])
def test_nothing_beside_the_app_is_served(built: Path, path: str) -> None:
    (built.parent / "diary").write_text("dear diary")
    answer = visitor(built).get(path)
    assert answer.status_code == 404
    assert "dear" not in answer.text


def test_other_paths_are_not_the_app(built: Path) -> None:
    assert visitor(built).get("/rpcc").status_code == 404
