"""What the README and the how-tos show on a console is what really happens."""

from __future__ import annotations

import re
import shutil
import socket
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from docs.build import ROOT

from fabula.testing.server_process import PROGRAM, clean_environment, running_server

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs/how-to").glob("*.md")), *sorted((ROOT / "docs/start").glob("*.md"))]
BLOCK = re.compile(r"^( *)```console\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
ADDRESS = "127.0.0.1:8420"


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
            typed, _, shown = part.partition("\n")
            found.append(Step(typed=typed.strip(), shown="\n".join(line.rstrip() for line in shown.splitlines())))
    return found


EXAMPLES = [page for page in PAGES if steps_of(page)]


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed (apt-get install curl)")
@pytest.mark.parametrize("page", EXAMPLES, ids=lambda page: page.name)
def test_the_console_examples_of_a_page_are_true(page: Path, tmp_path: Path) -> None:
    data, port = tmp_path / "data", free_port()
    shell = {"FABULA_DATA_DIR": str(data), "PATH": f"{program_folder(tmp_path)}:/usr/local/bin:/usr/bin:/bin"}
    settings = {"FABULA_DATA_DIR": str(data), "FABULA_PORT": str(port)}
    with running_server(data, "--port", str(port), settings=settings):
        greeting = (data / "server.log").read_text("utf-8")
        for step in steps_of(page):
            typed, here = step.typed.replace(ADDRESS, f"127.0.0.1:{port}"), str(port)
            said = greeting if typed == "make run" else run(typed, shell, tmp_path)
            assert step.fits(said.replace(f"127.0.0.1:{here}", ADDRESS)), f"$ {step.typed}\n{said}"


def run(typed: str, shell: dict[str, str], folder: Path) -> str:
    done = subprocess.run(
        ["bash", "-c", typed],
        env=clean_environment(shell),
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return done.stdout + done.stderr


def program_folder(folder: Path) -> Path:
    """A folder with `fabula` as an installed one would be on the PATH."""
    bin_folder = folder / "bin"
    bin_folder.mkdir()
    program = bin_folder / "fabula"
    program.write_text(f"#!{sys.executable}\n{PROGRAM[2]}\n", "utf-8")
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
