"""What the README and the how-tos show on a console is what really happens.

A page is one terminal: what one line sets, the next one knows. Stories that the page says to save lie there.
"""

from __future__ import annotations

import re
import shlex
import shutil
import socket
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from docs.build import ROOT
from tests.fork_server import PROGRAM, running_server
from tests.templates import fill_folder

from fabula.testing.server_process import clean_environment

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs/how-to").glob("*.md")), *sorted((ROOT / "docs/start").glob("*.md"))]
BLOCK = re.compile(r"^( *)```console\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
SAVED = re.compile(r"^Save this as `([\w.-]+)`:\n\n```ink\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ADDRESS = "127.0.0.1:8420"
AFTER_EACH = "\x1e"


@dataclass(frozen=True)
class Step:
    """A typed line, and what is shown for it; `...` stands for anything."""

    typed: str
    shown: str

    def fits(self, output: str) -> bool:
        pattern = ".*?".join(re.escape(part) for part in self.shown.strip().split("..."))
        return (
            re.fullmatch(pattern, "\n".join(line.rstrip() for line in output.strip().splitlines()), re.DOTALL)
            is not None
        )


def steps_of(page: Path) -> list[Step]:
    found: list[Step] = []
    for indent, block in BLOCK.findall(page.read_text("utf-8")):
        text = "".join(line.removeprefix(indent) for line in block.splitlines(keepends=True))
        for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
            lines = part.splitlines()
            ends = next((n for n in range(1, len(lines)) if is_whole("\n".join(lines[:n]))), len(lines))
            typed, shown = "\n".join(lines[:ends]), "\n".join(line.rstrip() for line in lines[ends:])
            found.append(Step(typed=typed.strip(), shown=shown))
    return found


def is_whole(typed: str) -> bool:
    """Whether a shell would run this, and not wait for the rest of a quote or a line."""
    try:
        shlex.split(typed)
    except ValueError:
        return False
    return True


EXAMPLES = [page for page in PAGES if steps_of(page)]


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed (apt-get install curl)")
@pytest.mark.parametrize("page", EXAMPLES, ids=lambda page: page.name)
def test_the_console_examples_of_a_page_are_true(page: Path, tmp_path: Path) -> None:
    data, port, steps = tmp_path / "data", free_port(), steps_of(page)
    shell = {"FABULA_DATA_DIR": str(data), "PATH": f"{program_folder(tmp_path)}:/usr/local/bin:/usr/bin:/bin"}
    settings = {"FABULA_DATA_DIR": str(data), "FABULA_PORT": str(port)}
    save_stories(page, tmp_path)
    fill_folder(data, "samples")
    with running_server(data, "--port", str(port), settings=settings):
        greeting = (data / "server.log").read_text("utf-8")
        wait_until_ready(port)
        said = run([step.typed.replace(ADDRESS, f"127.0.0.1:{port}") for step in steps], shell, tmp_path)
        for step, output in zip(steps, said, strict=True):
            told = (greeting if step.typed == "make run" else output).replace(f"127.0.0.1:{port}", ADDRESS)
            assert step.fits(told), f"$ {step.typed}\n{told}"


def wait_until_ready(port: int) -> None:
    """Who reads a page types a line seconds after the server's greeting; what warms up by then is ready."""
    for _ in range(600):
        with suppress(httpx.TransportError):
            if httpx.get(f"http://127.0.0.1:{port}/readyz").status_code == 200:
                return
        time.sleep(0.1)
    raise AssertionError("the server is not ready after a minute")


def save_stories(page: Path, folder: Path) -> None:
    for name, source in SAVED.findall(page.read_text("utf-8")):
        (folder / name).write_text(source, "utf-8")


def run(typed: list[str], shell: dict[str, str], folder: Path) -> list[str]:
    """Types the lines one after another into one terminal; answers what each of them showed."""
    script = "".join(f"{':' if line == 'make run' else line}\nprintf '{AFTER_EACH}'\n" for line in typed)
    done = subprocess.run(
        ["bash", "-c", script],
        env=clean_environment(shell),
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=240,
        check=False,
    )
    return done.stdout.split(AFTER_EACH)[:-1]


def program_folder(folder: Path) -> Path:
    """A folder with `fabula` as an installed one would be on the PATH."""
    bin_folder = folder / "bin"
    bin_folder.mkdir()
    program = bin_folder / "fabula"
    program.write_text(f'#!/bin/sh\nexec {shlex.join(PROGRAM)} "$@"\n', "utf-8")
    program.chmod(0o755)
    return bin_folder


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


def test_the_readme_shows_a_start_a_sign_of_life_and_a_call() -> None:
    typed = [step.typed for step in steps_of(ROOT / "README.md")]
    assert typed[0] == "make run"
    assert any("/healthz" in line for line in typed)
    assert any("/rpc" in line for line in typed)
