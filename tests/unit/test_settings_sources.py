"""Where settings come from: the file, the environment over it, flags over both; and names that set nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabula.cli.options import settings_from
from fabula.settings import load_settings, unknown_names


def test_the_environment_wins_over_the_file_and_a_flag_over_both(tmp_path: Path) -> None:
    file = tmp_path / "fabula.toml"
    file.write_text('port = 7001\nhost = "127.0.0.2"\nlog_format = "json"\n')
    environment = {"FABULA_PORT": "7002", "FABULA_HOST": "127.0.0.3", "FABULA_CONFIG": str(file)}
    found = load_settings(environment=environment, flags={"port": 7003, "host": None})
    assert (found.port, found.host, found.log_format) == (7003, "127.0.0.3", "json")


def test_an_empty_variable_leaves_what_the_file_says(tmp_path: Path) -> None:
    file = tmp_path / "fabula.toml"
    file.write_text("port = 7001\n")
    assert load_settings(environment={"FABULA_PORT": ""}, config=file).port == 7001


def test_a_variable_that_sets_nothing_is_told_with_the_nearest_name() -> None:
    told = unknown_names({"FABULA_PROT": "1", "FABULA_PORT": "2", "FABULA_CONFIG": "x", "PATH": "y", "FABULA_QZ": "z"})
    assert told == [
        "FABULA_PROT is set, but there is no such setting. Did you mean FABULA_PORT?",
        "FABULA_QZ is set, but there is no such setting. `fabula doctor --settings` lists them all.",
    ]


def test_a_command_warns_of_it_on_standard_error_and_never_of_its_value(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FABULA_SECRET_KEYS", "hush-hush")
    settings_from(None)
    said = capsys.readouterr()
    assert "Did you mean FABULA_SECRET_KEY?" in said.err and "hush" not in said.err + said.out
