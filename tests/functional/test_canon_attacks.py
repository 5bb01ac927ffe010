"""Canon under attack: what would leave two truths that exclude each other, or slip past a rule, is refused."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from tests.conftest import Place
from tests.functional.test_canon_in_plays import campaign, started
from tests.live import Client, RpcFailed, live_server

Doc = dict[str, Any]
SOURCE = [{"type": "source", "ref": "chapter 1"}]


@pytest.fixture
async def client(place: Place) -> AsyncIterator[Client]:
    place.settings.data_folder.mkdir(exist_ok=True)
    async with live_server(place.settings.data_folder, database_url=place.settings.database_url) as client:
        yield client


def fact(subject: str, predicate: str, object: str = "yes", **more: Any) -> Doc:
    return {"kind": "fact", "subject": subject, "predicate": predicate, "object": object, **more}


async def proposed(client: Client, session: str | None, content: Doc, authority: str = "gm") -> str:
    given = {} if session else {"world_id": "sarn"}
    change = {"content": content, "evidence": SOURCE, "authority": authority}
    (made,) = (await client.call("canon.propose", session, changes=[change], **given))["changes"]
    return str(made["change_id"])


async def true(client: Client, session: str | None, content: Doc) -> str:
    name = await proposed(client, session, content)
    await client.call("canon.decide", session, change_id=name, verdict="accept", reason="It is so.")
    return name


async def verdict(client: Client, content: Doc, authority: str = "source") -> Doc:
    """What would become of a change of the world; it is not kept."""
    name = await proposed(client, None, content, authority)
    judged = (await client.call("canon.review", world_id="sarn", dry_run=True))["judged"]
    await client.call("canon.decide", change_id=name, verdict="reject", reason="only asked")
    (found,) = [one["verdict"] for one in judged if one["change_id"] == name]
    return dict(found)


@pytest.mark.parametrize("in_a_play", [False, True])
async def test_an_undo_never_brings_back_what_contradicts_what_became_true_meanwhile(
    client: Client, in_a_play: bool
) -> None:
    story = await campaign(client)
    session = await started(client, story) if in_a_play else None
    first = await true(client, session, fact("tower", "intact"))
    second = await true(client, session, fact("tower", "destroyed"))
    third = await true(client, session, fact("tower", "destroyed", "by fire", since=9))
    with pytest.raises(RpcFailed, match=f"Undo {third} first"):
        await client.call("canon.undo", session, change_id=second)
    await client.call("canon.undo", session, change_id=third)
    await client.call("canon.undo", session, change_id=second)
    assert (await client.call("canon.get", session, change_id=first)).get("replaced_by") is None


async def test_a_chain_of_replacements_is_undone_from_its_end(client: Client) -> None:
    await campaign(client)
    names = [await true(client, None, fact("mara", "spouse", who)) for who in ("Orr", "Ilse", "Tam")]
    for early in names[:2]:
        with pytest.raises(RpcFailed, match="only what is true now"):
            await client.call("canon.undo", change_id=early)
    for number in (2, 1):
        await client.call("canon.undo", change_id=names[number])
        listed = (await client.call("fact.list", world_id="sarn", about="mara"))["changes"]
        spouses = [one["change_id"] for one in listed if one["content"]["predicate"] == "spouse"]
        assert spouses == [names[number - 1]]


async def test_the_dead_do_nothing_until_they_come_back(client: Client) -> None:
    await campaign(client)
    await true(client, None, fact("orr", "dead", since=10, until=20))
    await true(client, None, fact("ada", "dead"))
    for deed, blocked in (
        (fact("orr", "attacks", "mara", since=15), True),
        (fact("orr", "attacks", "mara", since=20), False),
        (fact("orr", "attacks", "mara", since=10), False),
        ({"kind": "event", "what": "Orr walks.", "who": ["mara", "orr"], "at": 19}, True),
        ({"kind": "event", "what": "Orr walks.", "who": ["mara", "orr"], "at": 21}, False),
        (fact("ada", "attacks", "mara", since=1), True),
        ({"kind": "event", "what": "Ada walks.", "who": ["ada"], "at": 3}, True),
    ):
        assert (await verdict(client, deed, "gm"))["critical"] is blocked, deed


async def test_other_letters_for_the_same_name_slip_past_no_rule(client: Client) -> None:
    await campaign(client)
    await true(
        client, None, {"kind": "axiom", "text": "Nobody owns Zo\u00eb.", "predicate": "owns", "object": "Zo\u00eb"}
    )
    await true(client, None, fact("mara", "spouse", "Zo\u00eb"))
    for spelled in ("Zoe\u0308", "ZO\u00cb", "Zo\u200b\u00eb", " \uff3ao\u00eb "):
        assert (await verdict(client, fact("orr", "owns", spelled), "gm"))["critical"], spelled
        assert (await verdict(client, fact("mara", "spouse", spelled)))["result"] == "accept", "it is the same spouse"


async def test_a_tie_that_ends_before_it_began_is_none(client: Client) -> None:
    story = await campaign(client)
    session = await started(client, story)
    for content in (
        {"kind": "relationship", "subject": "mara", "predicate": "spouse", "object": "orr", "since": 9, "until": 3},
        fact("mara", "spouse", "Orr", since=9, until=9),
    ):
        for where in (None, session):
            with pytest.raises(RpcFailed, match="ends after it began"):
                await proposed(client, where, content)


async def test_spans_that_touch_follow_each_other_and_spans_that_overlap_do_not(client: Client) -> None:
    await campaign(client)
    await true(client, None, fact("mara", "ruler_of", "Sarn", since=10, until=20))
    for span, result in (
        ({"since": 20, "until": 30}, "accept"),
        ({"since": 0, "until": 10}, "accept"),
        ({"since": 19, "until": 30}, "reject"),
        ({"since": 0, "until": 11}, "reject"),
        ({"since": 5}, "accept"),
        ({"until": 11}, "reject"),
        ({}, "reject"),
    ):
        assert (await verdict(client, fact("mara", "ruler_of", "Toll", **span)))["result"] == result, span


async def test_a_play_whose_world_changed_meanwhile_is_promoted_against_the_world_as_it_is(client: Client) -> None:
    story = await campaign(client)
    session, other = await started(client, story), await started(client, story)
    await true(client, session, fact("mara", "mother", "Ada"))
    await true(client, other, fact("mara", "mother", "Ilse"))
    await true(client, None, fact("mara", "father", "Orr"))
    assert (await client.call("canon.promote", session))["accepted"] == 1
    rival = await client.call("canon.promote", other, dry_run=True)
    assert rival["judged"][0]["verdict"]["contradicts"], "the other play comes too late, and is told so"
    world = [one["content"] for one in (await client.call("fact.list", world_id="sarn", about="mara"))["changes"]]
    assert [one["object"] for one in world if one["predicate"] == "mother"] == ["Ada"]
