"""What `deploy/` says is true: every setting, command, metric and name in it exists, and the files are well formed."""

from __future__ import annotations

import configparser
import json
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from fabula.cli.main import COMMANDS, load
from fabula.ports.meters import METERS
from fabula.settings import OTHER_NAMES, Settings, aliases_of

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
OURS = ("server", "worker", "beat")
KNOWN = {alias for name in Settings.model_fields for alias in aliases_of(name)} | OTHER_NAMES

TOP_LEVEL = {"name", "services", "volumes", "secrets", "networks", "configs"}
SERVICE = """
    image build command entrypoint environment env_file volumes tmpfs ports depends_on healthcheck restart init user
    read_only cap_drop cap_add security_opt stop_grace_period profiles hostname secrets networks expose deploy logging
    labels ulimits working_dir
"""
"""What the compose specification allows there, as far as we would use it."""
CONDITIONS = {"service_started", "service_healthy", "service_completed_successfully"}


def container_engine() -> str | None:
    """A program that can start the compose file here, if there is one and it answers."""
    for program in filter(None, map(shutil.which, ("docker", "podman"))):
        asked = (subprocess.run([program, *words], capture_output=True, timeout=20) for words in (["info"], COMPOSE))
        if all(answer.returncode == 0 for answer in asked):
            return program
    return None


COMPOSE = ["compose", "version"]


def compose() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))
    return loaded


def services() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = compose()["services"]
    return found


def test_the_compose_file_has_the_shape_that_its_specification_asks_for() -> None:
    whole = compose()
    assert {key for key in whole if not key.startswith("x-")} <= TOP_LEVEL
    assert {"server", "worker", "beat", "postgres", "redis", "rabbitmq", "prometheus", "grafana"} <= set(services())
    for name, service in services().items():
        assert set(service) <= set(SERVICE.split()), name
        assert "image" in service or "build" in service, name
        assert isinstance(service.get("environment", {}), dict), name
        for target, how in service.get("depends_on", {}).items():
            assert target in services() and how["condition"] in CONDITIONS, name
            assert how["condition"] != "service_healthy" or has_health_check(services()[target]), target
        named = {volume.partition(":")[0] for volume in service.get("volumes", [])}
        assert {one for one in named if one[0] not in "./"} <= set(whole["volumes"]), name
        assert set(service.get("secrets", [])) <= set(whole["secrets"]), name
        assert all((DEPLOY / one).exists() for one in named if one.startswith("./")), name
        assert all(re.fullmatch(r"127\.0\.0\.1:\d+(-\d+)?:\d+", port) for port in service.get("ports", [])), name


def has_health_check(service: dict[str, Any]) -> bool:
    return "healthcheck" in service or ("build" in service and "HEALTHCHECK" in dockerfile())


def dockerfile() -> str:
    return (DEPLOY / "Dockerfile").read_text("utf-8")


@pytest.mark.parametrize("name", OURS)
def test_our_processes_are_one_image_that_may_change_nothing_but_its_data(name: str) -> None:
    service = services()[name]
    assert service["image"] == services()["server"]["image"] and service["build"]["dockerfile"] == "deploy/Dockerfile"
    assert (ROOT / "deploy" / service["build"]["context"]).resolve() == ROOT
    assert service["read_only"] is True and service["cap_drop"] == ["ALL"] and not service["user"].startswith("0")
    assert "no-new-privileges:true" in service["security_opt"]


@pytest.mark.parametrize("name", OURS)
def test_every_setting_and_command_of_our_processes_exists(name: str) -> None:
    service = services()[name]
    assert set(service["environment"]) <= KNOWN
    understands(service["command"])


def understands(words: list[str]) -> None:
    """Fails unless the command line knows this command with these options."""
    command = load(words[0]) if words[0] in COMMANDS else None
    assert command is not None, f"there is no command {words[0]}"
    try:
        command.make_context(words[0], list(words[1:]), resilient_parsing=False)
    except click.ClickException as error:
        raise AssertionError(f"{words}: {error.format_message()}") from None


def test_what_compose_asks_of_whoever_runs_it_stands_in_the_example() -> None:
    text = (DEPLOY / "compose.yaml").read_text("utf-8")
    example = (DEPLOY / "env.example").read_text("utf-8")
    for name in set(re.findall(r"\$\{(\w+):\?", text)):
        assert re.search(rf"^{name}=$", example, re.MULTILINE), f"{name} is missing, or not empty"
    for name in re.findall(r"^#?(\w+)=", example, re.MULTILINE):
        assert f"${{{name}:" in text, f"nothing reads {name}"


def test_the_image_is_not_root_has_a_health_check_and_holds_all_extras() -> None:
    text = dockerfile()
    lines = text.splitlines()
    assert any(re.fullmatch(r"USER [1-9]\d+", line) for line in lines) and "HEALTHCHECK" in text
    assert lines.index("USER 10001") < lines.index('ENTRYPOINT ["fabula"]')
    understands(json.loads(lines[-1].removeprefix("CMD ")))
    variables = set(re.findall(r"(FABULA_\w+)=", text))
    assert variables <= KNOWN
    extras = re.findall(r"'\.\[(.+)\]'", text)[0].split(",")
    project = (ROOT / "pyproject.toml").read_text("utf-8")
    assert all(re.search(rf"^{extra} = \[", project, re.MULTILINE) for extra in extras)
    copied = {word for line in re.findall(r"^COPY (?!--)(.+)$", text, re.MULTILINE) for word in line.split()[:-1]}
    allowed = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    assert copied == allowed and all((ROOT / one).exists() for one in copied)


def test_the_systemd_unit_starts_a_command_that_exists_with_settings_that_exist() -> None:
    unit = configparser.RawConfigParser(strict=False)
    unit.optionxform = str  # type: ignore[assignment, method-assign]
    unit.read(DEPLOY / "fabula.service")
    program, *words = shlex.split(unit["Service"]["ExecStart"])
    assert program.endswith("/fabula")
    understands(words)
    text = (DEPLOY / "fabula.service").read_text("utf-8")
    assert set(re.findall(r"^Environment=(\w+)=", text, re.MULTILINE)) <= KNOWN


def exposed() -> dict[str, set[str]]:
    """Every series of ours as Prometheus sees it, with its labels."""
    ends = {"counter": ["_total"], "gauge": [""], "seconds": ["_bucket", "_sum", "_count"]}
    return {meter.name + end: {*meter.labels, "le"} for meter in METERS for end in ends[meter.kind]}


def expressions() -> Iterator[str]:
    dashboard = json.loads((DEPLOY / "grafana" / "fabula.json").read_text("utf-8"))
    yield from (target["expr"] for panel in dashboard["panels"] for target in panel.get("targets", []))
    rules = yaml.safe_load((DEPLOY / "prometheus" / "alerts.yml").read_text("utf-8"))
    yield from (rule["expr"] for group in rules["groups"] for rule in group["rules"])


FROM_SCRAPING = {"job", "instance", "role"}


@pytest.mark.parametrize("expression", list(expressions()))
def test_dashboard_and_alerts_ask_only_for_metrics_and_labels_that_exist(expression: str) -> None:
    series = exposed()
    named = re.findall(r"\b(fabula_\w+|process_\w+|up)\b", expression)
    assert named and all(name in series for name in named if name.startswith("fabula_")), expression
    for name, matchers in re.findall(r"(fabula_\w+)\{([^}]*)\}", expression):
        assert set(re.findall(r"(\w+)\s*[=!]", matchers)) <= series[name] | FROM_SCRAPING, expression
    labels = {label.strip() for by in re.findall(r"by \(([^)]*)\)", expression) for label in by.split(",")}
    assert labels <= set().union(*(series.get(name, set()) for name in named)) | FROM_SCRAPING, expression


def test_the_panels_of_the_dashboard_have_ids_and_places_of_their_own() -> None:
    panels = json.loads((DEPLOY / "grafana" / "fabula.json").read_text("utf-8"))["panels"]
    places = [(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in panels]
    assert len({panel["id"] for panel in panels}) == len(set(places)) == len(panels)


def test_prometheus_looks_for_processes_that_compose_starts() -> None:
    config = yaml.safe_load((DEPLOY / "prometheus" / "prometheus.yml").read_text("utf-8"))
    [job] = config["scrape_configs"]
    [found] = job["dns_sd_configs"]
    assert set(found["names"]) == set(OURS) and found["port"] == Settings.model_fields["port"].default
    assert Path(job["authorization"]["credentials_file"]).name in services()["prometheus"]["secrets"]
    for name in ("worker", "beat"):
        assert services()[name]["command"][-2:] == ["--ops-port", "8420"], "whoever is scraped must answer there"


@pytest.mark.all
def test_the_compose_file_starts(tmp_path: Path) -> None:
    engine = container_engine()
    if engine is None:
        pytest.skip("No container engine here: the compose file is not started.")
    secrets = dict.fromkeys(("POSTGRES_PASSWORD", "FABULA_SECRET_KEY", "GRAFANA_PASSWORD"), "for-this-test-alone")
    variables = tmp_path / "env"
    variables.write_text("".join(f"{name}={value}\n" for name, value in secrets.items()))
    base = [engine, "compose", "--project-name", "fabula-test", "--env-file", str(variables)]
    up = [*base, "--file", str(DEPLOY / "compose.yaml")]
    token = DEPLOY / "metrics-token"
    was_there = token.exists()
    token.touch()
    try:
        subprocess.run([*up, "config", "--quiet"], check=True, timeout=600)
        subprocess.run([*up, "build"], check=True, timeout=1800)
        subprocess.run([*up, "run", "--rm", "server", "token", "create", "--role", "admin"], check=True, timeout=300)
        subprocess.run([*up, "up", "--detach", "--wait", "server", "worker", "beat"], check=True, timeout=600)
    finally:
        subprocess.run([*up, "down", "--volumes"], check=False, timeout=300)
        if not was_there:
            token.unlink()
