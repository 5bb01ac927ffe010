"""Two entities that became one: what it changed, and how it is undone as a whole."""

from __future__ import annotations

import pytest
from tests.functional.test_canon_attacks import Doc, client, fact, proposed, true
from tests.functional.test_canon_in_plays import campaign, started
from tests.live import Client, RpcFailed

from fabula.story.state_hash import json_hash

__all__ = ["client"]


def entity(id: str, kind: str = "character") -> Doc:
    return {"kind": "entity", "entity_id": id, "entity_kind": kind, "name": id.title()}


async def graph_hash(client: Client, *without: str) -> str:
    """Of all that is true in the world now, in its order, but for what is named."""
    listed = (await client.call("canon.list", world_id="sarn", status="committed"))["changes"]
    now = [one for one in listed if one.get("replaced_by") is None and one["change_id"] not in without]
    return json_hash(
        [[one["change_id"], one["version"], one["content"]] for one in sorted(now, key=lambda one: int(one["version"]))]
    )


async def two(client: Client) -> str:
    """Orr, and a stranger who could be he; answers the story that is played in their world."""
    story = await campaign(client)
    tie = {"kind": "relationship", "subject": "mara", "predicate": "fears", "object": "stranger"}
    deed = {"kind": "event", "what": "The lamp went out", "who": ["stranger"], "where": "old-gate", "at": 5}
    for content in (entity("orr"), entity("stranger"), fact("stranger", "born_in", "Kel"), tie, deed):
        await true(client, None, content)
    return story


async def merged(client: Client, left: str = "orr", gone: str = "stranger") -> str:
    answer = await client.call("entity.merge", world_id="sarn", entity_id=left, other_id=gone)
    return str(answer["entity"]["change_id"])


async def test_a_merger_is_undone_with_all_that_it_moved(client: Client) -> None:
    await two(client)
    before = await graph_hash(client)
    merger = await merged(client)
    (moved,) = (await client.call("fact.list", world_id="sarn", about="orr"))["changes"]
    with pytest.raises(RpcFailed, match="'stranger', who is 'orr' since a merger"):
        await client.call("canon.undo", change_id=moved["change_id"])
    other = await true(client, None, fact("mara", "likes", "herring"))
    await client.call("canon.undo", change_id=merger)
    assert await graph_hash(client, other) == before
    with pytest.raises(RpcFailed, match="only what is true now can be undone"):
        await client.call("canon.undo", change_id=merger)
    again = await merged(client)
    await client.call("canon.undo", change_id=again)
    assert await graph_hash(client, other) == before


async def test_a_merger_on_which_later_changes_depend_is_undone_after_them(client: Client) -> None:
    await two(client)
    await true(client, None, entity("king"))
    before = await graph_hash(client)
    merger = await merged(client)
    later = await true(client, None, fact("orr", "likes", "herring"))
    moved = await true(client, None, fact("orr", "born_in", "Sarn"))
    with pytest.raises(RpcFailed, match="'orr likes herring'") as refused:
        await client.call("canon.undo", change_id=merger)
    assert later in str(refused.value) and moved in str(refused.value)
    for name in (later, moved):
        await client.call("canon.undo", change_id=name)
    described = await client.call("entity.update", world_id="sarn", entity_id="orr", description="A liar.")
    with pytest.raises(RpcFailed, match=described["change_id"]):
        await client.call("canon.undo", change_id=merger)
    await client.call("canon.undo", change_id=described["change_id"])
    between = await graph_hash(client)
    second = await merged(client, "king", "orr")
    with pytest.raises(RpcFailed, match=second):
        await client.call("canon.undo", change_id=merger)
    await client.call("canon.undo", change_id=second)
    assert await graph_hash(client) == between
    await client.call("canon.undo", change_id=merger)
    assert await graph_hash(client) == before


@pytest.mark.parametrize("in_a_play", [False, True])
async def test_what_is_proposed_about_the_one_that_is_gone_is_held_against_the_one_that_is_left(
    client: Client, in_a_play: bool
) -> None:
    story = await two(client)
    session = await started(client, story) if in_a_play else None
    asked = {} if in_a_play else {"world_id": "sarn"}
    before = await proposed(client, session, fact("stranger", "alive"), "source")
    await true(client, None, entity("king"))
    await merged(client)
    await merged(client, "king", "orr")
    await true(client, None, fact("king", "dead", since=9))
    after = await proposed(client, session, fact("stranger", "located_in", "tower", since=20), "source")
    harmless = await proposed(client, session, fact("orr", "likes", "stranger", known_to=["stranger"]), "source")
    judged = (await client.call("canon.review", session, **asked))["judged"]
    verdicts = {one["change_id"]: one["verdict"] for one in judged}
    results = [verdicts[name]["result"] for name in (before, after, harmless)]
    assert results == ["reject", "reject", "accept"], verdicts
    assert "the dead do nothing" in verdicts[after]["steps"][-1]["sentence"]
    assert verdicts[after]["steps"][0]["found"] == {"stranger": "king"}
    about = (await client.call("fact.list", session, about="king", **asked))["changes"]
    (kept,) = [one["content"] for one in about if one["change_id"] == harmless]
    assert (kept["subject"], kept["object"], kept["known_to"]) == ("king", "king", ["king"])
    graph = await client.call("canon.graph", session, centre="king", **asked)
    assert {"stranger", "orr"}.isdisjoint(node["id"] for node in graph["nodes"])


@pytest.mark.parametrize("in_a_play", [False, True])
async def test_no_second_entity_of_an_id_that_is_gone_arises(client: Client, in_a_play: bool) -> None:
    story = await two(client)
    session = await started(client, story) if in_a_play else None
    asked = {} if in_a_play else {"world_id": "sarn"}
    await merged(client)
    same = await proposed(client, session, {**entity("stranger"), "description": "In grey."}, "source")
    other = await proposed(client, session, entity("stranger", "place"), "source")
    judged = (await client.call("canon.review", session, **asked))["judged"]
    results = {one["change_id"]: one["verdict"]["result"] for one in judged}
    assert (results[same], results[other]) == ("accept", "reject")
    await true(client, session, fact("stranger", "likes", "herring"))
    listed = (await client.call("entity.list", session, **asked))["entities"]
    assert "stranger" not in [one["entity_id"] for one in listed]
    left = await client.call("entity.get", session, entity_id="orr", **asked)
    assert (left["name"], left["description"]) == ("Orr", "In grey.") and "Stranger" in left["aliases"]
    facts = (await client.call("fact.list", session, about="orr", **asked))["changes"]
    assert "likes" in [one["content"]["predicate"] for one in facts]
