"""The protocol as TypeScript: every method, event and frame has its type, and what may be missing is marked."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any, get_args

import pytest
from docs.build import ROOT
from pydantic.json_schema import models_json_schema

from fabula.server.rpc.catalogue import build_catalogue
from fabula.server.rpc.openrpc import openrpc, stream_schemas
from fabula.story.events import Progress, TurnEvent

FILE = ROOT / "web/src/protocol/protocol.gen.ts"
WRITTEN = FILE.read_text("utf-8")
USE = """
import type { Methods, StreamFrame } from "./protocol.gen";
const asked: Methods["session.run_turn"]["params"] = { player_input: "Hello." };
export const ended = (frame: StreamFrame): boolean => frame.type === "completed" || frame.type === "failed";
// @ts-expect-error: a field that no method takes
export const wrong: Methods["session.run_turn"]["params"] = { ...asked, shouted: true };
"""
"""A client in small: what it may send, and a mistake that the types must find."""


def fields_in(name: str) -> list[str]:
    body = WRITTEN.partition(f"export interface {name} {{\n")[2].partition("\n}")[0]
    return re.findall(r"^  (\w+\??):", body, re.MULTILINE)


@cache
def document() -> Any:
    return openrpc(build_catalogue())


def compiler() -> str | None:
    """The TypeScript compiler, where there is one: `make check-web` fetches it."""
    fetched = ROOT / "web/node_modules/.bin/tsc"
    return str(fetched) if fetched.exists() else shutil.which("tsc")


@pytest.mark.skipif(compiler() is None, reason="No TypeScript compiler here: `make check-web` fetches one.")
def test_the_types_compile_and_find_mistakes(tmp_path: Path) -> None:
    shutil.copy(FILE, tmp_path)
    (tmp_path / "use.ts").write_text(USE, "utf-8")
    options = ["--noEmit", "--strict", "--target", "ES2022", "--module", "ESNext", "--moduleResolution", "bundler"]
    command = [str(compiler()), *options, str(tmp_path / "use.ts"), str(tmp_path / FILE.name)]
    compiled = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (compiled.returncode, compiled.stdout) == (0, "")


def test_every_method_has_its_params_and_its_result() -> None:
    table = WRITTEN.partition("export interface Methods {\n")[2].partition("\n}")[0]
    rows = re.findall(r'^  "([\w.]+)": \{ params: (\w+); result: ([\w |]+); session: (?:true|false) \};', table, re.M)
    assert {name for name, _, _ in rows} == {method.name for method in build_catalogue()}
    named = {shape for _, params, results in rows for shape in (params, *results.split(" | "))}
    assert [shape for shape in named if f" {shape} " not in WRITTEN] == []


@pytest.mark.parametrize("kind", get_args(TurnEvent | Progress), ids=lambda kind: kind.__name__)
def test_every_event_has_its_type_in_both_documents(kind: type[Any]) -> None:
    names = [field.name for field in fields(kind)]
    assert fields_in(kind.__name__) == [f"{name}?" if name in kind.optional else name for name in names]
    schema = document()["components"]["schemas"][kind.__name__]
    assert schema["required"] == [name for name in names if name not in kind.optional]


def test_what_a_client_may_leave_out_and_what_the_server_always_sends_are_told_apart() -> None:
    assert "session_id?" in fields_in("StreamMessage") and "sequence" in fields_in("StreamMessage")
    assert "characters?" in fields_in("Node")
    assert {"type", "session_id", "ink?", "active_turn_id?"} <= {*fields_in("SessionView")}


def test_every_name_that_is_used_is_declared() -> None:
    types = re.sub(r'"[^"\n]*"|/\*\*.*?\*/|//.*|\b\w+\??:', "", WRITTEN, flags=re.S)
    used = {*re.findall(r"\b[A-Z]\w+", types)} - {"Record"}
    assert used - {*re.findall(r"export (?:interface|type) (\w+)", WRITTEN)} == set()


def test_no_two_shapes_of_the_protocol_share_a_name() -> None:
    methods = build_catalogue()
    models = {model for one in methods for model in (one.command, *one.results)}
    wanted: list[Any] = [(model, "validation") for model in sorted(models, key=lambda model: model.__name__)]
    definitions = models_json_schema(wanted, ref_template="#/{model}")[1]["$defs"]
    told = stream_schemas()
    for name in definitions.keys() & told.keys():
        assert definitions[name].get("properties", {}).keys() == told[name].get("properties", {}).keys(), name
