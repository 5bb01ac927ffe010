"""The build hook of the browser app: it builds once, and never fails an install."""

from __future__ import annotations

import subprocess
from pathlib import Path

import hatch_build
import pytest


@pytest.fixture
def web(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small web/ of our own, so that the real one stays as it is."""
    folder = tmp_path / "web"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "main.ts").write_text("tell()")
    monkeypatch.setattr(hatch_build, "WEB", folder)
    monkeypatch.setattr(hatch_build, "APP", tmp_path / "app")
    monkeypatch.setattr(hatch_build, "STAMP", tmp_path / "app" / ".stamp")
    return folder


def test_the_hash_follows_names_and_contents_and_nothing_that_was_fetched(web: Path) -> None:
    first = hatch_build.hash_of_sources()
    (web / "node_modules").mkdir()
    (web / "node_modules" / "big.js").write_text("x")
    assert hatch_build.hash_of_sources() == first
    (web / "src" / "main.ts").write_text("tell(1)")
    changed = hatch_build.hash_of_sources()
    assert changed != first
    (web / "src" / "main.ts").rename(web / "src" / "start.ts")
    assert hatch_build.hash_of_sources() not in (first, changed)


def test_unchanged_sources_are_not_built_again(web: Path) -> None:
    hatch_build.APP.mkdir()
    hatch_build.STAMP.write_text(hatch_build.hash_of_sources())
    assert hatch_build.build_app() is False


def test_make_run_builds_an_app_again_whose_sources_have_changed(web: Path) -> None:
    assert hatch_build.is_current(), "what was never built is not tried again at every start"
    hatch_build.APP.mkdir()
    hatch_build.STAMP.write_text(hatch_build.hash_of_sources())
    assert hatch_build.is_current()
    (web / "src" / "main.ts").write_text("tell(2)")
    assert not hatch_build.is_current()
    recipe = subprocess.run(["make", "-n", "run"], cwd=hatch_build.ROOT, capture_output=True, text=True, check=True)
    before_serving = recipe.stdout.partition("fabula serve")[0]
    assert "hatch_build.py --is-current" in before_serving


def test_a_build_that_cannot_be_done_leaves_the_old_app_and_says_why(web: Path) -> None:
    hatch_build.APP.mkdir()
    (hatch_build.APP / "index.html").write_text("the old app")
    with pytest.raises(hatch_build.BuildFailed) as failure:
        hatch_build.build_app()
    assert str(failure.value)
    assert (hatch_build.APP / "index.html").read_text() == "the old app"
