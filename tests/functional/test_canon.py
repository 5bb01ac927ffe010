"""Canon over HTTP: proposed, judged with reasons, decided, undone; and what the graph answers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.live import Client, RpcFailed, live_server

from fabula.actions.canon.changes import Review, review_changes
from fabula.actions.canon.worlds import CreateWorld, create_world
from fabula.ports.actors import OPERATOR
from fabula.settings import Settings
from fabula.wiring import open_house

EVIDENCE = [{"type": "source", "ref": "chapter 1", "quote": "Orr keeps the tower."}]


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[Client]:
    async with live_server(tmp_path) as client:
        await client.call("world.create", world_id="sarn", display_name="Sarn", genre="mystery")
        yield client


def entity(id: str, kind: str = "character") -> dict[str, Any]:
    return {"kind": "entity", "entity_id": id, "entity_kind": kind, "name": id.title()}


def fact(subject: str, predicate: str, object: str, **time: int) -> dict[str, Any]:
    return {"kind": "fact", "subject": subject, "predicate": predicate, "object": object, **time}


async def proposed(client: Client, *contents: dict[str, Any], **more: Any) -> list[str]:
    changes = [{"content": content, "evidence": EVIDENCE, **more} for content in contents]
    answer = await client.call("canon.propose", world_id="sarn", changes=changes)
    return [one["change_id"] for one in answer["changes"]]


async def committed(client: Client, *contents: dict[str, Any]) -> list[str]:
    names = await proposed(client, *contents)
    review = await client.call("canon.review", world_id="sarn")
    assert review["accepted"] == len(contents), review
    return names


async def true_facts(client: Client) -> list[tuple[str, str, str]]:
    listed = (await client.call("fact.list", world_id="sarn"))["changes"]
    return [tuple(one["content"][part] for part in ("subject", "predicate", "object")) for one in listed]


async def test_what_is_proposed_is_pending_and_a_dry_run_writes_nothing(client: Client) -> None:
    await proposed(client, entity("orr"), fact("orr", "located_in", "tower"))
    dry = await client.call("canon.review", world_id="sarn", dry_run=True)
    assert (dry["accepted"], dry["version"]) == (2, 0)
    assert await true_facts(client) == []
    real = await client.call("canon.review", world_id="sarn")
    assert [one["verdict"] for one in real["judged"]] == [one["verdict"] for one in dry["judged"]]
    assert real["version"] == 2 and await true_facts(client) == [("orr", "located_in", "tower")]


async def test_a_dry_run_waits_for_nobody_who_writes_and_keeps_nobody_waiting(tmp_path: Path) -> None:
    async with open_house(Settings(data_dir=tmp_path)) as house:
        await create_world(house, OPERATOR, CreateWorld(world_id="sarn", display_name="Sarn"))
        async with house.store.writing():
            async with asyncio.timeout(20):
                dry = await review_changes(house, OPERATOR, Review(world_id="sarn", dry_run=True))
    assert dry.judged == []


async def test_a_verdict_says_every_step_that_led_to_it(client: Client) -> None:
    (name,) = await proposed(client, fact("orr", "likes", "bread"), authority="player", confidence=0.5)
    await client.call("canon.review", world_id="sarn")
    change = await client.call("canon.get", change_id=name)
    assert change["status"] == "pending"
    assert [step["rule"] for step in change["verdict"]["steps"]] == ["weight", "pending"]
    assert "somebody has to decide" in change["verdict"]["steps"][-1]["sentence"]


async def test_who_decides_may_replace_a_truth_and_undo_brings_it_back(client: Client) -> None:
    await committed(client, fact("orr", "spouse", "ilse"))
    (rival,) = await proposed(client, fact("orr", "spouse", "mara"), authority="player")
    review = await client.call("canon.review", world_id="sarn")
    assert review["rejected"] == 1
    (again,) = await proposed(client, fact("orr", "spouse", "mara"), authority="player", confidence=0.6)
    decided = await client.call(
        "canon.decide", change_id=again, verdict="accept", reason="The author changed her mind."
    )
    assert decided["status"] == "committed" and await true_facts(client) == [("orr", "spouse", "mara")]
    await client.call("canon.undo", change_id=again)
    assert await true_facts(client) == [("orr", "spouse", "ilse")]
    with pytest.raises(RpcFailed, match="only what is true now can be undone"):
        await client.call("canon.undo", change_id=rival)


async def test_the_impossible_stays_impossible_for_everybody(client: Client) -> None:
    await committed(client, fact("mara", "dead", "drowned", since=100))
    (name,) = await proposed(client, fact("mara", "says", "hello", since=200))
    with pytest.raises(RpcFailed, match="the dead do nothing any more"):
        await client.call("canon.decide", change_id=name, verdict="accept", reason="please")
    rejected = await client.call("canon.decide", change_id=name, verdict="reject", reason="She is dead.")
    assert (rejected["status"], rejected["decision"]["reason"]) == ("rejected", "She is dead.")


async def test_a_change_can_be_accepted_in_other_words(client: Client) -> None:
    (name,) = await proposed(client, fact("orr", "likes", "fish"), authority="player", confidence=0.5)
    words = fact("orr", "likes", "herring")
    decided = await client.call(
        "canon.decide", change_id=name, verdict="accept", reason="herring, really", content=words
    )
    assert decided["change_id"] != name and await true_facts(client) == [("orr", "likes", "herring")]
    assert (await client.call("canon.get", change_id=name))["status"] == "rejected"


async def test_the_graph_answers_what_is_near_what_was_true_then_and_how_things_connect(client: Client) -> None:
    await committed(
        client,
        entity("orr"),
        entity("mara"),
        entity("tower", "place"),
        fact("orr", "keeps", "tower", since=10, until=50),
        fact("mara", "built", "tower", since=5),
        fact("mara", "likes", "herring"),
    )
    near = await client.call("canon.graph", world_id="sarn", centre="orr", hops=2)
    assert [node["id"] for node in near["nodes"]] == ["orr", "tower", "mara"]
    assert {(edge["from"], edge["kind"], edge["to"]) for edge in near["edges"]} == {
        ("orr", "keeps", "tower"),
        ("mara", "built", "tower"),
    }
    later = await client.call("canon.graph", world_id="sarn", centre="orr", hops=1, at=60)
    assert later["edges"] == []
    path = await client.call("canon.path", world_id="sarn", **{"from": "orr", "to": "herring"})
    assert path["entities"] == ["orr", "tower", "mara", "herring"]
    nowhere = await client.call("canon.path", world_id="sarn", **{"from": "orr", "to": "moon"})
    assert nowhere["entities"] == []
    assert (await client.call("entity.get", world_id="sarn", entity_id="tower"))["kind"] == "place"


async def test_what_changed_since_a_version_is_told_in_order(client: Client) -> None:
    first = await committed(client, fact("orr", "likes", "bread"))
    second = await committed(client, fact("orr", "likes", "fish"))
    since = await client.call("canon.since", world_id="sarn", version=1)
    assert ([one["change_id"] for one in since["changes"]], since["version"]) == (second, 2)
    await client.call("canon.undo", change_id=first[0])
    since = await client.call("canon.since", world_id="sarn", version=2)
    assert [(one["change_id"], one["status"]) for one in since["changes"]] == [(first[0], "undone")]


async def test_a_world_keeps_its_own_policy_and_is_not_deleted_with_its_canon(client: Client) -> None:
    policy = (await client.call("canon.policy.get", world_id="sarn"))["policy"]
    await client.call("canon.policy.update", world_id="sarn", policy={**policy, "accept_at": 1.0})
    (name,) = await proposed(client, fact("orr", "likes", "bread"), confidence=0.9)
    await client.call("canon.review", world_id="sarn")
    assert (await client.call("canon.get", change_id=name))["status"] == "pending"
    await client.call("canon.decide", change_id=name, verdict="accept", reason="yes")
    with pytest.raises(RpcFailed, match="has canon, which is kept"):
        await client.call("world.delete", world_id="sarn")
    with pytest.raises(RpcFailed, match="reject_below is at most accept_at"):
        await client.call("canon.policy.update", world_id="sarn", policy={**policy, "accept_at": 0.1})


async def test_in_a_large_world_a_change_is_held_against_all_that_it_could_contradict(client: Client) -> None:
    for part in range(3):
        await committed(client, *(fact(f"gull{part * 200 + n}", "eats", f"herring {n}") for n in range(200)))
    await committed(client, entity("orr"), fact("orr", "mother", "Ada"))
    axiom = {"kind": "axiom", "text": "Nothing eats a herring.", "predicate": "eats", "object": "herring 199"}
    rival, broken, fine = await proposed(
        client, fact("orr", "mother", "Ilse"), axiom, fact("orr", "likes", "bread"), authority="source"
    )
    judged = {
        one["change_id"]: one["verdict"]
        for one in (await client.call("canon.review", world_id="sarn", dry_run=True))["judged"]
    }
    assert judged[rival]["result"] == "reject" and "one at a time" in judged[rival]["steps"][-1]["sentence"]
    assert judged[broken]["critical"] and len(judged[broken]["contradicts"]) == 3
    assert judged[fine]["result"] == "accept"
