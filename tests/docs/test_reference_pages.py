"""The reference lists everything there is, as it is now."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from docs.build import ROOT, error_rows, pages

from fabula.cli.main import COMMANDS
from fabula.ports import models
from fabula.ports.errors import FabulaError
from fabula.server.error_codes import CODES
from fabula.server.rpc.catalogue import build_catalogue
from fabula.server.rpc.openrpc import openrpc
from fabula.settings import Settings


@pytest.mark.parametrize("path", pages())
def test_a_written_page_says_what_the_code_says(path: str) -> None:
    assert (ROOT / path).read_text("utf-8") == pages()[path](), f"{path} is out of date: run make docs"


def test_every_setting_has_a_sentence_and_an_entry() -> None:
    page = (ROOT / "docs/reference/settings.md").read_text("utf-8")
    for name, field in Settings.model_fields.items():
        assert field.description and field.description.endswith("."), f"the setting {name} has no sentence"
        assert f"| `{name}` |" in page


def test_every_command_has_an_entry() -> None:
    page = (ROOT / "docs/reference/commands.md").read_text("utf-8")
    assert [name for name in COMMANDS if f"## `fabula {name}`" not in page] == []


def test_every_method_names_the_fields_that_openrpc_does() -> None:
    page = (ROOT / "docs/reference/methods.md").read_text("utf-8")
    sections = dict(re.findall(r"^##+ `([\w.]+)`\n(.*?)(?=^##|\Z)", page, re.MULTILINE | re.DOTALL))
    document: Any = openrpc(build_catalogue())
    for method in document["methods"]:
        for param in method["params"]:
            assert f"- `{param['name']}{'' if param['required'] else '?'}`: " in sections[method["name"]]
        for shape in re.findall(r"schemas/(\w+)", str(method["result"])):
            fields = document["components"]["schemas"][shape]["properties"]
            assert all(re.search(rf"- `{field}\??`: ", sections[shape]) for field in fields), shape


def errors_under(error: type[FabulaError]) -> Iterator[type[FabulaError]]:
    for child in error.__subclasses__():
        yield child
        yield from errors_under(child)


def test_every_error_stands_in_the_tree_and_has_an_entry() -> None:
    assert models.ModelError in set(errors_under(FabulaError))
    drawn = {kind: name for kind, name, _, _ in error_rows()}
    everywhere = errors_under(FabulaError)
    rooms = ("fabula.ports", "fabula.server")
    ours = {error.__name__: error.name for error in everywhere if error.__module__.startswith(rooms)}
    assert drawn == {"FabulaError": "internal", **ours}


def test_every_name_of_an_error_has_a_code_and_every_code_an_error() -> None:
    assert {name for _, name, _, _ in error_rows()} == CODES.keys()


LINK = re.compile(r"\]\((?!https?:|#)([^)#]+)")


@pytest.mark.parametrize(
    "page", sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]), ids=lambda path: path.name
)
def test_links_between_pages_lead_somewhere(page) -> None:  # type: ignore[no-untyped-def]
    broken = [link for link in LINK.findall(page.read_text("utf-8")) if not (page.parent / link).exists()]
    assert broken == []
