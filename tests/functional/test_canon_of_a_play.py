"""The knowledge graph of a play: what its world says and what it adds, tied to its branch; the world stays as it is."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from tests.conftest import Place
from tests.functional.test_canon_in_plays import campaign, started
from tests.live import Client, RpcFailed, live_server


@pytest.fixture
async def client(place: Place) -> AsyncIterator[Client]:
    place.settings.data_folder.mkdir(exist_ok=True)
    async with live_server(place.settings.data_folder, database_url=place.settings.database_url) as client:
        yield client


async def decided(client: Client, session: str | None, content: dict[str, Any], **world: str) -> str:
    """Makes something canon by hand; answers the id of its change."""
    (one,) = (await client.call("canon.propose", session, changes=[{"content": content}], **world))["changes"]
    await client.call("canon.decide", session, change_id=one["change_id"], verdict="accept", reason="It is so.")
    return str(one["change_id"])


def edges(graph: dict[str, Any]) -> list[tuple[str, str, str]]:
    return sorted((one["from"], one["kind"], one["to"]) for one in graph["edges"])


async def head(client: Client, session: str) -> str:
    return str((await client.call("session.get", session, history="none"))["head_turn_id"])


SPOUSE = {"kind": "fact", "subject": "mara", "predicate": "spouse", "object": "Orr", "since": 5}
ILSE = {"kind": "entity", "entity_id": "ilse", "entity_kind": "character", "name": "Ilse", "anchor": True}
SAW = {"kind": "relationship", "subject": "ilse", "predicate": "trusts", "object": "mara", "since": 20}


async def test_a_graph_changes_with_the_branch_and_the_layer_that_is_asked_for(client: Client) -> None:
    story = await campaign(client)
    await decided(client, None, SPOUSE, world_id="sarn")
    session, other = await started(client, story), await started(client, story)
    before = await head(client, session)
    await decided(client, session, ILSE)
    await decided(client, session, SAW)
    await decided(client, session, {**SPOUSE, "object": "Tam"})
    after = await head(client, session)
    world = [("mara", "owes", "a debt"), ("mara", "spouse", "Orr"), ("mara", "sworn_to", "old-gate")]
    own = [("ilse", "trusts", "mara"), world[0], ("mara", "spouse", "Tam"), world[2]]

    seen = await client.call("canon.graph", session, centre="mara")
    assert edges(seen) == own and seen["world_id"] == "sarn"
    names = {one["id"]: (one["kind"], one["name"]) for one in seen["nodes"]}
    assert names["ilse"] == ("character", "Ilse") and names["old-gate"] == ("place", "the Old Gate")
    assert names["mara"] == ("character", "Mara"), "she is in the cast, though canon does not say who she is"
    for asked in ({"world_id": "sarn"}, {"world_id": "sarn", "layer": "world"}):
        assert edges(await client.call("canon.graph", centre="mara", **asked)) == world
    assert edges(await client.call("canon.graph", session, centre="mara", layer="world")) == world
    assert edges(await client.call("canon.graph", other, centre="mara")) == world

    await client.call("session.switch_branch", session, turn_id=before)
    assert edges(await client.call("canon.graph", session, centre="mara")) == world
    await client.call("session.switch_branch", session, turn_id=after)
    assert edges(await client.call("canon.graph", session, centre="mara")) == own
    assert edges(await client.call("canon.graph", session, centre="mara", at=10)) == own[1:]
    with pytest.raises(RpcFailed, match="name its session"):
        await client.call("canon.graph", world_id="sarn", layer="play")


async def test_paths_timelines_and_exports_are_those_of_the_line(client: Client) -> None:
    session = await started(client, await campaign(client))
    before = await head(client, session)
    for content in (ILSE, SAW):
        await decided(client, session, content)
    way = {"from": "ilse", "to": "old-gate"}
    assert (await client.call("canon.path", session, **way))["entities"] == ["ilse", "mara", "old-gate"]
    assert (await client.call("canon.path", session, **way, layer="world"))["entities"] == []
    line = await client.call("timeline.list", session)
    assert [(one["at"], one["sentence"]) for one in line["moments"]] == [(20, "ilse trusts mara")]
    for format in ("json", "graphml", "cypher", "markdown"):
        written = await client.call("world.export", session, format=format)
        assert "Ilse" in written["text"] and written["edges"] == 3
        assert "Ilse" not in (await client.call("world.export", world_id="sarn", format=format))["text"]
    await client.call("session.switch_branch", session, turn_id=before)
    assert (await client.call("canon.path", session, **way))["entities"] == []
    assert (await client.call("timeline.list", session))["moments"] == []
    assert "Ilse" not in (await client.call("world.export", session, format="json"))["text"]


async def test_who_knows_a_fact_of_a_play_is_told_for_that_play_alone(client: Client) -> None:
    session = await started(client, await campaign(client))
    before = await head(client, session)
    await decided(client, session, ILSE)
    secret = {"kind": "fact", "subject": "ilse", "predicate": "hid", "object": "a key", "known_to": ["player", "ilse"]}
    fact = await decided(client, session, secret)
    await decided(
        client, session, {"kind": "fact", "subject": "mara", "predicate": "knows", "object": fact, "since": 9}
    )
    found = await client.call("canon.who_knows", session, fact_id=fact)
    told = {one["entity_id"]: one["how"] for one in found["knowers"]}
    assert told == {"ilse": "took_part", "player": "told", "mara": "told"} and found["everybody"] is False
    with pytest.raises(RpcFailed, match="no fact named"):
        await client.call("canon.who_knows", fact_id=fact)
    await client.call("session.switch_branch", session, turn_id=before)
    with pytest.raises(RpcFailed, match="no fact named"):
        await client.call("canon.who_knows", session, fact_id=fact)
