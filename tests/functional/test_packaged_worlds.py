"""Worlds with their canon, and authors' own game systems, travel in data packages; what is hostile is refused."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import Place
from tests.functional.test_canon_in_plays import WORLD_FACTS, campaign, started
from tests.live import Client, RpcFailed, live_server

from fabula.actions.library.samples import install_samples
from fabula.actions.repositories import WORLDS

Doc = dict[str, Any]


@pytest.fixture
async def source(tmp_path: Path) -> AsyncIterator[Client]:
    async with live_server(tmp_path / "source") as client:
        yield client


@pytest.fixture
async def target(place: Place) -> AsyncIterator[Client]:
    place.settings.data_folder.mkdir(exist_ok=True)
    async with live_server(place.settings.data_folder, database_url=place.settings.database_url) as client:
        yield client


async def house_rules(client: Client) -> str:
    """A system of an author's own, by which the world of the campaign is played."""
    system = await client.call("game_system.get", system_id="d20")
    parts = {name: value for name, value in system.items() if name not in ("type", "built_in")}
    await client.call("game_system.create", **{**parts, "system_id": "house-rules", "display_name": "House rules"})
    story = await campaign(client)
    await client.call("world.update", world_id="sarn", game_system_id="house-rules")
    return story


async def exported(client: Client, **what: Any) -> bytes:
    export = await client.call("data_package.export_prepare", **what)
    return (await client.http.get(f"/download/{export['archive']['resource_id']}/archive")).content


async def imported(client: Client, archive: bytes, **how: str) -> Doc:
    prepared = await client.call("data_package.import_prepare")
    place = prepared["archive"]["resource_id"]
    sent = await client.http.post(f"/upload/{place}/archive", content=archive)
    assert sent.status_code < 300, sent.text
    return dict(await client.call("data_package.import_commit", import_id=prepared["import_id"], **how))


async def facts(client: Client, world: str) -> list[tuple[str, str, str]]:
    listed = (await client.call("fact.list", world_id=world))["changes"]
    return [tuple(one["content"][part] for part in ("subject", "predicate", "object")) for one in listed]


def changed(archive: bytes, path: str, change: Callable[[Doc], Doc]) -> bytes:
    """The same archive with another document at a path."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(archive)) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            new.writestr(name, json.dumps(change(json.loads(data))) if name == path else data)
    return out.getvalue()


async def test_a_story_brings_its_world_with_all_that_is_true_and_its_own_rules(source: Client, target: Client) -> None:
    archive = await exported(source, story_ids=[await house_rules(source)])
    taken = (await imported(target, archive))["contents"]
    assert (taken["worlds"]["ids"], taken["game_systems"]["ids"]) == (["sarn"], ["house-rules"])
    assert await facts(target, "sarn") == WORLD_FACTS
    known = (await target.call("fact.list", world_id="sarn", about="mara"))["changes"]
    assert known[1]["content"]["known_to"] == ["orr"] and known[0]["proposer"] == "data package"
    assert (await target.call("entity.get", world_id="sarn", entity_id="old-gate"))["name"] == "the Old Gate"
    world = await target.call("world.get", world_id="sarn")
    assert (world["game_system_id"], world["version"]) == ("house-rules", 3)
    session = await started(target, taken["stories"]["ids"][0])
    assert (await target.call("sheet.get", session))["system_id"] == "house-rules"
    # What was true first is true here, too: a rival is held against it.
    change = {"content": {"kind": "fact", "subject": "mara", "predicate": "owes", "object": "nothing"}}
    (made,) = (await target.call("canon.propose", world_id="sarn", changes=[change]))["changes"]
    assert made["base_version"] == 3


async def test_what_is_there_already_is_left_or_the_package_gets_other_names(source: Client, target: Client) -> None:
    archive = await exported(source, story_ids=[await house_rules(source)])
    await imported(target, archive)
    with pytest.raises(RpcFailed, match="already"):
        await imported(target, archive)
    again = (await imported(target, archive, on_conflict="rename"))["contents"]
    assert (again["worlds"]["ids"], again["game_systems"]["ids"]) == (["sarn-2"], ["house-rules-2"])
    world = await target.call("world.get", world_id="sarn-2")
    assert (world["game_system_id"], world["version"]) == ("house-rules-2", 3)
    (character,) = again["characters"]["ids"]
    assert await facts(target, "sarn-2") == [(character, "sworn_to", "old-gate"), (character, "owes", "a debt")]
    (story,) = again["stories"]["ids"]
    assert (await target.call("story.get", story_id=story))["world_id"] == "sarn-2"
    assert await facts(target, "sarn") == WORLD_FACTS


async def test_whoever_is_renamed_has_the_new_name_in_conflicts_schedules_and_bonds(source: Client) -> None:
    await install_samples(source.house)
    what = {"story_ids": ["kettle-a-season-on-the-hill"], "world_ids": ["kettle-hill"]}
    before = await source.call("story.get", story_id="kettle-a-season-on-the-hill")
    taken = (await imported(source, await exported(source, **what), on_conflict="rename"))["contents"]
    async with source.house.store.reading() as unit:
        world = await WORLDS.get(unit, taken["worlds"]["ids"][0])
    movers = {move.by for conflict in world.conflicts for move in conflict.moves}
    people = set(taken["characters"]["ids"])
    assert movers <= people and "kettle-odile-2" in movers
    told = (await source.call("story.get", story_id=taken["stories"]["ids"][0]))["world"]
    assert {*told["schedules"]} == {f"{id}-2" for id in before["world"]["schedules"]}
    assert told["people"]["kettle-odile-2"]["bonds"].keys() <= people | {"player"}
    words = re.findall(r'"([^"]*)"', json.dumps([told, world.as_json()]))
    assert {id.removesuffix("-2") for id in people}.isdisjoint(words), "nobody is called by an old name"


FACT: Doc = {"kind": "fact", "subject": "mara", "predicate": "mother", "object": "Ada"}
TEST: Doc = {"scope": "global", "key": "k", "op": "eq", "value": 1}
MANY_TESTS: Doc = {"all": [{"any": [TEST] * 32}] * 16}
ACT: Doc = {
    "act_id": "a",
    "title": "A",
    "beats": [{"beat_id": "b", "title": "B", "places": ["inn"], "trigger": {"condition": MANY_TESTS}}],
}
TEMPLATE: Doc = {"template_id": "t", "title": "T", "acts": [ACT]}
HOSTILE: dict[str, Callable[[Doc], Doc]] = {
    "contradicts": lambda doc: {**doc, "canon": [{**FACT, "object": "Orr"}, {**FACT, "object": "Ilse"}]},
    "no such kind": lambda doc: {**doc, "canon": [{"kind": "state", "subject": "a", "key": "b", "value": 1}]},
    "no list": lambda doc: {**doc, "canon": {"kind": "fact"}},
    "too many": lambda doc: {**doc, "canon": [FACT] * 10_001},
    "too much about one": lambda doc: {
        **doc,
        "canon": [{**FACT, "predicate": "located_in", "since": 9 * n, "until": 9 * n + 1} for n in range(900)],
    },
    "much to ask of a clock": lambda doc: {
        **doc,
        "clocks": [{"clock_id": "c", "name": "C", "rules": [{"when": MANY_TESTS}]}],
    },
    "much to ask of a thread": lambda doc: {
        **doc,
        "threads": [{"thread_id": "t", "title": "T", "drop": {"condition": MANY_TESTS}}],
    },
    "much to ask of a conflict": lambda doc: {
        **doc,
        "conflicts": [
            {
                "conflict_id": "k",
                "title": "K",
                "stakeholders": [{"who": "orr"}],
                "outcomes": [{"outcome_id": "o", "event": "It ends.", "when": MANY_TESTS}],
            }
        ],
    },
    "much to ask of a template": lambda doc: {**doc, "templates": [{**TEMPLATE, "acts": [ACT, ACT]}]},
    "too long": lambda doc: {**doc, "canon": [{**FACT, "object": "x" * 5000}]},
    "ends before": lambda doc: {**doc, "canon": [{**FACT, "since": 9, "until": 3}]},
    "private": lambda doc: {**doc, "story_id": "somebodys-story"},
    "no rules": lambda doc: {**doc, "game_system_id": "nowhere"},
    "field": lambda doc: {**doc, "owner": "me"},
}


async def test_a_hostile_world_is_refused_and_nothing_of_its_package_is_taken_in(
    source: Client, tmp_path: Path
) -> None:
    archive = await exported(source, story_ids=[await house_rules(source)])
    async with live_server(tmp_path / "target") as target:
        for name, change in HOSTILE.items():
            with pytest.raises(RpcFailed) as refused:
                await imported(target, changed(archive, "worlds/sarn.json", change))
            assert refused.value.code != -32603, (name, str(refused.value))
        bad = changed(
            archive,
            "game_systems/house-rules.json",
            lambda doc: {**doc, "core": {**doc["core"], "formula": "__import__('os')"}},
        )
        with pytest.raises(RpcFailed, match="game system"):
            await imported(target, bad)
        for method, listed in (("world.list", "worlds"), ("story.list", "stories"), ("schema.list", "schemas")):
            assert (await target.call(method))[listed] == []


async def test_the_private_world_of_a_story_and_a_builtin_system_stay_where_they_are(source: Client) -> None:
    session = await started(source, await campaign(source))
    (story,) = [one["story_id"] for one in (await source.call("story.list"))["stories"]]
    await source.call("story.update", story_id=story, world_id=None)
    assert session
    archive = await exported(source, world_ids=["sarn"])
    with zipfile.ZipFile(io.BytesIO(archive)) as files:
        assert sorted(files.namelist()) == ["manifest.json", "worlds/sarn.json"], "d20 is on every server"
    with pytest.raises(RpcFailed, match="no game system"):
        await exported(source, game_system_ids=["d20"])
