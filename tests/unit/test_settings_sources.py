"""Where settings come from: the file, the environment over it, flags over both; and names that set nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabula.cli.options import settings_from
from fabula.settings import LONGEST_FILE, SettingsError, load_settings, unknown_names


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


ALIASES = {
    "DB_DSN": ("database_url", "postgresql://a@b/c"),
    "REDIS_URL": ("redis_url", "redis://a/0"),
    "CELERY_BROKER_URL": ("broker_url", "redis://a/1"),
    "SECRET_KEY": ("secret_key", "hush"),
    "LOG_LEVEL": ("log_level", "error"),
    "CORS_ALLOWED_ORIGINS": ("allowed_origins", "https://a.example"),
}


@pytest.mark.parametrize("alias", ALIASES)
def test_an_alias_sets_what_it_names_and_the_name_of_fabula_wins(alias: str) -> None:
    name, value = ALIASES[alias]
    by_alias = getattr(load_settings(environment={alias: value}), name)
    assert by_alias in (value, (value,))
    other = {"log_level": "debug", "allowed_origins": "https://b.example"}.get(name, "redis://other")
    both = getattr(load_settings(environment={alias: value, f"FABULA_{name.upper()}": other}), name)
    assert both in (other, (other,))
    page = (Path(__file__).parents[2] / "docs/reference/settings.md").read_text("utf-8")
    assert f"`FABULA_{name.upper()}`, `{alias}`" in page


def test_a_level_that_another_program_knows_is_taken_for_the_nearest() -> None:
    levels = [load_settings(environment={"LOG_LEVEL": level}).log_level for level in ("WARN", "CRITICAL", "Info")]
    assert levels == ["warning", "error", "info"]


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


def test_a_settings_file_without_end_is_refused_before_it_is_read_whole(tmp_path: Path) -> None:
    (tmp_path / "large.toml").write_bytes(b"#" * (LONGEST_FILE + 1))
    with pytest.raises(SettingsError, match="too large"):
        load_settings(environment={}, config=tmp_path / "large.toml")
