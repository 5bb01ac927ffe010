"""Models of values are built when they are first used, and then as if each had been built where it is written."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from fabula.actions.canon.changes import ChangesListed
from fabula.server.rpc.catalogue import build_catalogue
from fabula.story.values import Value


def fresh(body: str) -> str:
    """What a new process prints, in which nothing was used before; a warning fails it."""
    command = [sys.executable, "-W", "error::UserWarning", "-c", f"from fabula.story.values import Value\n{body}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.all
def test_importing_all_methods_builds_hardly_any_model() -> None:
    told = fresh(
        "import fabula.server.rpc.catalogue\n"
        "def kinds(kind): return [kind, *(one for sub in kind.__subclasses__() for one in kinds(sub))]\n"
        "models = set(kinds(Value))\n"
        "print(len(models), sum(model.__pydantic_complete__ for model in models))"
    )
    models, built = map(int, told.split())
    assert models > 600 and built < models / 10


def test_the_models_in_the_fields_of_a_model_are_built_before_it() -> None:
    for method in build_catalogue():
        for model in (method.command, *method.results):
            model.model_rebuild()
            assert not [part for part in _models_in(model.__pydantic_core_schema__) if not part.__pydantic_complete__]


def test_a_choice_among_kinds_is_written_by_its_own_kind_at_the_first_use() -> None:
    told = fresh(
        "from fabula.story.graph import Transition\n"
        "test = {'scope': 'player', 'key': 'key', 'op': 'eq', 'value': True}\n"
        "way = {'to': 'b', 'condition': {'all': [test, {'not': test}]}}\n"
        "print(Transition.model_validate(way).as_json()['condition'] == way['condition'])"
    )
    assert told == "True"


def test_what_comes_from_outside_is_bounded_at_the_first_use_too() -> None:
    told = fresh(
        "from fabula.actions.library.characters import NameCharacter\n"
        "from fabula.story.field_bounds import bounded\n"
        "from pydantic import ValidationError\n"
        "try: bounded(NameCharacter).validate_python({'character_id': 'x' * 100_000})\n"
        "except ValidationError as error: print(error.errors()[0]['type'])"
    )
    assert told == "string_too_long"


def _models_in(schema: Any) -> set[type[Value]]:
    """The models whose schemas stand in a schema."""
    found: set[type[Value]] = set()
    left = [schema]
    while left:
        match left.pop():
            case {"type": "model", "cls": type() as model} as part:
                if issubclass(model, Value):
                    found.add(model)
                left += part.values()
            case dict(parts):
                left += parts.values()
            case list(parts) | tuple(parts):
                left += parts
    return found


def test_parts_are_found_wherever_they_stand() -> None:
    ChangesListed.model_rebuild()
    assert len(_models_in(ChangesListed.__pydantic_core_schema__)) > 5
