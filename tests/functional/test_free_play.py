"""Free play: a world and its people, no plot. Scenes end by what the player does, and the story goes on by itself."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import Place
from tests.free_world import BELL, FORD, MILL, WHEEL, free_session
from tests.functional.test_followers import all_done
from tests.functional.test_hot_path import followers_held_up
from tests.live import Client, RpcFailed, bodies, gate_session, live_server

from fabula.actions.canon.advance_world import LONGEST_DURATION

ASK_ORR, ASK_ILSE = "I persuade Orr to tell me.", "I persuade Ilse to tell me."


@pytest.fixture
async def client(tmp_path: Path, place: Place) -> AsyncIterator[Client]:
    async with live_server(tmp_path, database_url=place.settings.database_url) as opened:
        yield opened


async def scenes(client: Client, session: str) -> list[tuple[str, str | None]]:
    """The scenes, oldest first, each with how it ended."""
    listed = (await client.call("scene.list", session))["scenes"]
    return [(one["title"], one.get("outcome")) for one in reversed(listed)]


async def look(client: Client, session: str) -> dict[str, Any]:
    """All that is true of a play where it stands."""
    shown = await client.call("session.get", session)
    return {
        "hash": shown["state_hash"],
        "head": shown["head_turn_id"],
        "lines": [line["text"] for line in shown["history"]],
        "scenes": await client.call("scene.list", session),
        "facts": await client.call("fact.list", session),
        "clocks": await client.call("clock.list", session),
    }


async def last_line(client: Client, session: str) -> str:
    return str((await client.call("session.get", session))["history"][-1]["text"])


async def test_a_world_is_played_in_with_nothing_but_its_canon(client: Client) -> None:
    session = await free_session(client)
    shown = await client.call("session.get", session)
    assert shown["history"][0]["text"].startswith("The mill stands still, and its wheel drips.")
    assert "Orr knows more about the mill wheel" in shown["history"][0]["text"]
    assert shown["snapshot"]["world_state"]["active_characters"] == ["orr"]
    (now,) = (await client.call("scene.list", session))["scenes"]
    assert (now["title"], now["purpose"]) == (MILL, "Persuade Orr to tell what they know about the mill wheel.")
    (loop,) = (await client.call("loop.state", session))["loops"]
    assert (loop["loop"], loop["status"], loop["thread_id"]) == ("story", "sleeping", session)


async def test_leaving_a_place_ends_its_scene_and_the_next_one_begins_by_itself(client: Client) -> None:
    session = await free_session(client)
    told = bodies(await client.turn(session, "I go to the ford."))
    assert [body["outcome"] for body in told if body["type"] == "scene_completed"] == ["left"]
    await all_done(client)
    assert await scenes(client, session) == [(MILL, "left"), (FORD, None)]
    assert "you about the chapel bell, it is Ilse" in await last_line(client, session)
    assert (await client.call("loop.state", session))["loops"][0]["node"] == "run_scene"


async def test_what_is_kept_is_told_when_it_is_got_out_of_somebody_and_leads_to_the_next_scene(client: Client) -> None:
    session = await free_session(client)
    await client.turn(session, "Orr, what do you know about the wheel?")
    assert WHEEL[4:] not in str(await client.call("session.get", session))
    await client.turn(session, ASK_ORR)
    await all_done(client)
    text = [line["text"] for line in (await client.call("session.get", session))["history"]]
    assert any("The mill wheel was stopped by me." in line for line in text)
    assert await scenes(client, session) == [(MILL, "met"), (FORD, None)]
    assert "The ford is a row of stones under brown water." in text[-1]


async def test_the_story_ends_when_nothing_is_kept_any_more_and_what_came_to_light_can_be_promoted(
    client: Client,
) -> None:
    session = await free_session(client)
    await client.turn(session, ASK_ORR)
    await client.turn(session, ASK_ILSE)
    await all_done(client)
    shown = await client.call("session.get", session)
    assert shown["status"] == "ended" and await scenes(client, session) == [(MILL, "met"), (FORD, "met")]
    assert WHEEL in shown["history"][-1]["text"] and BELL in shown["history"][-1]["text"]
    campaign = (await client.call("scene.list", session))["campaign"]
    assert (campaign["arc"]["label"], campaign["found"], campaign["to_find"]) == ("ended", 2, 0)
    assert (await client.call("loop.state", session))["loops"] == []
    offered = await client.call("canon.promote", session, dry_run=True)
    assert offered["dry_run"] and offered["accepted"] >= 2


async def test_after_the_end_a_player_may_walk_about_and_no_scene_begins_or_ends(client: Client) -> None:
    session = await free_session(client)
    for line in (ASK_ORR, ASK_ILSE, "I go to the chapel.", "I look around.", "I go to the mill."):
        assert (await client.turn(session, line))[-1]["type"] == "completed"
        await all_done(client)
    shown = await client.call("session.get", session)
    assert shown["status"] == "ended" and shown["snapshot"]["world_state"]["current_node"] == "mill"
    assert await scenes(client, session) == [(MILL, "met"), (FORD, "met")]


async def test_a_player_who_is_quicker_than_what_follows_a_turn_does_not_wait_for_it(client: Client) -> None:
    session = await free_session(client)
    with followers_held_up(client):
        await client.turn(session, "I go to the ford.")
        await client.turn(session, "I look around.")
        assert await scenes(client, session) == [(MILL, "left"), (FORD, None)]
        lines = [line["text"] for line in (await client.call("session.get", session))["history"]]
    assert sum("you about the chapel bell, it is Ilse" in line for line in lines) == 1


async def test_a_scene_is_ended_by_the_players_word(client: Client) -> None:
    session = await free_session(client)
    with pytest.raises(RpcFailed, match="only just begun"):
        await client.call("session.end_scene", session)
    await client.turn(session, "I look around.")
    ended = await client.call("session.end_scene", session)
    assert (ended["title"], ended["story_ended"], ended["next_scene"]["title"]) == (MILL, False, FORD)
    assert "The mill stands still, and its wheel drips." in ended["summary"]
    assert await scenes(client, session) == [(MILL, "asked"), (FORD, None)]


async def test_the_tree_says_what_the_story_did_by_itself(client: Client) -> None:
    session = await free_session(client)
    await client.turn(session, "I look around.")
    await client.call("session.end_scene", session)
    await client.call("conversation.open", session, character_ids=["ilse"])
    await client.call("session.roll", session, formula="2d6")
    turns = (await client.call("session.branches", session))["turns"]
    assert [(turn["change"], turn["about"]) for turn in turns if turn["kind"] == "amend"] == [
        ("scene_ended", ""),
        ("world_moved", ""),
        ("scene_began", FORD),
        ("talk_began", "Ilse"),
        ("dice_rolled", "2d6"),
    ]
    assert [turn["label"] for turn in turns][3:5] == ["the world moves on", "the next scene: The Ford"]


async def test_a_scene_of_a_written_story_cannot_be_ended_by_a_word(client: Client) -> None:
    session = await gate_session(client)
    with pytest.raises(RpcFailed, match="ends when it is left"):
        await client.call("session.end_scene", session)


async def test_a_scene_has_as_many_turns_as_the_play_says(client: Client) -> None:
    session = await free_session(client, max_turns=2)
    await client.turn(session, "I look around.")
    await client.turn(session, "I wait.")
    await all_done(client)
    assert await scenes(client, session) == [(MILL, "turns"), (FORD, None)]


async def test_going_back_over_scenes_and_what_lay_between_them_is_exact(client: Client) -> None:
    session = await free_session(client)
    await client.call("clock.create", session, clock_id="flood", name="The flood", segments=4, pressure=3, every=30)
    seen = [await look(client, session)]
    for line in ("I look around.", "I go to the chapel.", "I wait.", "I go to the ford.", ASK_ILSE):
        await client.turn(session, line)
        await all_done(client)
        seen.append(await look(client, session))
    for place in reversed(seen):
        await client.call("session.switch_branch", session, turn_id=place["head"])
        assert await look(client, session) == place
    await client.call("session.switch_branch", session, turn_id=seen[-1]["head"])
    assert await look(client, session) == seen[-1]
    await client.call("session.backtrack", session, turns=2)
    again = seen[3]
    assert (await look(client, session))["hash"] == again["hash"]


async def test_a_scene_of_the_past_has_its_own_time_and_the_present_goes_on_after_it(client: Client) -> None:
    session = await free_session(client)
    await client.turn(session, "I look around.")
    begun = await client.call("session.flashback", session, text="Two days ago I stood at the ford.")
    assert (begun["scene"]["title"], begun["scene"]["flashback"]) == (FORD, True)
    assert begun["scene"]["began_minute"] == 10 - 2 * 1440
    with pytest.raises(RpcFailed, match="Not now"):
        await client.call("session.flashback", session, text="And before that.")
    await client.turn(session, ASK_ILSE)
    await all_done(client)
    listed = (await client.call("scene.list", session))["scenes"]
    assert [(one["title"], one.get("outcome"), one.get("flashback")) for one in listed] == [
        (MILL, None, None),
        (FORD, "met", True),
    ]
    assert listed[1]["ended_minute"] < 0 < listed[0]["began_minute"] + 1
    shown = await client.call("session.get", session)
    assert "the Mill" in shown["history"][-1]["text"]
    assert shown["snapshot"]["world_state"]["active_characters"] == ["orr"]
    await client.turn(session, ASK_ORR)
    await all_done(client)
    assert (await client.call("session.get", session))["status"] == "ended"


async def test_the_past_lies_behind_and_not_too_far(client: Client) -> None:
    session = await free_session(client)
    for ago in (0, -5, 2**50, "0 days", "9000000 weeks", "soon"):
        with pytest.raises(RpcFailed):
            await client.call("session.flashback", session, text="I remember.", ago=ago)
    begun = await client.call("session.flashback", session, text="99999 weeks ago I stood at the ford.")
    assert begun["scene"]["began_minute"] == -LONGEST_DURATION


async def test_a_world_without_places_says_what_it_needs(client: Client) -> None:
    await client.call("world.create", world_id="void", display_name="Void")
    with pytest.raises(RpcFailed, match="two places"):
        await client.call("story.start_session", world_id="void")
    with pytest.raises(RpcFailed, match="story_id"):
        await client.call("story.start_session")


async def test_a_canon_that_grew_is_on_the_map_of_the_next_play(client: Client) -> None:
    first = await free_session(client)
    tower = {"kind": "entity", "entity_id": "tower", "entity_kind": "place", "name": "the Tower", "anchor": True}
    evidence = [{"type": "source", "ref": "the book"}]
    await client.call("canon.propose", world_id="vale", changes=[{"content": tower, "evidence": evidence}])
    await client.call("canon.review", world_id="vale")
    second = str((await client.raw("story.start_session", world_id="vale", seed=5))["session_id"])
    await client.turn(second, "I go to the tower.")
    await client.turn(first, "I go to the tower.")
    await all_done(client)
    assert (await scenes(client, second))[-1][0] == "The Tower" and (await scenes(client, first))[-1][0] == MILL


async def test_nobody_in_the_story_hears_what_is_said_out_of_character(client: Client) -> None:
    session = await free_session(client)
    await client.turn(session, "I look around. ((shorter, please))")
    shown = await client.call("session.get", session)
    assert [line["text"] for line in shown["history"] if line["kind"] == "player_input"] == ["I look around."]
    assert "please" not in str(shown["history"])


async def test_a_deed_done_to_somebody_who_is_elsewhere_moves_nobody_who_is_here(client: Client) -> None:
    session = await free_session(client)
    await client.turn(session, "I beg Ilse to tell me.")
    assert await scenes(client, session) == [(MILL, None)]


async def test_with_dice_nobody_gives_away_for_the_asking_what_they_keep(client: Client) -> None:
    session = await free_session(client, rules="d20")
    rolled = [
        body
        for line in ("I ask Orr about the mill wheel.", "I press Orr.")
        for body in bodies(await client.turn(session, line))
        if body["type"] == "check_resolved"
    ]
    assert rolled and rolled[0]["resolution"]["check"]["opponent"] == "orr"
    told = [one for one in rolled if one["resolution"]["level"] in ("critical_success", "success", "partial")]
    assert sum(how == "met" for _, how in await scenes(client, session)) == min(1, len(told))


async def test_the_tree_says_what_lay_between_two_scenes(client: Client) -> None:
    session = await free_session(client)
    await client.turn(session, "I go to the ford.")
    await all_done(client)
    labels = [one["label"] for one in (await client.call("session.branches", session))["turns"]]
    assert labels[-2:] == ["the world moves on", f"the next scene: {FORD}"]


async def test_campaigns_that_sleep_hold_no_task_and_no_work(client: Client) -> None:
    first = await free_session(client)
    await client.turn(first, "I go to the ford.")
    await all_done(client)
    awake = len(asyncio.all_tasks()) + 1
    for number in range(6):
        session = str((await client.raw("story.start_session", world_id="vale", seed=number))["session_id"])
        await client.turn(session, "I go to the ford.")
        await all_done(client)
        (loop,) = (await client.call("loop.state", session))["loops"]
        assert loop["status"] == "sleeping"
    for _ in range(600):
        # What is written down a moment later has a task of its own for that moment.
        if not client.house.work.ids() and len(asyncio.all_tasks()) <= awake:
            return
        await asyncio.sleep(0.05)
    raise AssertionError([task.get_coro() for task in asyncio.all_tasks()])
