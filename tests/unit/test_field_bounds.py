"""Everything from outside has a bound: bytes before they are decoded, and every field of every model afterwards."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from fabula.actions.decode import decode
from fabula.actions.library.packaged_worlds import PackagedCanon
from fabula.actions.outside_values import outside_value
from fabula.actions.turns.agent_decision import SayToAgent
from fabula.formats.json_bounds import DEEPEST, MOST_VALUES, bounds_problem, nul_problem
from fabula.ports.errors import InvalidParams, InvalidRequest
from fabula.server.rpc.catalogue import build_catalogue
from fabula.story.field_bounds import LARGEST_NUMBER, bounded, bounded_schema
from fabula.story.game_systems import GameSystem
from fabula.story.ink_stories import InkStory
from fabula.story.resources import CharacterContent, Lorebook, PlayerProfile, Preset, Schema, StoryResources
from fabula.story.stories import Story
from fabula.story.values import JSON_REF, Value
from fabula.story.worlds import World

FROM_FILES: list[type[Value]] = [
    Preset,
    Schema,
    Lorebook,
    PlayerProfile,
    CharacterContent,
    StoryResources,
    Story,
    InkStory,
    World,
    GameSystem,
    PackagedCanon,
]
COMMANDS: set[type[Value]] = {SayToAgent, *(one.command for one in build_catalogue())}
MODELS = sorted({*COMMANDS, *FROM_FILES}, key=lambda one: one.__name__)
ENORMOUS = "x" * 5_000_000
NEEDED = {"str": "max_length", "int": "le", "list": "max_length", "dict": "max_length"}


def unbounded(node: Any, place: str) -> Iterator[str]:
    """The texts, numbers, lists and objects of a schema that may be as large as anybody likes."""
    if isinstance(node, list):
        for part in node:
            yield from unbounded(part, place)
    if not isinstance(node, dict):
        return
    kind = node.get("type")
    if isinstance(kind, str) and kind in NEEDED and NEEDED[kind] not in node:
        yield f"{place}: {kind}"
    assert kind != "any" or JSON_REF in place, f"{place} takes anything"
    for name, part in node.items():
        if name not in ("metadata", "serialization", "config", "cls", "default"):
            yield from unbounded(part, f"{place}.{node.get('ref', name)}")


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_every_field_that_a_request_or_file_brings_has_a_bound(model: type[Value]) -> None:
    assert list(unbounded(bounded_schema(model), model.__name__)) == []


@pytest.mark.parametrize("model", [one for one in MODELS if one.model_fields], ids=lambda model: model.__name__)
def test_no_field_takes_a_text_or_number_beyond_all_bounds(model: type[Value]) -> None:
    for name in model.model_fields:
        for enormous in (ENORMOUS, LARGEST_NUMBER + 1, -LARGEST_NUMBER - 1):
            with pytest.raises(ValidationError) as refused:
                bounded(model).validate_python({name: enormous})
            assert any(error["loc"][0] == name for error in refused.value.errors(include_input=False))


def test_what_is_stored_is_read_without_bounds() -> None:
    long = {"player_profile_id": "p", "display_name": "P", "description": "x" * 1_000_000}
    assert len(PlayerProfile.model_validate(long).description) == 1_000_000
    with pytest.raises(ValidationError, match="at most 100000 characters"):
        bounded(PlayerProfile).validate_python(long)


def test_very_many_misfits_are_counted_and_not_listed() -> None:
    with pytest.raises(InvalidParams, match="do not fit: It does not fit in 5000 places") as refused:
        decode(SayToAgent, {"id": "a", "input": "b", **{f"x{n}": n for n in range(5_000)}})
    assert refused.value.data["errors"] == [{"field": "params", "message": "It does not fit in 5000 places"}]
    fact = {"text": "x", **{f"x{n}": n for n in range(5_000)}}
    with pytest.raises(InvalidRequest, match="A card cannot be used: It does not fit in 5006 places"):
        outside_value(CharacterContent, {"facts": [fact]}, "A card")


def test_of_a_list_or_an_object_whose_items_do_not_fit_the_first_is_named() -> None:
    """Each of a hundred thousand items would be told of by several errors, and making those holds everybody up."""
    with pytest.raises(ValidationError) as refused:
        bounded(Lorebook).validate_python({"lorebook_id": "a", "display_name": "x", "entries": [{}] * 9_000})
    assert {one["loc"][:2] for one in refused.value.errors()} == {("entries", 0)}
    with pytest.raises(ValidationError) as refused:
        bounded(Schema).validate_python({"schema_id": "a", "display_name": "x", "fields": {"a": 1, "b": 2}})
    assert {one["loc"][1] for one in refused.value.errors()} == {"a"}


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (b"[" + b"0," * MOST_VALUES + b"0]", "More than 100000 JSON values"),
        (b"[" + b'"",' * MOST_VALUES + b'""]', "More than 100000 JSON values"),
        (b"[" + b"{}," * MOST_VALUES + b"0]", "More than 100000 JSON values"),
        (b"[" * (DEEPEST + 1) + b"]" * (DEEPEST + 1), "deeper than 64 levels"),
        (b'{"a":' * (DEEPEST + 1) + b"1" + b"}" * (DEEPEST + 1), "deeper than 64 levels"),
        (b"[" * 500_000, "More than 100000 JSON values"),
    ],
)
def test_json_is_counted_before_it_is_decoded(body: bytes, problem: str) -> None:
    assert problem in (bounds_problem(body) or "")


@pytest.mark.parametrize(
    "body",
    [
        b"[" + b"0," * (MOST_VALUES - 2) + b"0]",
        b'["' + b",[{" * MOST_VALUES + b'"]',
        b'["' + b'\\",' * MOST_VALUES + b'"]',
        b'["\\\\", "' + b"[" * 1000 + b'"]',
        b"[" * DEEPEST + b"]" * DEEPEST,
    ],
)
def test_what_stands_in_texts_is_not_counted(body: bytes) -> None:
    assert bounds_problem(body) is None
    json.loads(body)


def test_brackets_that_close_nothing_are_left_to_the_decoder() -> None:
    """Eight megabytes of them, looked at one by one, would take a second."""
    assert bounds_problem(b"[" * 70 + b"]" * 71) is None
    assert bounds_problem(b"[" * 30 + b"0," * 70 + b"]" * 100_000) is None


@given(
    st.recursive(
        st.none() | st.text() | st.integers(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    )
)
def test_every_small_json_passes_and_a_nul_is_found_wherever_it_stands(value: Any) -> None:
    body = json.dumps(value).encode()
    assert bounds_problem(body) is None
    assert (nul_problem(body) is not None) == ("\x00" in _texts(value))


def _texts(value: Any) -> str:
    if isinstance(value, dict):
        return "".join(key + _texts(inner) for key, inner in value.items())
    if isinstance(value, list):
        return "".join(map(_texts, value))
    return value if isinstance(value, str) else ""
