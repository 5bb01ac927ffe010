"""The commands as a user types them: a server that starts or says why not, tokens, the doctor."""

from __future__ import annotations

import asyncio
import json
import re
import socket
import subprocess
from pathlib import Path

import httpx
import pytest
from tests.fork_server import PROGRAM, running_server

from fabula.cli.options import program
from fabula.cli.transfer import counted
from fabula.testing import server_process
from fabula.testing.model_server import ModelServer
from fabula.testing.redis import RedisServer
from fabula.testing.server_process import clean_environment


def fabula(*arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    environment = clean_environment(settings)
    return subprocess.run(
        [*PROGRAM, *arguments], capture_output=True, text=True, env=environment, timeout=120, check=False
    )


def rpc(address: str, method: str, token: str = "", **params: object) -> httpx.Response:
    headers = {"authorization": f"Bearer {token}"} if token else {}
    body = {"jsonrpc": "2.0", "id": "1", "method": method, "params": params}
    return httpx.post(f"{address}/rpc", json=body, headers=headers, timeout=120)


def test_a_fresh_server_is_ready_at_once_and_usable_with_no_model(tmp_path: Path) -> None:
    with server_process.running_server(tmp_path) as address:
        assert httpx.get(f"{address}/healthz").text == "ok"
        config = rpc(address, "config.get_global").json()["result"]
        assert (config["api_group_id"], config["preset_id"]) == ("builtin", "builtin")
        assert httpx.get(address).headers["content-type"].startswith("text/html")
    log = (tmp_path / "server.log").read_text("utf-8")
    assert "Traceback" not in log


def test_a_taken_port_is_told_in_one_sentence(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        told = fabula("serve", "--port", port, "--data-dir", str(tmp_path), MAKELEVEL="")
        made = fabula("serve", "--port", port, "--data-dir", str(tmp_path), MAKELEVEL="1")
    next_one = int(port) + 1
    taken_port = f"Port {port} is taken by another program. Choose another one:"
    assert (told.returncode, made.returncode) == (2, 2)
    assert told.stderr.strip() == f"{taken_port} fabula serve --port {next_one}"
    assert made.stderr.strip() == f"{taken_port} FABULA_PORT={next_one} make run"


def test_a_command_that_is_not_on_the_path_is_named_by_its_place(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", [str(tmp_path / ".venv" / "bin" / "fabula"), "serve"])
    monkeypatch.setenv("PATH", str(tmp_path))
    assert program() == ".venv/bin/fabula"


def test_a_server_on_every_address_says_so_and_how_it_is_reached_here(tmp_path: Path) -> None:
    assert fabula("token", "create", "--role", "admin", "--data-dir", str(tmp_path)).returncode == 0
    with running_server(tmp_path, "--host", "0.0.0.0") as address:
        port = address.rpartition(":")[2]
        told = (tmp_path / "server.log").read_text("utf-8")
    assert f"Fabula listens on http://0.0.0.0:{port}" in told
    assert f"Here: http://127.0.0.1:{port}" in told


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--port", "99999"), "There is no port 99999"),
        (("--host", "nowhere.invalid"), "The address nowhere.invalid:8420 cannot be used"),
        (("--config", "missing.toml"), "The settings file missing.toml cannot be read"),
    ],
)
def test_what_cannot_be_is_told_in_one_sentence(tmp_path: Path, arguments: tuple[str, ...], sentence: str) -> None:
    told = fabula("serve", "--data-dir", str(tmp_path), *arguments)
    assert told.returncode == 2
    assert told.stderr.startswith(sentence)
    assert len(told.stderr.strip().splitlines()) == 1


def test_beyond_loopback_a_server_without_token_does_not_start(tmp_path: Path) -> None:
    told = fabula("serve", "--host", "0.0.0.0", "--port", "0", "--data-dir", str(tmp_path))
    assert told.returncode == 1
    assert "fabula token create --role admin" in told.stderr
    assert "Traceback" not in told.stderr


def test_a_token_is_shown_once_lets_its_owner_in_and_can_be_revoked(tmp_path: Path) -> None:
    here = ("--data-dir", str(tmp_path))
    made = json.loads(fabula("token", "create", "--role", "player", "--label", "Ada", "--json", *here).stdout)
    with running_server(tmp_path, settings={"FABULA_REQUIRE_TOKENS": "true"}) as address:
        assert rpc(address, "dashboard.get").status_code == 401
        assert rpc(address, "dashboard.get", made["token"]).json()["result"]["type"] == "dashboard"
        denied = rpc(address, "api.delete", made["token"], api_id="understudy").json()
        assert denied["error"]["code"] == 40303
    bo = fabula("token", "create", "--role", "player", "--label", "Bo", *here)
    assert re.fullmatch(r"fabula_\S+\n", bo.stdout) and "not shown again" in bo.stderr
    listed = fabula("token", "list", "--json", *here)
    used = {token["label"]: token["last_used_at_ms"] for token in json.loads(listed.stdout)}
    assert used["Ada"] >= made["created_at_ms"] and used["Bo"] is None
    shown = fabula("token", "list", *here, COLUMNS="200").stdout
    assert "last used" in shown and "never" in shown
    assert made["token"] not in listed.stdout
    assert made["token"].encode() not in b"".join(path.read_bytes() for path in tmp_path.glob("fabula.db*"))
    assert fabula("token", "revoke", made["token_id"], *here).returncode == 0
    assert json.loads(fabula("token", "list", "--json", *here).stdout)[0]["revoked_at_ms"] is not None


def test_revoking_an_unknown_token_says_where_to_look(tmp_path: Path) -> None:
    told = fabula("token", "revoke", "token_x", "--data-dir", str(tmp_path))
    assert told.returncode == 1
    assert "fabula token list" in told.stderr


def test_the_doctor_shows_every_part(tmp_path: Path) -> None:
    told = fabula("doctor", "--json", "--data-dir", str(tmp_path))
    found = {finding["part"]: finding for finding in json.loads(told.stdout)["findings"]}
    assert told.returncode == 0, told.stdout
    assert {"store", "migrations", "embedder", "bus", "web app", "tokens"} <= found.keys()
    assert any(part.startswith("model ") for part in found)
    assert all(finding["next_step"] for finding in found.values() if finding["state"] == "missing")
    assert str(tmp_path) in found["store"]["sentence"]


async def test_the_doctor_offers_the_command_that_uses_a_model_from_the_environment(tmp_path: Path) -> None:
    async with ModelServer(["Hello."]) as models:
        environment = {"OPENAI_API_KEY": "sk-secret-of-mine", "OPENAI_API_BASE": models.base_url}
        told = await asyncio.to_thread(fabula, "doctor", "--json", "--data-dir", str(tmp_path), **environment)
    offer = next(one for one in json.loads(told.stdout)["findings"] if one["part"] == "model environment")
    assert offer["next_step"] == "fabula models use environment"
    assert "sk-secret" not in told.stdout + told.stderr


def test_the_doctor_really_tries_redis(tmp_path: Path, redis_server: RedisServer) -> None:
    def bus(address: str) -> tuple[int, dict[str, str], str]:
        told = fabula("doctor", "--json", "--data-dir", str(tmp_path), REDIS_URL=address)
        found = {finding["part"]: finding for finding in json.loads(told.stdout)["findings"]}
        assert found["store"]["state"] == "ok"
        return told.returncode, found["bus"], told.stdout + told.stderr

    code, found, _ = bus(redis_server.url)
    assert (code, found["state"]) == (0, "ok") and "answered in" in found["sentence"]
    redis_server.kill()
    code, found, said = bus(f"redis://:hush-hush@127.0.0.1:{redis_server.port}/0")
    assert (code, found["state"]) == (1, "broken") and "redis_url" in found["next_step"]
    assert str(redis_server.port) in found["sentence"] and "hush" not in said
    code, found, _ = bus("ftp://elsewhere")
    assert (code, found["state"]) == (1, "broken") and "must look like redis://" in found["sentence"]


def test_the_doctor_tells_a_data_folder_that_cannot_be_used(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    told = fabula("doctor", "--data-dir", str(tmp_path / "file"))
    assert told.returncode == 1
    assert "store" in told.stdout
    assert "Traceback" not in told.stderr + told.stdout


def test_the_doctor_shows_settings_and_hides_secrets(tmp_path: Path) -> None:
    told = fabula("doctor", "--settings", "--json", FABULA_SECRET_KEY="hush-hush", FABULA_PORT="9000")
    shown = json.loads(told.stdout)
    assert shown["port"] == 9000
    assert shown["secret_key"] == "(set)"
    assert "hush" not in told.stdout


def test_a_story_travels_from_one_server_to_another(tmp_path: Path) -> None:
    file = tmp_path / "stories.zip"
    old, new = tmp_path / "old", tmp_path / "new"
    with running_server(old, settings={"FABULA_SAMPLES": "false"}) as address:
        rpc(address, "lorebook.create", lorebook_id="harbour", display_name="The harbour")
    told = fabula("export", str(file), "--all", "--data-dir", str(old))
    assert told.returncode == 0, told.stderr
    assert ": 1 lorebook." in told.stdout
    taken = fabula("import", str(file), "--json", "--on-conflict", "skip", "--data-dir", str(new))
    assert json.loads(taken.stdout)["counts"]["lorebooks"] == 1
    again = fabula("import", str(file), "--data-dir", str(new))
    assert again.returncode == 1
    assert again.stderr.startswith("There is already a ")


@pytest.mark.parametrize(
    ("part", "count", "words"),
    [
        ("lorebooks", 1, "1 lorebook"),
        ("lorebooks", 2, "2 lorebooks"),
        ("stories", 1, "1 story"),
        ("player_profiles", 1, "1 player profile"),
        ("story_resources", 1, "1 set of story resources"),
        ("story_resources", 2, "2 sets of story resources"),
    ],
)
def test_what_is_counted_reads_as_one_or_many(part: str, count: int, words: str) -> None:
    assert counted(part, count) == words


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("export", "x.zip"), "Name what to export"),
        (("export", "x.zip", "--story", "nope"), "There is no story"),
        (("import", "missing.zip"), "The file missing.zip cannot be read"),
    ],
)
def test_a_transfer_that_cannot_be_is_told_in_one_sentence(
    tmp_path: Path, arguments: tuple[str, ...], sentence: str
) -> None:
    told = fabula(*arguments, FABULA_DATA_DIR=str(tmp_path))
    assert told.returncode == 1
    assert told.stderr.startswith(sentence)
    assert "Traceback" not in told.stderr
