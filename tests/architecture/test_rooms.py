"""ARCHITECTURE.md, the import contract and the folders tell the same story."""

from __future__ import annotations

import re

from docs.build import ROOT, SOURCE, import_rows, rooms

NOT_ROOMS = {"__init__", "__pycache__", "py", "samples"}


def folders() -> set[str]:
    found = {path.name.removesuffix(".py").removesuffix(".typed") for path in SOURCE.iterdir()}
    return found - NOT_ROOMS


def test_every_folder_is_a_room_of_the_contract_and_every_room_has_its_folder() -> None:
    assert folders() == set(rooms())


def test_every_room_opens_with_a_sentence() -> None:
    for room, sentence in rooms().items():
        assert re.search(r"[.:]$", sentence), f"{room} opens with {sentence!r}"


def test_architecture_lists_every_room_with_its_own_sentence() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    listed = dict(re.findall(r"^\| `(\w+)` \| (.+) \|$", text, flags=re.MULTILINE))
    assert listed == rooms()


def test_architecture_shows_the_import_rows_of_the_contract() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    assert "\n".join(f"    {row}" for row in import_rows()) in text


def test_every_path_that_architecture_names_leads_somewhere() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    named = {name.strip("/") for name in re.findall(r"`([\w.*-]+/[\w./*-]*)`", text)}
    places = (ROOT, SOURCE, ROOT / "docs", ROOT / "tests")
    lost = [name for name in named if not any([*place.glob(name), *place.glob(f"{name}.py")] for place in places)]
    assert sorted(lost) == ["fabula/samples"], "that one is there only in a wheel"


def test_every_test_that_architecture_names_as_a_check_is_there() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    sources = {file.stem: file.read_text("utf-8") for file in (ROOT / "tests").rglob("test_*.py")}
    named = re.findall(r"`(test_\w+)`", text)
    assert named and [one for one in named if one not in sources and not any(one in s for s in sources.values())] == []
