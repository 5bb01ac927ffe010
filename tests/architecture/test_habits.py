"""The habits that no tool checks: names, sizes, what files may record. Ruff and import-linter check the others."""

from __future__ import annotations

import ast
import json
import re
import subprocess
from pathlib import Path

import pytest
from docs.build import ROOT, SOURCE

from fabula.server.error_codes import CODES
from fabula.server.rpc.catalogue import build_catalogue

MODULES = sorted(SOURCE.rglob("*.py"))
UNDECIDED = {"util", "utils", "helper", "helpers", "common", "core", "misc", "manager", "service", "services", "base"}
NAMES_TYPES = {
    *("pickle", "cPickle", "marshal", "shelve", "dill", "cloudpickle", "jsonpickle", "joblib", "yaml"),
    *("jsonplus", "JsonPlusSerializer", "ext_hook", "__unpack_ext_hook__", "pickle_fallback"),
}
"""What reads bytes that say which type is made of them. A saver without a `serde` of its own has LangGraph's."""
MACHINE_PATHS = re.compile(r"(?<![\w.])/(work|opt|root|home/\w+)/")


def name(module: Path) -> str:
    return module.relative_to(SOURCE).as_posix()


def tracked(*patterns: str) -> list[Path]:
    """The repository's files, as git knows them; outside a clone, as they lie there."""
    listed = subprocess.run(["git", "ls-files", "-z", *patterns], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode != 0:
        pytest.skip("not a git clone")
    return [path for part in listed.stdout.split("\0") if part and (path := ROOT / part).is_file()]


def test_names_decide_something() -> None:
    parts = {part for module in MODULES for part in re.split(r"[/_.]", name(module))}
    assert not parts & UNDECIDED


def test_no_module_is_larger_than_a_room() -> None:
    assert [name(module) for module in MODULES if module.stat().st_size > 40_000] == []


def test_constraints_pin_versions_and_record_no_address() -> None:
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    assert [line for line in lines if not re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.+!]+", line)] == []
    assert lines == sorted(lines, key=str.lower)


def test_no_lock_file_records_a_registry() -> None:
    names = {path.name for path in tracked()}
    assert not names & {"uv.lock", "poetry.lock", "pdm.lock", "Pipfile.lock"}
    for lock in tracked("*package-lock.json"):
        packages = json.loads(lock.read_text("utf-8"))["packages"].values()
        assert [one["resolved"] for one in packages if "resolved" in one and "://" in one["resolved"]] == []


def test_no_file_speaks_of_the_machine_it_was_written_on() -> None:
    texts = tracked("*.py", "*.md", "*.toml", "*.ts", "*.svelte", "Makefile", ".ci/*", "*.txt")
    ours = [path for path in texts if path != Path(__file__)]
    assert [path.relative_to(ROOT) for path in ours if MACHINE_PATHS.search(path.read_text("utf-8"))] == []


def test_the_version_is_told_once() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text("utf-8")
    assert changelog.startswith("# Changelog\n")
    assert "\n## Unreleased\n" in changelog


def test_continuous_integration_runs_the_readmes_test_command() -> None:
    assert "make test" in (ROOT / ".ci/run").read_text("utf-8")
    assert "make test" in (ROOT / "README.md").read_text("utf-8")


def test_nothing_that_is_stored_can_name_what_is_called_when_it_is_read() -> None:
    found = []
    for module in MODULES:
        for node in ast.walk(ast.parse(module.read_text("utf-8"))):
            match node:
                case ast.Import():
                    read_by = {part for one in node.names for part in one.name.split(".")}
                case ast.ImportFrom():
                    read_by = {*(node.module or "").split("."), *(one.name for one in node.names)}
                case ast.keyword(arg=str(arg)):
                    read_by = {arg}
                case ast.ClassDef() if "BaseCheckpointSaver" in ast.unparse(node) and "serde=" not in ast.unparse(node):
                    read_by = {"JsonPlusSerializer"}
                case _:
                    continue
            found += [f"{name(module)}: {one}" for one in sorted(read_by & NAMES_TYPES)]
    assert found == []


def test_bytes_are_unpacked_with_a_bound() -> None:
    unpacks = re.compile(r"\b(zlib|gzip|bz2|lzma|zstd)\.(decompress|open)\w*\(|\b(GzipFile|BZ2File|LZMAFile)\(")
    found = {name(module) for module in MODULES if unpacks.search(module.read_text("utf-8"))}
    assert found == {"ports/packed.py"}


def test_only_doors_of_the_protocol_know_its_methods_and_codes() -> None:
    words = re.compile("|".join(rf"\b{re.escape(method.name)}\b" for method in build_catalogue()))
    codes = {code for code in CODES.values() if abs(code) > 1000}
    old_codes = SOURCE / "story/stored/error.py"
    below = [module for module in MODULES if not name(module).startswith(("server/", "testing/"))]
    known = []
    for module in below:
        for node in ast.walk(ast.parse(module.read_text("utf-8"))):
            value = node.value if isinstance(node, ast.Constant) else None
            if isinstance(value, str) and words.search(value):
                known.append(f"{name(module)}: {words.findall(value)}")
            if isinstance(value, int) and value in codes | {-code for code in codes} and module != old_codes:
                known.append(f"{name(module)}: {value}")
    assert known == []
