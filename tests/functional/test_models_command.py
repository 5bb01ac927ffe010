"""`fabula models` as a user types it, against a model server in another process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.fork_server import PROGRAM
from typer.testing import CliRunner

from fabula.cli.models import app


@pytest.fixture(scope="module")
def served() -> Iterator[str]:
    """The address of a scripted model server that runs as its own process."""
    with model_server("--respond", "fabula.testing.model_script:sound_model") as address:
        yield address


@contextmanager
def model_server(*options: str) -> Iterator[str]:
    command = [sys.executable, "-m", "fabula.testing.model_server", "--first-token-ms", "1", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.terminate()


def run(*arguments: str, data_dir: Path, env: dict[str, str] | None = None) -> str:
    outcome = CliRunner().invoke(app, [*arguments, "--data-dir", str(data_dir)], env=env)
    assert outcome.exception is None, outcome.exception
    return outcome.stdout


def test_one_command_makes_an_api_and_a_group_that_use_a_model(served: str, tmp_path: Path) -> None:
    told = run("use", "--base-url", served, "--model", "scripted-small", "--json", data_dir=tmp_path)
    row = json.loads(told)
    assert (row["api_id"], row["api_group_id"], row["address"], row["model"], row["switched"]) == (
        "default",
        "default",
        served,
        "scripted-small",
        True,
    )
    assert [check["ok"] for check in row["test"]["checks"]] == [True, True, True]
    rows = {row["api"]: row for row in json.loads(run("list", "--json", data_dir=tmp_path))}
    assert rows["default"]["latency_ms"] is not None and rows["default"]["note"] == ""
    assert any(row["provider"] == "understudy" for row in rows.values())


def test_using_another_model_changes_the_same_api(served: str, tmp_path: Path) -> None:
    run("use", "--base-url", served, "--model", "scripted-small", data_dir=tmp_path)
    assert "scripted-large" in run("use", "--base-url", served, "--model", "scripted-large", data_dir=tmp_path)
    rows = {row["api"]: row["model"] for row in json.loads(run("list", "--json", data_dir=tmp_path))}
    assert rows["default"] == "scripted-large"


def test_the_model_of_the_environment_is_used_by_name_and_its_key_stays_there(served: str, tmp_path: Path) -> None:
    environment = {"OPENAI_API_KEY": "sk-of-the-environment", "OPENAI_API_BASE": served, "LLM_MODEL": "scripted-small"}
    run("use", "environment", data_dir=tmp_path, env=environment)
    assert "in " in run("list", data_dir=tmp_path, env=environment)
    kept = b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
    assert b"sk-of-the-environment" not in kept
    found = CliRunner().invoke(app, ["detect", "--json"], env=environment)
    assert "sk-of-the-environment" not in found.stdout
    assert json.loads(found.stdout)[0]["command"] == "fabula models use environment"


def test_what_cannot_be_found_is_told_in_a_sentence(tmp_path: Path) -> None:
    outcome = CliRunner().invoke(app, ["use", "no-such-server", "--data-dir", str(tmp_path)])
    assert "No model or model server named 'no-such-server'" in str(outcome.exception)
    assert "There are: understudy" in str(outcome.exception)


def test_a_model_that_fails_its_test_is_not_used_and_the_old_one_stays(served: str, tmp_path: Path) -> None:
    run("use", "--base-url", served, "--model", "scripted-small", data_dir=tmp_path)
    with model_server("--tokens", "9", "--tokens-per-second", "0") as prosaic:
        arguments = ["use", "--base-url", prosaic, "--model", "scripted-large", "--data-dir", str(tmp_path)]
        refused = CliRunner().invoke(app, arguments)
        assert refused.exit_code == 1
        assert "It does not answer in JSON when asked to." in refused.output
        assert "Everything is as it was. To take it all the same, add --anyway." in refused.output
        assert "scripted-small (api default)" in run("default", data_dir=tmp_path)
        assert CliRunner().invoke(app, [*arguments, "--anyway"]).exit_code == 0
        assert "scripted-large (api default)" in run("default", data_dir=tmp_path)


def test_the_understudy_is_one_step_back_and_the_model_one_step_forth(served: str, tmp_path: Path) -> None:
    run("use", "--base-url", served, "--model", "scripted-small", data_dir=tmp_path)
    assert "New plays now use understudy" in run("use", "understudy", data_dir=tmp_path)
    assert "understudy (api understudy)" in run("default", data_dir=tmp_path)
    assert "New plays now use scripted-small" in run("default", "default", data_dir=tmp_path)
    told = run("remove", "default", data_dir=tmp_path)
    assert "The api 'default' is forgotten, and its key. These groups use the understudy now: default." in told
    assert "understudy (api understudy)" in run("default", data_dir=tmp_path)


def test_testing_a_model_asks_it_and_changes_nothing(served: str, tmp_path: Path) -> None:
    told = run("test", "--base-url", served, "--model", "scripted-small", data_dir=tmp_path)
    assert "✓  streams its words" in told and "tokens a second" in told
    assert [row["api"] for row in json.loads(run("list", "--json", data_dir=tmp_path))] == ["understudy"]
    assert "✓" in run("test", data_dir=tmp_path)


def test_the_doctor_offers_the_command_that_uses_a_found_model(served: str, tmp_path: Path) -> None:
    command = [*PROGRAM, "doctor", "--json"]
    environment = {**os.environ, "OPENAI_API_BASE": served, "FABULA_DATA_DIR": str(tmp_path)}
    told = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)
    assert "fabula models use environment" in told.stdout
    assert served in told.stdout
