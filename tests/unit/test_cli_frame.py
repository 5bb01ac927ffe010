"""The command line's frame: help at once, one sentence for what goes wrong."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.fork_server import PROGRAM

from fabula.cli.main import COMMANDS, load
from fabula.cli.options import tell
from fabula.ports.errors import Conflict
from fabula.settings import SettingsError

HEAVY = ("pydantic", "rich", "fastapi", "starlette", "sqlalchemy", "langgraph", "openai", "uvicorn", "asyncio", "numpy")
UNUSED = (
    *("socketio", "engineio", "redis", "celery", "kombu", "asyncpg", "mcp", "alembic"),
    *("langgraph", "langchain_core", "langsmith", "numpy", "wordllama", "snowballstemmer", "aiohttp", "openai"),
)
"""What no server needs before it answers: doors and engines that are not used, and what is loaded while it answers."""


def fabula(*arguments: str) -> subprocess.CompletedProcess[str]:
    return run(*PROGRAM, *arguments)


def run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)


def test_help_lists_every_command_with_its_sentence() -> None:
    shown = run(sys.executable, "-c", "from fabula.cli.main import main; main()", "--help")
    assert shown.returncode == 0
    for name, entry in COMMANDS.items():
        assert name in shown.stdout
        assert entry.sentence in " ".join(shown.stdout.split())


@pytest.mark.all
def test_a_server_of_one_process_loads_no_queue_and_no_client_of_a_broker(tmp_path: Path) -> None:
    program = (
        "import asyncio, sys\nfrom fabula.cli.serve import open_house\nfrom fabula.settings import Settings\n"
        "async def main():\n"
        "    async with open_house(Settings(data_dir=sys.argv[1]), tends_turns=True):\n"
        "        print('LOADED', *sorted({'celery', 'kombu', 'amqp', 'redis', 'asyncpg'} & sys.modules.keys()))\n"
        "asyncio.run(main())"
    )
    shown = run(sys.executable, "-c", program, str(tmp_path))
    assert shown.stdout.split() == ["LOADED"], shown.stderr


def test_help_loads_nothing_heavy() -> None:
    program = (
        "import sys\nfrom fabula.cli.main import app\n"
        "try: app(['--help'])\nexcept SystemExit: pass\n"
        f"print('LOADED', *sorted({HEAVY!r} & sys.modules.keys()))".replace(repr(HEAVY), repr(set(HEAVY)))
    )
    shown = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=600)
    assert shown.stdout.splitlines()[-1].strip() == "LOADED"


def test_a_server_with_an_empty_folder_answers_before_it_loads_what_it_does_not_need_for_that() -> None:
    program = (
        "import sys, asyncio, tempfile, pathlib\n"
        "from fabula.cli.serve import uvicorn_config\nfrom fabula.settings import Settings\n"
        "from fabula.wiring import open_house\n"
        "async def start():\n"
        "    settings = Settings(data_dir=pathlib.Path(sys.argv[1]))\n"
        "    async with open_house(settings, tends_turns=True) as house: uvicorn_config(house).load()\n"
        "with tempfile.TemporaryDirectory() as folder:\n    sys.argv[1:] = [folder]; asyncio.run(start())\n"
        f"print('LOADED', *sorted(set({UNUSED!r}) & sys.modules.keys()))"
    )
    shown = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=600)
    assert shown.stdout.splitlines()[-1].strip() == "LOADED"


@pytest.mark.parametrize("name", COMMANDS)
def test_the_table_says_what_the_command_says_of_itself(name: str) -> None:
    assert (load(name).help or "").strip().partition("\n")[0] == COMMANDS[name].sentence


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_a_command_looks_like_help_of_the_whole(name: str) -> None:
    shown = fabula(name, "-h")
    assert shown.returncode == 0 and "Options:" in shown.stdout
    assert not set("╭│╰─") & set(shown.stdout)


def test_the_version_is_told() -> None:
    assert fabula("--version").stdout.startswith("fabula 0.")


def test_an_unknown_command_is_told_in_a_sentence() -> None:
    shown = fabula("sing")
    assert shown.returncode == 2
    assert "No such command 'sing'" in shown.stderr
    assert "Traceback" not in shown.stderr


@pytest.mark.parametrize(
    ("error", "code", "sentence"),
    [
        (SettingsError("The setting 'port' cannot be used."), 2, "The setting 'port' cannot be used."),
        (Conflict("It is in use. Remove the story first."), 1, "It is in use. Remove the story first."),
        (KeyError("x"), 1, "FABULA_LOG_LEVEL=debug"),
    ],
)
def test_an_error_becomes_a_sentence_and_an_exit_code(
    error: Exception, code: int, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert tell(error) == code
    assert sentence in capsys.readouterr().err
