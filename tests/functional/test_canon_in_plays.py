"""Canon in plays: what turns propose hangs on their line, is judged when a scene ends, and going back hides it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import Place
from tests.functional.test_followers import all_done
from tests.functional.test_hot_path import followers_held_up
from tests.live import GATE_GRAPH, Client, RpcFailed, bodies, gate_story, live_server
from tests.scripted import theatre

from fabula.actions.canon.keeper import commit_line
from fabula.testing.model_script import Say

OPENED = {"predicate": "opened_by", "subject": "old-gate", "object": "a traveller"}


@pytest.fixture
async def client(place: Place) -> AsyncIterator[Client]:
    place.settings.data_folder.mkdir(exist_ok=True)
    async with live_server(place.settings.data_folder, database_url=place.settings.database_url) as client:
        yield client


async def campaign(client: Client) -> str:
    """The small story in a world of which an author says a few things; its gate speaks of the world when it opens."""
    story = await gate_story(client)
    await client.call("world.create", world_id="sarn", display_name="Sarn", game_system_id="d20")
    fields = {"gate_open": {"value_type": "bool", "default": False, "canon": OPENED}}
    await client.call("schema.update", schema_id="gate-world", fields=fields)
    gate = {"kind": "entity", "entity_id": "old-gate", "entity_kind": "place", "name": "the Old Gate"}
    mara = {"kind": "fact", "subject": "mara", "predicate": "sworn_to", "object": "old-gate"}
    secret = {"kind": "fact", "subject": "mara", "predicate": "owes", "object": "a debt", "known_to": ["orr"]}
    await client.call("canon.propose", world_id="sarn", changes=[{"content": one} for one in (gate, mara, secret)])
    evidence = {"reason": "the author says so"}
    for change in (await client.call("canon.list", world_id="sarn"))["changes"]:
        await client.call("canon.decide", change_id=change["change_id"], verdict="accept", **evidence)
    await client.call("story.update", story_id=story, world_id="sarn")
    return story


async def started(client: Client, story: str, **more: Any) -> str:
    return str((await client.call("story.start_session", story_id=story, **more))["session_id"])


async def facts(client: Client, session: str) -> list[tuple[str, str, str]]:
    listed = (await client.call("fact.list", session))["changes"]
    return [tuple(one["content"][part] for part in ("subject", "predicate", "object")) for one in listed]


async def changes(client: Client, session: str) -> list[tuple[str, str]]:
    listed = (await client.call("canon.list", session))["changes"]
    return [(one["content"]["predicate"], one["status"]) for one in listed]


async def open_gate(client: Client, session: str) -> list[dict[str, Any]]:
    """Goes through the gate by hand and says a word, which ends the story."""
    op = {"type": "SetState", "key": "gate_open", "value": True}
    await client.call("session.update_variables", session, update={"ops": [op]})
    return bodies(await client.turn(session, "I walk through the gate."))


WORLD_FACTS = [("mara", "sworn_to", "old-gate"), ("mara", "owes", "a debt")]


async def test_a_lasting_wound_is_staged_in_the_turn_and_stands_in_its_result(client: Client) -> None:
    session = await started(client, await campaign(client), seed=1)
    for _ in range(6):
        frames = await client.turn(session, "I attack Mara.")
        staged = [body for body in bodies(frames) if body["type"] == "change_staged"]
        if staged:
            break
    assert staged and staged[0]["sentence"].startswith("Mara hp ")
    assert frames[-1]["response"]["result"]["staged"][0] == {
        "change_id": staged[0]["change_id"],
        "sentence": staged[0]["sentence"],
    }
    assert ("hp", "pending") in await changes(client, session)
    change = await client.call("canon.get", session, change_id=staged[0]["change_id"])
    assert change["evidence"][0]["type"] == "roll" and change["authority"] == "source"
    assert await facts(client, session) == WORLD_FACTS


async def test_when_the_scene_ends_the_keeper_commits_and_every_other_play_sees_only_the_world(client: Client) -> None:
    story = await campaign(client)
    session, other = await started(client, story), await started(client, story)
    assert await facts(client, session) == WORLD_FACTS
    await open_gate(client, session)
    await all_done(client)
    assert await facts(client, session) == [*WORLD_FACTS, ("old-gate", "opened_by", "a traveller")]
    assert await facts(client, other) == WORLD_FACTS
    of_world = (await client.call("fact.list", world_id="sarn"))["changes"]
    assert [one["content"]["predicate"] for one in of_world] == ["sworn_to", "owes"]
    (commit, *_) = (await client.call("canon.commits", session))["commits"]
    assert (commit["status"], commit["accepted"]) == ("committed", 1)


async def test_going_back_hides_what_came_later_and_coming_again_finds_it(client: Client) -> None:
    session = await started(client, await campaign(client))
    await client.turn(session, "I look at the gate.")
    before = (await client.call("session.get", session))["head_turn_id"]
    await open_gate(client, session)
    await all_done(client)
    after, there = await facts(client, session), (await client.call("session.get", session))["head_turn_id"]
    await client.call("session.switch_branch", session, turn_id=before)
    assert await facts(client, session) == WORLD_FACTS and await changes(client, session) == []
    await client.call("session.switch_branch", session, turn_id=there)
    assert await facts(client, session) == after


async def test_what_one_branch_decided_is_still_open_on_another(client: Client) -> None:
    session = await started(client, await campaign(client))
    content = {"kind": "fact", "subject": "mara", "predicate": "likes", "object": "riddles"}
    staged = await client.call("canon.propose", session, changes=[{"content": content, "confidence": 0.9}])
    (change,) = [one["change_id"] for one in staged["changes"]]
    here = (await client.call("session.get", session))["head_turn_id"]
    dry = await client.call("canon.review", session, dry_run=True)
    assert (dry["accepted"] + dry["pending"], dry["dry_run"]) == (1, True)
    await client.call("canon.decide", session, change_id=change, verdict="accept", reason="She does.")
    assert await changes(client, session) == [("likes", "committed")]
    await client.call("session.switch_branch", session, turn_id=here)
    assert await changes(client, session) == [("likes", "pending")]
    await client.call("canon.decide", session, change_id=change, verdict="reject", reason="Not on this road.")
    assert await changes(client, session) == [("likes", "rejected")]


async def test_undo_in_a_play_is_a_turn_that_can_be_gone_back_from(client: Client) -> None:
    session = await started(client, await campaign(client))
    content = {"kind": "fact", "subject": "mara", "predicate": "likes", "object": "riddles"}
    await client.call("canon.propose", session, changes=[{"content": content}])
    assert (await client.call("canon.review", session))["pending"] == 1
    (change,) = [one["change_id"] for one in (await client.call("canon.list", session))["changes"]]
    decided = await client.call("canon.decide", session, change_id=change, verdict="accept", reason="Yes.")
    true = (await client.call("session.get", session))["head_turn_id"]
    assert decided["status"] == "committed" and ("mara", "likes", "riddles") in await facts(client, session)
    await client.call("canon.undo", session, change_id=change)
    assert await facts(client, session) == WORLD_FACTS
    with pytest.raises(RpcFailed, match="only what is true now"):
        await client.call("canon.undo", session, change_id=change)
    await client.call("session.switch_branch", session, turn_id=true)
    assert ("mara", "likes", "riddles") in await facts(client, session)


async def test_a_play_may_replace_a_truth_of_its_world_for_itself_alone(client: Client) -> None:
    story = await campaign(client)
    spouse = {"kind": "fact", "subject": "mara", "predicate": "spouse", "object": "Orr"}
    (made,) = (await client.call("canon.propose", world_id="sarn", changes=[{"content": spouse}]))["changes"]
    await client.call("canon.decide", change_id=made["change_id"], verdict="accept", reason="written")
    session, other = await started(client, story), await started(client, story)
    rival = {**spouse, "object": "Ilse"}
    (staged,) = (await client.call("canon.propose", session, changes=[{"content": rival}]))["changes"]
    await client.call("canon.decide", session, change_id=staged["change_id"], verdict="accept", reason="here she is")
    assert ("mara", "spouse", "Ilse") in await facts(client, session)
    assert ("mara", "spouse", "Orr") not in await facts(client, session)
    assert ("mara", "spouse", "Orr") in await facts(client, other)
    world = await client.call("fact.list", world_id="sarn")
    assert "Orr" in [one["content"]["object"] for one in world["changes"]]


async def test_an_author_promotes_what_became_canon_in_a_play_and_is_shown_it_first(client: Client) -> None:
    session = await started(client, await campaign(client))
    await open_gate(client, session)
    await all_done(client)
    dry = await client.call("canon.promote", session, dry_run=True)
    assert (dry["accepted"], dry["dry_run"]) == (2, True) and len(dry["judged"]) == 2
    world = await client.call("fact.list", world_id="sarn")
    assert "opened_by" not in [one["content"]["predicate"] for one in world["changes"]]
    done = await client.call("canon.promote", session)
    assert [one["verdict"]["result"] for one in done["judged"]] == ["accept", "accept"]
    listed = (await client.call("fact.list", world_id="sarn", about="old-gate"))["changes"]
    (fact,) = [one for one in listed if one["content"]["predicate"] == "opened_by"]
    assert "player" not in fact["content"]["known_to"]
    assert (await client.call("canon.promote", session))["judged"] == []


async def test_a_story_without_a_world_gets_a_private_one_when_it_is_needed(client: Client) -> None:
    story = await gate_story(client)
    session = await started(client, story)
    await client.turn(session, "I look at the gate.")
    assert (await client.call("world.list"))["worlds"] == []
    content = {"kind": "fact", "subject": "mara", "predicate": "likes", "object": "riddles"}
    await client.call("canon.propose", session, changes=[{"content": content}])
    (world,) = (await client.call("world.list"))["worlds"]
    assert (world["story_id"], world["world_id"]) == (story, f"private.{story}")
    assert await changes(client, session) == [("likes", "pending")]


async def test_prompts_have_what_is_true_around_the_cast_as_far_as_it_may_be_known(client: Client) -> None:
    session = await started(client, await campaign(client))
    for text in (
        await prompt(client, session, "narrator"),
        await prompt(client, session, "actor", character_id="mara"),
    ):
        assert "Mara is sworn to the Old Gate." in text and "a debt" not in text
    without = await started(client, await second_story(client))
    assert "What is true in this world" not in await prompt(client, without, "narrator")


async def prompt(client: Client, session: str, role: str, **more: Any) -> str:
    presets = (await client.call("preset.list"))["presets"]
    shown = await client.call("preset_preview.runtime", session, preset_id=presets[0]["preset_id"], agent=role, **more)
    return str(shown)


async def second_story(client: Client) -> str:
    """A story of the same parts that belongs to no world."""
    listed = await client.call("story_resources.list")
    resource = listed[next(key for key in listed if isinstance(listed[key], list))][0]["resource_id"]
    made = await client.call(
        "story.create",
        resource_id=resource,
        display_name="Another Gate",
        graph=GATE_GRAPH,
        world_schema_id="gate-world",
        player_schema_id="gate-player",
        introduction="Rain.",
    )
    return str(made["story_id"])


async def test_a_scene_is_finalizing_until_its_keeper_is_done_and_who_is_stopped_leaves_nothing(client: Client) -> None:
    session = await started(client, await campaign(client))
    with followers_held_up(client):
        await open_gate(client, session)
        head = (await client.call("session.get", session))["head_turn_id"]
        states = set()
        for steps in range(40):
            keeper = asyncio.create_task(commit_line(client.house, session, head))
            for _ in range(steps):
                await asyncio.sleep(0)
            keeper.cancel()
            await asyncio.wait([keeper])
            (commit, *_) = (await client.call("canon.commits", session))["commits"]
            states.add((commit["status"], await facts(client, session) == WORLD_FACTS))
        # Whenever it was stopped, either all of it was done or nothing.
        assert ("finalizing", True) in states <= {("finalizing", True), ("committed", False)}
        await asyncio.gather(*(commit_line(client.house, session, head) for _ in range(3)))
    assert await facts(client, session) == [*WORLD_FACTS, ("old-gate", "opened_by", "a traveller")]
    assert [one["accepted"] for one in (await client.call("canon.commits", session))["commits"]] == [1]


async def test_a_model_finds_changes_only_where_it_quotes(tmp_path: Path) -> None:
    async with theatre(tmp_path, summaries="auto") as stage:
        client, story = stage.client, stage.story_id
        await client.call("world.create", world_id="sarn", display_name="Sarn")
        await client.call("story.update", story_id=story, world_id="sarn")
        session = await stage.session("swift")
        (told, *_) = [
            body["response"]["text"]
            for body in bodies(await client.turn(session, "I look around."))
            if body["type"] == "narrator_completed"
        ]
        quoted = {"kind": "fact", "subject": "mara", "predicate": "owns", "object": "a key", "quote": told[:40]}
        invented = {**quoted, "object": "the moon", "quote": "Mara owns the moon, as all agree."}
        unknown = {**quoted, "subject": "nobody"}
        stage.troupe.extraction = Say(text=f"Here: {json.dumps([quoted, invented, unknown])}")
        await open_gate(client, session)
        await all_done(client)
        found = [one for one in (await client.call("canon.list", session))["changes"] if one["proposer"] == "extractor"]
        assert [(one["content"]["object"], one["status"]) for one in found] == [("a key", "pending")]


async def test_a_play_with_very_many_changes_still_sees_its_first_ones(client: Client) -> None:
    session = await started(client, await campaign(client))
    first = {"kind": "fact", "subject": "mara", "predicate": "spouse", "object": "Orr"}
    (staged,) = (await client.call("canon.propose", session, changes=[{"content": first}]))["changes"]
    await client.call("canon.decide", session, change_id=staged["change_id"], verdict="accept", reason="They are.")
    here = (await client.call("session.get", session, history="none"))["head_turn_id"]

    async def much(branch: str, most: int) -> None:
        for part in range(0, most, 200):
            contents = [{**first, "predicate": "saw", "object": f"gull {branch}{part + n}"} for n in range(200)]
            await client.call("canon.propose", session, changes=[{"content": one} for one in contents])

    # As much again on a branch that was left: that is no part of this line, and hides nothing of it.
    await much("there", 1200)
    await client.call("session.switch_branch", session, turn_id=here)
    await much("here", 1200)
    assert ("mara", "spouse", "Orr") in await facts(client, session)
    (change,) = (await client.call("canon.list", session, status="committed"))["changes"]
    assert change["change_id"] == staged["change_id"]
    shown = await client.call("canon.get", session, change_id=staged["change_id"])
    assert (shown["status"], shown["content"]["object"]) == ("committed", "Orr")
    # And what is proposed now is held against it.
    (rival,) = (await client.call("canon.propose", session, changes=[{"content": {**first, "object": "Ilse"}}]))[
        "changes"
    ]
    judged = {
        one["change_id"]: one["verdict"] for one in (await client.call("canon.review", session, dry_run=True))["judged"]
    }
    assert len(judged) == 200 and judged[rival["change_id"]]["contradicts"] == [staged["change_id"]]
    assert len((await client.call("canon.promote", session, dry_run=True))["judged"]) == 1
