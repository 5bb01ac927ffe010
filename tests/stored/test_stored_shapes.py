"""Every stored shape has a version, and documents of every version that there ever was are read."""

from __future__ import annotations

import asyncio
import hashlib
import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, get_args

import pytest
from tests.live import gate_story, live_server
from tests.stored.golden_play import Door, play_everything, scripted_models

from fabula.actions.library.samples import install_samples
from fabula.actions.repositories import (
    API_GROUPS,
    APIS,
    CHARACTERS,
    DRAFTS,
    GAME_SYSTEMS,
    INK_STORIES,
    LOREBOOKS,
    PLAYER_PROFILES,
    PRESETS,
    SCHEMAS,
    SESSIONS,
    STORIES,
    STORY_RESOURCES,
    WORLDS,
    Repository,
)
from fabula.adapters.models.memo import from_stored
from fabula.adapters.stores.tables import METADATA
from fabula.ports.errors import StoreError
from fabula.ports.store import Kind, Stored
from fabula.ports.stored import read_stored, versioned
from fabula.story.canon import Change, Decision, Verdict
from fabula.story.error_values import stored_error
from fabula.story.graph import Graph
from fabula.story.npc import GameEvent, PlayedTag
from fabula.story.plays import PlayState
from fabula.story.scenes import SceneRecord
from fabula.story.stored import CURRENT, STEPS, Shape
from fabula.story.summaries import StorySoFar
from fabula.story.values import JsonObject
from fabula.story.world_records import WorldRecord

HERE = Path(__file__).parent
SHAPES: tuple[Shape, ...] = get_args(Shape)
RESOURCES: tuple[Repository[Any], ...] = (
    APIS,
    API_GROUPS,
    PRESETS,
    SCHEMAS,
    LOREBOOKS,
    PLAYER_PROFILES,
    CHARACTERS,
    STORY_RESOURCES,
    GAME_SYSTEMS,
    WORLDS,
    DRAFTS,
    SESSIONS,
)
OF_LANGGRAPH = {("loop_checkpoints", "metadata")}
"""Text that is JSON but not ours: what another package wrote, and reads again."""

EVERYWHERE = {
    "resources.doc",
    "turn_states.state",
    "turn_states.result",
    "turns.error",
    "blobs.data",
    "slots.doc",
    "work.input",
    "work.error",
    "memo.reply",
    "npc_entries.event",
    "npc_entries.played",
}
"""Where JSON stands after everything was played."""


def resource(repository: Repository[Any]) -> Callable[[JsonObject], object]:
    def read(doc: JsonObject) -> object:
        stored = Stored(
            kind=repository.kind, id="golden", doc=doc, revision=1, built_in=False, created_at_ms=0, updated_at_ms=0
        )
        return repository.read(stored)

    return read


def story(doc: JsonObject) -> object:
    return resource(INK_STORIES if doc.get("kind") == "ink" else STORIES)(doc)


def played(doc: JsonObject) -> list[PlayedTag]:
    tags = doc["tags"]
    assert isinstance(tags, list)
    return [PlayedTag.model_validate(tag) for tag in tags]


READERS: dict[Shape, Callable[[JsonObject], object]] = {
    "play_state": PlayState.model_validate,
    "turn_result": lambda doc: doc["turn_index"],
    "error": stored_error,
    "graph": Graph.model_validate,
    "story_so_far": StorySoFar.model_validate,
    "world_record": WorldRecord.model_validate,
    "story": story,
    **{repository.kind: resource(repository) for repository in RESOURCES},
    "upload": dict,
    "work_input": dict,
    "work_result": dict,
    "memo_reply": from_stored,
    "npc_event": GameEvent.model_validate,
    "npc_played": played,
    "canon_change": Change.model_validate,
    "canon_verdict": Verdict.model_validate,
    "canon_decision": Decision.model_validate,
    "scene": SceneRecord.model_validate,
    "trace_part": dict,
    "memory": dict,
    "lore_bundle": dict,
}
"""What the engine makes of each shape."""


def golden(shape: Shape, version: int) -> dict[str, Any]:
    """The golden documents of a version by their name."""
    files = (HERE / "shapes" / shape).glob(f"v{version}*.json")
    return {file.stem.removeprefix(f"v{version}"): json.loads(file.read_text("utf-8")) for file in files}


@pytest.mark.parametrize("shape", SHAPES)
def test_documents_of_every_version_are_read_as_the_newest_has_them(shape: Shape) -> None:
    newest = {name: read_stored(shape, doc) for name, doc in golden(shape, CURRENT[shape]).items()}
    assert newest, f"tests/stored/shapes has no document of version {CURRENT[shape]} of {shape}"
    for version in range(1, CURRENT[shape] + 1):
        docs = golden(shape, version)
        assert docs, f"tests/stored/shapes has no document of version {version} of {shape}"
        for name, doc in docs.items():
            read = read_stored(shape, doc)
            assert read == newest[name] and READERS[shape](read) is not None


def test_every_kind_of_resource_is_a_stored_shape() -> None:
    assert set(get_args(Kind)) <= set(SHAPES) == set(STEPS) == set(READERS)


def test_golden_data_is_written_once_and_never_again() -> None:
    """Whoever changes a shape adds a file; the old ones say what is in the world already."""
    lines = [line.split(maxsplit=1) for line in (HERE / "SHA256SUMS").read_text().splitlines()]
    sums = {name: digest for digest, name in lines}
    files = [file for folder in ("golden", "shapes") for file in (HERE / folder).rglob("*") if file.is_file()]
    found = {str(file.relative_to(HERE)): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}
    assert found == sums


def test_a_document_without_a_version_has_the_first() -> None:
    assert read_stored("play_state", {"graph": "g"}) == read_stored("play_state", {"v": 1, "graph": "g"})
    assert read_stored("npc_played", [{"tag": "say"}]) == {"tags": [{"tag": "say"}]}


@pytest.mark.parametrize("shape", SHAPES)
def test_what_is_written_is_read_again_without_its_version(shape: Shape) -> None:
    stored = versioned(shape, {"name": "x"})
    assert stored["v"] == CURRENT[shape] and read_stored(shape, stored) == {"name": "x"}


def test_a_document_of_a_newer_version_is_refused_in_a_sentence() -> None:
    with pytest.raises(StoreError, match="play state was written by a newer version of Fabula") as refused:
        read_stored("play_state", {"v": 99})
    assert refused.value.data == {"shape": "play_state", "version": 99}


@pytest.mark.parametrize("stored", [{"v": 0}, {"v": "one"}, {"v": None}, {"v": 1.5}, [], "text", None])
def test_a_damaged_document_is_refused_in_a_sentence(stored: Any) -> None:
    with pytest.raises(StoreError, match="Restore a backup"):
        read_stored("play_state", stored)


def stored_json(folder: Path) -> Iterator[tuple[str, Any]]:
    """Every JSON object or list in a store, with the place where it stands."""
    with closing(sqlite3.connect(folder / "fabula.db")) as database:
        for table in METADATA.sorted_tables:
            names = [column.name for column in table.columns if (table.name, column.name) not in OF_LANGGRAPH]
            for row in database.execute(f"SELECT {', '.join(names)} FROM {table.name}"):
                found = ((f"{table.name}.{name}", as_json(value)) for name, value in zip(names, row, strict=True))
                yield from ((place, doc) for place, doc in found if doc is not None)


def as_json(value: object) -> Any:
    """The object or list that a value spells, if it does."""
    try:
        return json.loads(value) if isinstance(value, str | bytes) and value[:1] in ("{", "[", b"{", b"[") else None
    except ValueError:
        return None


async def test_everything_that_a_play_stores_says_the_version_of_its_shape(tmp_path: Path) -> None:
    async with live_server(tmp_path) as client:
        await install_samples(client.house)
        with scripted_models() as models:
            await asyncio.to_thread(play_everything, Door(str(client.http.base_url).rstrip("/")), models)
    docs = list(stored_json(tmp_path))
    assert [one for one in docs if not (isinstance(one[1], dict) and isinstance(one[1].get("v"), int))] == []
    assert {place for place, _ in docs} >= EVERYWHERE


@pytest.mark.parametrize("shape", SHAPES)
def test_what_is_no_document_is_a_damaged_one_and_never_an_accident(shape: Shape) -> None:
    docs: list[Any] = [[], 1, None, "x", [[{}]], {"v": True}, {"v": []}, {"v": 1, "state": [], "snapshot": "x"}]
    for doc in docs:
        with suppress(StoreError):
            assert isinstance(read_stored(shape, doc), dict)


async def test_a_state_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    async with live_server(tmp_path) as client:
        session = (await client.raw("story.start_session", story_id=await gate_story(client)))["session_id"]
    with closing(sqlite3.connect(tmp_path / "fabula.db")) as database:
        database.execute("UPDATE turn_states SET state = json_set(state, '$.snapshot', 'x')")
        database.commit()
    async with live_server(tmp_path) as client:
        for method, words in (("session.get", {}), ("session.run_turn", {"player_input": "Hello."})):
            answer = await client.raw(method, session, **words)
            assert "is damaged" in answer["error"]["message"], answer
