"""Fixtures of the browser tests, see `scene.py`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright
from tests.browser.scene import CHROMIUM, FLAGS, PATIENCE_MS, watched_page
from tests.fork_server import running_server
from tests.templates import fill_folder

from fabula.server.web import is_built

HERE = Path(__file__).parent
WITH_EVERY_CHANGE = {"test_stage_turns.py"}
"""A story is begun and played in a real browser; the other scenes are run by `make test-all`."""


expect.set_options(timeout=PATIENCE_MS)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """One worker runs all scenes of a file, so that its browser and server are started once."""
    for item in items:
        if item.path.parent == HERE:
            item.add_marker(pytest.mark.xdist_group(item.path.name))
            if item.path.name not in WITH_EVERY_CHANGE:
                item.add_marker("all")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("chromium is not installed (apt-get install chromium)")
    if not is_built():
        pytest.skip("the browser app is not built (make web)")
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server with the samples, which asks for no tokens."""
    with running_server(fill_folder(tmp_path_factory.mktemp("house"), "samples")) as found:
        yield found


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    with watched_page(browser) as opened:
        yield opened
