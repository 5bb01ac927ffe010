"""Which lines of `src/fabula` were run: counted in every test process and in the commands that they fork.

A plugin, named on the command line (`-p tests.coverage`) because it must be there before the package is imported.
Test processes are forked from one that has it already (hence PYTEST_DONT_REWRITE: it is there before pytest).
1. SlipCover marks each line, and a mark costs time whenever its line is run. It could take marks away by itself, but on
   Python 3.11 it looks through every function of the package for that, hundreds of times: a command of a fifth of a
   second took three seconds. So a test process has it done a few times, between two tests.
2. A worker sends what it saw to the process that prints; a forked command leaves a file in a folder.
3. The end of the run tells the share of each room, and of all.

A process that is killed tells nothing, and neither do the few that are started without the fork server.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections import defaultdict
from contextlib import suppress
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from slipcover import FileMatcher, ImportManager, Slipcover

SOURCE = Path(__file__).parents[1] / "src/fabula"
FOLDER = "COVERAGE_OF_COMMANDS"
Lines = dict[str, set[int]]
NEVER = -1
TAKEN_AWAY_AFTER = frozenset({30, 120, 400, 1000})
"""After so many tests the marks of lines that were run are taken away."""


_finished = count(1)
_measured = Slipcover(source=[str(SOURCE)], d_miss_threshold=NEVER)


@cache
def begin() -> None:
    """Counts the lines of what is imported from now on. Test processes that are forked have begun before."""
    ImportManager(_measured, FileMatcher(sources=[SOURCE])).__enter__()


def leave_lines() -> None:
    """Writes what this process saw into the folder of commands, when there is one."""
    if FOLDER in os.environ:
        seen: Lines = defaultdict(set)
        for part in (_measured.all_seen, _measured.newly_seen):
            for file, lines in part.items():
                seen[file] |= lines
        target = Path(os.environ[FOLDER]) / f"{os.getpid()}.json"
        target.write_text(json.dumps({file: sorted(lines) for file, lines in seen.items()}), "utf-8")


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Before conftest.py, which imports the package. A process that only hands tests out to workers runs none, and all
    of them wait until it has begun."""
    if "PYTEST_XDIST_WORKER" in os.environ or not getattr(early_config.known_args_namespace, "numprocesses", None):
        begin()


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        folder = tempfile.TemporaryDirectory(prefix="fabula-coverage-")
        config.add_cleanup(folder.cleanup)
        os.environ[FOLDER] = folder.name
        config.pluginmanager.register(_Report())


@pytest.hookimpl(trylast=True)
def pytest_runtest_logfinish() -> None:
    if next(_finished) in TAKEN_AWAY_AFTER:
        # A thread of another test may load a module meanwhile; then they are taken away the next time.
        with suppress(RuntimeError):
            _measured.deinstrument_seen()


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A worker sends what it saw with its last message."""
    output: dict[str, Any] | None = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["coverage"] = json.dumps(_found())


def _found() -> dict[str, tuple[list[int], list[int]]]:
    """The lines of each file: those that were run, and those that were not."""
    files = _measured.get_coverage()["files"]
    return {str(Path(name).resolve()): (one["executed_lines"], one["missing_lines"]) for name, one in files.items()}


class _Report:
    """Gathers in the process that prints."""

    def __init__(self) -> None:
        self.run: Lines = defaultdict(set)
        self.known: Lines = defaultdict(set)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        self._add(json.loads(getattr(node, "workeroutput", {}).get("coverage", "{}")))

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        self._add(_found())
        for file in Path(os.environ[FOLDER]).glob("*.json"):
            for name, lines in json.loads(file.read_text("utf-8")).items():
                self.run[name].update(lines)
        terminalreporter.section("lines of src/fabula that were run")
        for room, share in self._shares():
            terminalreporter.write_line(f"{share:6.1%}  {room}")

    def _add(self, found: dict[str, tuple[list[int], list[int]]]) -> None:
        for name, (run, missed) in found.items():
            self.run[name].update(run)
            self.known[name].update(run, missed)

    def _shares(self) -> list[tuple[str, float]]:
        """The share of each room, and at last of all."""
        counts: dict[str, list[int]] = defaultdict(lambda: [0, 0])
        for name, lines in self.known.items():
            room = Path(name).relative_to(SOURCE.resolve()).parts[0].removesuffix(".py")
            for key in (room, "all of it"):
                counts[key][0] += len(lines & self.run[name])
                counts[key][1] += len(lines)
        ordered = sorted(counts, key=lambda room: (room == "all of it", room))
        return [(room, counts[room][0] / max(1, counts[room][1])) for room in ordered]
