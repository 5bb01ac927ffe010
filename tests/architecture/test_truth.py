"""What is said to users exists: every setting is read by some code, and every error is raised by some code."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache

import pytest
from docs.build import SOURCE, error_rows

from fabula.ports import errors, models
from fabula.server import error_codes
from fabula.settings import Settings


@cache
def trees() -> dict[str, ast.Module]:
    return {path.relative_to(SOURCE).as_posix(): ast.parse(path.read_text("utf-8")) for path in SOURCE.rglob("*.py")}


SHOWS_ALL = {"cli/doctor.py"}
"""Prints every setting by its name, which is no use of it."""


def properties_of_settings() -> dict[str, set[str]]:
    """Which settings each property of `Settings` is made of: whoever reads the property reads them."""
    (settings,) = [
        node for node in trees()["settings.py"].body if isinstance(node, ast.ClassDef) and node.name == "Settings"
    ]
    functions = [node for node in settings.body if isinstance(node, ast.FunctionDef)]
    return {function.name: set(attributes_read(function)) for function in functions}


def attributes_read(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            yield node.attr


@cache
def settings_read() -> set[str]:
    """The attributes that are read of something called `settings`, anywhere but where they are defined and listed."""
    made_of = properties_of_settings()
    found: set[str] = set()
    for name, tree in trees().items():
        if name == "settings.py" or name in SHOWS_ALL:
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and _is_settings(node.value):
                found |= made_of.get(node.attr, set()) | {node.attr}
    # A property may be made of another one.
    return found | {part for name in found for part in made_of.get(name, set())}


def _is_settings(node: ast.expr) -> bool:
    name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
    return name in ("settings", "_settings", "chosen")


@pytest.mark.parametrize("name", Settings.model_fields)
def test_a_setting_is_read_by_some_code(name: str) -> None:
    assert name in settings_read(), f"nothing reads the setting {name}: use it, or leave it out"


@cache
def raised() -> set[str]:
    """The names of classes that are raised or called, or given to somebody who raises them."""
    found: set[str] = set()
    for tree in trees().values():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call | ast.Raise | ast.Dict | ast.IfExp | ast.Return) and not _asks_for_a_class(
                node
            ):
                found |= {child.id for child in ast.iter_child_nodes(node) if isinstance(child, ast.Name)}
    return found


def _asks_for_a_class(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance"


def kin(name: str) -> set[str]:
    """An error and those below it in the tree: whoever raises one of these raises it."""
    classes = vars(errors) | vars(models) | vars(error_codes)
    return {other for other, found in classes.items() if isinstance(found, type) and issubclass(found, classes[name])}


@pytest.mark.parametrize("kind", [kind for kind, *_ in error_rows()])
def test_an_error_in_the_reference_is_raised_by_some_code(kind: str) -> None:
    assert kin(kind) & raised(), f"nothing raises {kind}: use it, or leave it out"


def test_every_error_code_is_of_an_error_in_the_reference() -> None:
    assert set(error_codes.CODES) - {name for _, name, *_ in error_rows()} == set()
