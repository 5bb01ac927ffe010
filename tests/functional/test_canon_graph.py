"""Questions to the knowledge graph over HTTP, and entities that are put right."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text
from tests.live import Client, RpcFailed, live_server

from fabula.adapters.stores.canon import MANY_ROWS
from fabula.adapters.stores.unit import SqlUnit
from fabula.ports.store import Store
from fabula.story.canon import Change, Decision, FactContent, Step, Verdict


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[Client]:
    async with live_server(tmp_path) as client:
        await client.call("world.create", world_id="sarn", display_name="Sarn")
        yield client


def entity(id: str, kind: str = "character", **more: Any) -> dict[str, Any]:
    return {"kind": "entity", "entity_id": id, "entity_kind": kind, "name": id.title(), **more}


def fact(subject: str, predicate: str, object: str, **more: Any) -> dict[str, Any]:
    return {"kind": "fact", "subject": subject, "predicate": predicate, "object": object, **more}


async def told(client: Client, *contents: dict[str, Any]) -> list[str]:
    """Makes contents canon; answers the ids of their changes."""
    evidence = [{"type": "source", "ref": "chapter 1"}]
    changes = [{"content": content, "evidence": evidence} for content in contents]
    answer = await client.call("canon.propose", world_id="sarn", changes=changes)
    review = await client.call("canon.review", world_id="sarn")
    assert review["accepted"] == len(contents), review
    return [one["change_id"] for one in answer["changes"]]


async def test_a_graph_of_some_kinds_keeps_its_centre_and_counts_what_it_leaves_out(client: Client) -> None:
    await told(client, entity("orr"), entity("mara"), entity("tower", "place"))
    await told(client, fact("orr", "keeps", "tower"), fact("orr", "likes", "mara"), fact("orr", "eats", "herring"))
    people = await client.call("canon.graph", world_id="sarn", centre="orr", kinds=["character"])
    assert [(node["id"], node["kind"]) for node in people["nodes"]] == [("orr", "character"), ("mara", "character")]
    assert [edge["kind"] for edge in people["edges"]] == ["likes"]
    few = await client.call("canon.graph", world_id="sarn", centre="orr", limit=2)
    assert (len(few["nodes"]), few["left_out"]) == (2, 2)


async def test_facts_are_listed_in_parts_by_who_they_are_about_and_when_they_held(client: Client) -> None:
    names = await told(client, *(fact("orr", "owes", f"debt {n}", since=n, until=n + 10) for n in range(5)))
    first = await client.call("fact.list", world_id="sarn", about="orr", limit=2)
    rest = await client.call("fact.list", world_id="sarn", about="orr", cursor=first["next_cursor"])
    assert [one["change_id"] for one in [*first["changes"], *rest["changes"]]] == names
    then = await client.call("fact.list", world_id="sarn", about="orr", at=11)
    assert [one["content"]["object"] for one in then["changes"]] == ["debt 2", "debt 3", "debt 4"]


async def test_a_path_is_found_from_both_ends_and_each_edge_leads_on(client: Client) -> None:
    chain = [f"n{n}" for n in range(6)]
    await told(client, *(fact(one, "leads_to", other) for one, other in itertools.pairwise(chain)))
    path = await client.call("canon.path", world_id="sarn", **{"from": "n5", "to": "n0"})
    assert path["entities"] == chain[::-1]
    assert [(edge["from"], edge["to"]) for edge in path["edges"]] == list(itertools.pairwise(chain))[::-1]
    alone = await client.call("canon.path", world_id="sarn", **{"from": "n0", "to": "n0"})
    assert (alone["entities"], alone["edges"]) == (["n0"], [])
    none = await client.call("canon.path", world_id="sarn", **{"from": "n0", "to": "elsewhere"})
    assert none["entities"] == []


async def test_those_know_a_fact_whom_it_is_about_and_those_who_were_told(client: Client) -> None:
    await told(client, entity("orr"), entity("mara"), entity("ilse"), entity("tower", "place"))
    (secret,) = await told(client, fact("orr", "burned", "tower", since=5))
    await told(client, fact("ilse", "knows", secret, since=9), fact("mara", "forgot", secret))
    found = await client.call("canon.who_knows", fact_id=secret)
    assert [(one["entity_id"], one["how"], one["since"]) for one in found["knowers"]] == [
        ("orr", "took_part", 5),
        ("ilse", "told", 9),
    ]
    with pytest.raises(RpcFailed, match="no fact named"):
        await client.call("canon.who_knows", fact_id="change_none")


async def test_a_timeline_is_told_by_moments_with_a_lane_for_everybody_in_it(client: Client) -> None:
    await told(client, entity("orr"), entity("mara"))
    await told(
        client,
        {"kind": "event", "what": "The tower fell", "who": ["orr", "mara"], "at": 30},
        fact("orr", "keeps", "tower", since=10, until=30),
        fact("orr", "likes", "herring"),
    )
    line = await client.call("timeline.list", world_id="sarn")
    assert [(one["at"], one["sentence"]) for one in line["moments"]] == [
        (10, "orr keeps tower"),
        (30, "The tower fell"),
    ]
    assert [(lane["id"], lane["degree"]) for lane in line["lanes"]] == [("orr", 2), ("mara", 1)]
    first = await client.call("timeline.list", world_id="sarn", limit=1)
    rest = await client.call("timeline.list", world_id="sarn", cursor=first["next_cursor"])
    assert [one["at"] for one in rest["moments"]] == [30]
    later = await client.call("timeline.list", world_id="sarn", **{"from": 11, "to": 30})
    assert later["moments"] == []
    with pytest.raises(RpcFailed, match="names nothing in this list"):
        await client.call("timeline.list", world_id="sarn", cursor="timeline:soon~x")


async def test_an_entity_is_described_anew_and_undo_brings_the_old_words_back(client: Client) -> None:
    (old,) = await told(client, entity("orr", description="A keeper."))
    view = await client.call(
        "entity.update", world_id="sarn", entity_id="orr", description="A liar.", aliases=["Keeper"]
    )
    assert (view["name"], view["description"], view["aliases"]) == ("Orr", "A liar.", ["Keeper"])
    assert (await client.call("canon.get", change_id=old))["replaced_by"] == view["change_id"]
    same = await client.call("entity.update", world_id="sarn", entity_id="orr", description="A liar.")
    assert same["change_id"] == view["change_id"]
    await client.call("canon.undo", change_id=view["change_id"])
    again = await client.call("entity.get", world_id="sarn", entity_id="orr")
    assert (again["description"], again["change_id"]) == ("A keeper.", old)


async def test_two_entities_become_one_with_all_that_is_known_of_both(client: Client) -> None:
    await told(client, entity("orr"), entity("stranger", aliases=["The man in grey"]), entity("mara"))
    await told(
        client, fact("stranger", "stole", "lamp"), fact("mara", "fears", "stranger"), fact("orr", "keeps", "lamp")
    )
    merged = await client.call("entity.merge", world_id="sarn", entity_id="orr", other_id="stranger")
    assert (merged["moved"], merged["entity"]["aliases"]) == (2, ["Stranger", "The man in grey"])
    facts = await client.call("fact.list", world_id="sarn", about="orr")
    assert {one["content"]["predicate"] for one in facts["changes"]} == {"stole", "fears", "keeps"}
    with pytest.raises(RpcFailed, match="Canon knows no 'stranger'"):
        await client.call("entity.get", world_id="sarn", entity_id="stranger")
    assert (await client.call("fact.list", world_id="sarn", about="stranger"))["changes"] == []


async def test_two_of_whom_canon_says_what_cannot_be_true_of_one_stay_two(client: Client) -> None:
    await told(client, entity("orr"), entity("stranger"))
    await told(client, fact("orr", "born_in", "Sarn"), fact("stranger", "born_in", "Kel"))
    with pytest.raises(RpcFailed, match="They cannot be the same"):
        await client.call("entity.merge", world_id="sarn", entity_id="orr", other_id="stranger")
    with pytest.raises(RpcFailed, match="name two"):
        await client.call("entity.merge", world_id="sarn", entity_id="orr", other_id="orr")
    assert (await client.call("entity.get", world_id="sarn", entity_id="stranger"))["name"] == "Stranger"


async def test_words_of_a_world_that_do_not_fit_are_refused_with_a_sentence(client: Client) -> None:
    for words, problem in (
        ({"description": "x" * 20_001}, "description"),
        ({"genre": "x" * 201}, "genre"),
        ({"game_system_id": "((1"}, "game_system_id"),
    ):
        for method, more in (
            ("world.create", {"world_id": "new", "display_name": "N"}),
            ("world.update", {"world_id": "sarn"}),
        ):
            with pytest.raises(RpcFailed, match=f"do not fit: {problem}"):
                await client.call(method, **more, **words)


async def test_a_world_of_which_something_was_proposed_is_not_deleted(client: Client) -> None:
    await client.call("canon.propose", world_id="sarn", changes=[{"content": fact("orr", "likes", "fish")}])
    with pytest.raises(RpcFailed, match="has canon, which is kept"):
        await client.call("world.delete", world_id="sarn")
    await client.call("world.create", world_id="empty", display_name="Empty")
    assert (await client.call("world.delete", world_id="empty"))["world_id"] == "empty"


async def test_postgres_knows_of_many_new_changes_as_soon_as_they_are_canon(postgres_store: Store) -> None:
    async with postgres_store.writing() as unit:
        assert isinstance(unit, SqlUnit)
        step = Step(rule="accept_at", found=1.0, sentence="1 is at least 0.7.")
        verdict = Verdict(result="accept", weight=1.0, steps=[step])
        for number in range(MANY_ROWS):
            content = FactContent(subject=f"e{number}", predicate="owes", object=f"e{number // 2}")
            await unit.canon.propose(
                Change(change_id=f"c{number}", world_id="w", content=content, authority="gm", proposer="author")
            )
        names = [(f"c{number}", verdict) for number in range(MANY_ROWS)]
        await unit.canon.commit(names, Decision(by="keeper", at_ms=1, reason="it is so"))
        # Until it has statistics, Postgres may take an index of all objects to look for one subject.
        known = text("SELECT n_distinct FROM pg_stats WHERE tablename = 'canon_changes' AND attname = 'subject'")
        found = await unit.canon._connection.execute(known)
        assert found.scalar() == -1, "each subject stands for one row"
