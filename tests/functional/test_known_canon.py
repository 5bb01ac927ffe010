"""`canon.known`: what a player is told of what is true in the world of a play, and what authors are told besides."""

from __future__ import annotations

import asyncio

import pytest
from tests.free_world import free_session
from tests.functional.test_canon_in_plays import campaign, client, open_gate, started
from tests.functional.test_followers import all_done
from tests.live import Client, RpcFailed

from fabula.actions.canon.known_canon import MOST_PROPOSED, MOST_STAGED
from fabula.actions.setups.seen_canon import MOST_TOUCHING
from fabula.ports.actors import Actor
from fabula.story.canon import Change, Decision, Evidence, FactContent, Step, Verdict

__all__ = ["client"]
DEBT = "Mara owes a debt."
SWORN = "Mara is sworn to the Old Gate."


def sentences(known: dict[str, object]) -> list[str]:
    truths = known["truths"]
    assert isinstance(truths, list)
    return [one["sentence"] for one in truths]


async def test_a_player_is_told_what_everybody_may_know_of_those_in_the_scene(client: Client) -> None:
    session = await started(client, await campaign(client))
    known = await client.call("canon.known", session)
    assert sentences(known) == [SWORN]
    assert {one["name"]: one["kind"] for one in known["entities"]} == {"the Old Gate": "place"}
    assert known["staged"] == []


async def test_an_author_who_asks_for_everything_is_told_who_else_knows(client: Client) -> None:
    session = await started(client, await campaign(client))
    known = await client.call("canon.known", session, everything=True)
    assert sentences(known) == [SWORN, DEBT]
    assert [one["known_to"] for one in known["truths"]] == [[], ["orr"]]


async def test_who_is_asked_about_is_told_of(client: Client) -> None:
    session = await started(client, await campaign(client))
    assert sentences(await client.call("canon.known", session, about="old-gate")) == [SWORN]
    assert sentences(await client.call("canon.known", session, about="nobody-there")) == []
    with pytest.raises(RpcFailed):
        await client.call("canon.known", session, about="x" * 201)


async def test_a_player_who_guesses_an_id_is_not_told_of_what_only_others_know(client: Client) -> None:
    session = await free_session(client)
    for guessed in ("wheel", "bell"):
        known = await client.call("canon.known", session, about=guessed)
        assert known["entities"] == known["truths"] == []
        known = await client.call("canon.known", session, about=guessed, everything=True)
        assert [one["entity_id"] for one in known["entities"]][:1] == [guessed]
    told = await client.call("canon.known", session, about="chapel")
    assert [one["name"] for one in told["entities"]] == ["the Chapel"]


async def test_what_the_play_proposed_stands_there_with_its_verdict_and_is_hidden_by_going_back(client: Client) -> None:
    session = await started(client, await campaign(client))
    await client.turn(session, "I look at the gate.")
    before = (await client.call("session.get", session))["head_turn_id"]
    await open_gate(client, session)
    await all_done(client)
    (staged,) = (await client.call("canon.known", session))["staged"]
    assert (staged["sentence"], staged["status"]) == ("The Old Gate is opened by a traveller.", "committed")
    assert staged["result"] == "accept" and staged["because"].endswith(".")
    await client.call("session.switch_branch", session, turn_id=before)
    assert (await client.call("canon.known", session))["staged"] == []


async def test_of_very_many_truths_those_that_became_true_last_are_told(client: Client) -> None:
    session = await started(client, await campaign(client))
    verdict = Verdict(result="accept", weight=1.0, steps=[Step(rule="accept_at", found=1.0, sentence="It is so.")])
    facts = [
        Change(
            change_id=f"saw-{number:04}",
            world_id="sarn",
            content=FactContent(subject="player", predicate="saw", object=f"star {number}"),
            authority="gm",
            proposer="author",
        )
        for number in range(MOST_TOUCHING + 10)
    ]
    async with client.house.store.writing() as unit:
        decision = Decision(by="author", at_ms=1, reason="it is so")
        await unit.canon.commit_new([(fact, verdict) for fact in facts], decision)
    known = await client.call("canon.known", session)
    assert sentences(known)[-1].endswith(f"star {MOST_TOUCHING + 9}.") and len(known["truths"]) == 200
    assert known["left_out"] == MOST_TOUCHING - 200
    assert [one["name"] for one in (await client.call("canon.known", session, about="old-gate"))["entities"]] == [
        "the Old Gate"
    ]


async def test_of_truths_that_are_very_long_together_the_newest_are_read(client: Client) -> None:
    session = await started(client, await campaign(client))
    verdict = Verdict(result="accept", weight=1.0, steps=[Step(rule="accept_at", found=1.0, sentence="It is so.")])
    evidence = [Evidence(type="source", ref="the book", quote="x" * 1000)] * 20
    facts = [
        Change(
            change_id=f"saw-{number:03}",
            world_id="sarn",
            content=FactContent(subject="player", predicate="saw", object=f"star {number}"),
            evidence=evidence,
            authority="gm",
            proposer="author",
        )
        for number in range(450)
    ]
    async with client.house.store.writing() as unit:
        decision = Decision(by="author", at_ms=1, reason="it is so")
        await unit.canon.commit_new([(fact, verdict) for fact in facts], decision)
    known = await client.call("canon.known", session)
    assert sentences(known)[-1].endswith("star 449.") and len(known["truths"]) == 200
    assert 0 < known["left_out"] < 450 - 200


async def test_of_very_many_proposals_of_a_play_the_last_are_looked_through(client: Client) -> None:
    session = await started(client, await campaign(client))
    head = (await client.call("session.get", session))["head_turn_id"]
    staged = [
        Change(
            change_id=f"seen-{number:04}",
            world_id="sarn",
            session_id=session,
            turn_id=head,
            content=FactContent(subject="mara", predicate="saw", object=f"star {number}", known_to=[*known_to]),
            authority="system",
            proposer="rules",
        )
        for number, known_to in enumerate([()] * 10 + [("orr",)] * (MOST_PROPOSED - 5))
    ]
    async with client.house.store.writing() as unit:
        await unit.canon_layers.stage(staged)
    known = (await client.call("canon.known", session))["staged"]
    assert [one["change_id"] for one in known] == [f"seen-{number:04}" for number in (9, 8, 7, 6, 5)]
    everything = await client.call("canon.known", session, everything=True)
    assert len(everything["staged"]) == MOST_STAGED


async def test_of_those_who_ask_what_is_known_at_once_a_few_are_answered_and_nobody_else_waits(client: Client) -> None:
    session = await started(client, await campaign(client))
    queue = client.house.canon_questions
    ann, ben = (Actor(role="player", token_id=name) for name in ("ann", "ben"))
    async with queue.turn_of(ann), queue.turn_of(ben):
        asking = asyncio.create_task(client.call("canon.known", session))
        await client.turn(session, "I look at the gate.")
        assert not asking.done()
    assert sentences(await asking) == [SWORN]
