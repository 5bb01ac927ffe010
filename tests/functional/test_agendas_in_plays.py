"""Agendas in worlds and plays: they move when a scene ends or by hand, what comes to pass becomes canon, and going back
finds them exactly as they were."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from tests.conftest import Place
from tests.functional.test_canon_in_plays import campaign, open_gate, started
from tests.functional.test_followers import all_done
from tests.live import Client, RpcFailed, live_server

FERRIES = {
    "clock_id": "ferries",
    "name": "The ferries",
    "agenda": "Sell the Reach a way over the river.",
    "owner": "the-chain",
    "segments": 2,
    "pressure": 10,
    "every": 10,
    "fires": {
        "event": "Forty ferries lie below the bridge.",
        "where": "garden",
        "changes": [{"kind": "fact", "subject": "the-chain", "predicate": "owns", "object": "forty ferries"}],
    },
}
BOATS = {"clock_id": "boats", "name": "The boats", "segments": 12, "pressure": 1, "opposition": 1, "every": 10}


@pytest.fixture
async def client(place: Place) -> AsyncIterator[Client]:
    place.settings.data_folder.mkdir(exist_ok=True)
    async with live_server(place.settings.data_folder, database_url=place.settings.database_url) as client:
        yield client


async def moving_world(client: Client) -> str:
    """A story in a world with two agendas."""
    story = await campaign(client)
    for clock in (FERRIES, BOATS):
        await client.call("clock.create", world_id="sarn", **clock)
    return story


async def clocks(client: Client, session: str | None = None) -> dict[str, tuple[int, str]]:
    asked = {} if session else {"world_id": "sarn"}
    listed = (await client.call("clock.list", session, **asked))["clocks"]
    return {one["clock_id"]: (one["filled"], one["status"]) for one in listed}


async def committed(client: Client, session: str) -> list[tuple[str, str, str]]:
    listed = (await client.call("canon.list", session))["changes"]
    return [
        (one["proposer"], one["content"].get("what") or one["content"]["predicate"], one["status"]) for one in listed
    ]


async def test_agendas_move_when_a_scene_ends_and_what_comes_to_pass_becomes_canon(client: Client) -> None:
    story = await moving_world(client)
    session, other = await started(client, story, seed=7), await started(client, story, seed=7)
    for _ in range(4):
        await client.turn(session, "I wait here.")
    assert (await clocks(client, session))["ferries"] == (0, "active")
    told = await open_gate(client, session)
    await all_done(client)
    (advanced,) = [body for body in told if body["type"] == "world_advanced"]
    assert advanced["minutes"] == 50
    assert [one["event"] for one in advanced["events"]] == ["Forty ferries lie below the bridge."]
    assert (await clocks(client, session))["ferries"] == (2, "fired")
    assert (await clocks(client, other))["ferries"] == (await clocks(client))["ferries"] == (0, "active")
    of_agendas = [one for one in await committed(client, session) if one[0] == "agendas"]
    assert of_agendas == [
        ("agendas", "Forty ferries lie below the bridge.", "committed"),
        ("agendas", "owns", "committed"),
    ]
    # What nobody has noticed yet is not noted before the player's eyes.
    assert not any("erries" in body["sentence"] for body in told if body["type"] == "change_staged")


async def test_a_player_who_asks_what_is_known_is_not_told_what_nobody_noticed(client: Client) -> None:
    session = await started(client, await moving_world(client), seed=7)
    await client.turn(session, "I wait here.")
    await client.call("world.advance", session, duration="5 hours")
    await all_done(client)
    for about in ({}, {"about": "the-chain"}, {"about": "garden"}):
        known = await client.call("canon.known", session, **about)
        assert "erries" not in str(known["truths"]) + str(known["staged"])
        known = await client.call("canon.known", session, everything=True, **about)
        assert "Forty ferries lie below the bridge." in str(known["staged"])
    await open_gate(client, session)
    await client.turn(session, "I look around.")
    known = await client.call("canon.known", session)
    assert "Forty ferries lie below the bridge." in str(known["staged"])


async def test_the_same_seed_moves_the_world_the_same(client: Client) -> None:
    story = await moving_world(client)
    plays = [await started(client, story, seed=seed) for seed in (7, 7, 8)]
    stands = []
    for session in plays:
        moved = await client.call("world.advance", session, duration="3 hours")
        session_view = await client.call("session.get", session)
        stands.append((moved["moves"], session_view["state_hash"]))
    assert stands[0] == stands[1] != stands[2]


async def test_going_back_finds_the_agendas_as_they_were(client: Client) -> None:
    session = await started(client, await moving_world(client), seed=3)
    seen = []
    for step in ("20 minutes", "1 hour", "1 day"):
        view = await client.call("session.get", session)
        seen.append((view["head_turn_id"], view["state_hash"], await clocks(client, session)))
        await client.call("world.advance", session, duration=step)
    there = await clocks(client, session)
    assert len({str(one[2]) for one in seen} | {str(there)}) == 4
    head = (await client.call("session.get", session))["head_turn_id"]
    for turn, hash, stood in seen[::-1]:
        await client.call("session.switch_branch", session, turn_id=turn)
        assert (await client.call("session.get", session))["state_hash"] == hash
        assert await clocks(client, session) == stood
    fork = (await client.call("session.fork", session))["session_id"]
    await client.call("session.switch_branch", session, turn_id=head)
    assert await clocks(client, session) == there
    assert await clocks(client, fork) == seen[0][2]
    for step in ("20 minutes", "1 hour", "1 day"):
        await client.call("world.advance", fork, duration=step)
    assert await clocks(client, fork) == there


async def test_a_dry_run_shows_odds_and_outcome_and_changes_nothing(client: Client) -> None:
    session = await started(client, await moving_world(client), seed=5)
    before = await client.call("session.get", session)
    dry = await client.call("world.advance", session, duration=120, dry_run=True)
    assert await client.call("session.get", session) == before
    done = await client.call("world.advance", session, duration=120)
    assert (dry["moves"], dry["events"]) == (done["moves"], done["events"])
    assert (dry["dry_run"], dry["change_ids"], done["dry_run"]) == (True, [], False)
    assert len(done["change_ids"]) == 2 and done["minute"] == 120
    odds = {one["clock_id"]: one["odds"] for one in done["moves"]}
    assert odds["ferries"] > 0.99 and odds["boats"] < 0.01
    await all_done(client)
    assert ("agendas", "owns", "committed") in await committed(client, session)


async def test_a_world_moves_with_no_play_and_plays_begin_when_it_stands(client: Client) -> None:
    story = await moving_world(client)
    running = await started(client, story)
    dry = await client.call("world.advance", world_id="sarn", duration="2 days", dry_run=True)
    assert await clocks(client) == {"ferries": (0, "active"), "boats": (0, "active")}
    done = await client.call("world.advance", world_id="sarn", duration="2 days")
    assert (dry["moves"], dry["minute"]) == (done["moves"], 2880)
    assert (await clocks(client))["ferries"] == (2, "fired")
    assert (await client.call("world.get", world_id="sarn"))["minute"] == 2880
    owned = (await client.call("fact.list", world_id="sarn", about="the-chain"))["changes"]
    assert [one["status"] for one in owned] == ["committed"] and owned[0]["evidence"][0]["type"] == "clock"
    later = await started(client, story)
    assert (await client.call("clock.list", later))["minute"] == 2880
    assert await clocks(client, later) == await clocks(client)
    # Who plays already is earlier in the time of the world, and has its own clocks.
    assert await clocks(client, running) == {"ferries": (0, "active"), "boats": (0, "active")}


async def test_a_game_master_sets_clocks_in_one_play_alone(client: Client) -> None:
    session = await started(client, await moving_world(client))
    head = (await client.call("session.get", session))["head_turn_id"]
    changed = await client.call("clock.update", session, clock_id="boats", filled=11, pressure=9)
    assert (changed["filled"], changed["chance"]) == (11, round(9 / 11, 4))
    own = await client.call("clock.create", session, name="A rumour", segments=3, clock_id="rumour")
    assert own["own"] is True
    assert await clocks(client, session) == {"ferries": (0, "active"), "boats": (11, "active"), "rumour": (0, "active")}
    assert await clocks(client) == {"ferries": (0, "active"), "boats": (0, "active")}
    with pytest.raises(RpcFailed, match="only filled, pressure, opposition, status can be set, and not name"):
        await client.call("clock.update", session, clock_id="boats", name="Other boats")
    await client.call("clock.update", session, clock_id="rumour", name="A song", segments=4)
    await client.call("clock.update", session, clock_id="ferries", status="dropped")
    moved = await client.call("world.advance", session, duration="1 day")
    assert {one["clock_id"]: one["status"] for one in moved["moves"]}["ferries"] == "dropped"
    await client.call("session.switch_branch", session, turn_id=head)
    assert await clocks(client, session) == {"ferries": (0, "active"), "boats": (0, "active")}


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("clock.create", {"name": "x", "segments": 13}),
        ("clock.create", {"name": "x", "segments": 2, "filled": 3}),
        ("clock.create", {"name": "x" * 300}),
        ("clock.create", {"name": "x", "clock_id": "ferries"}),
        ("clock.create", {"name": "x", "fires": {"event": "e", "starts": ["nobody"]}}),
        ("clock.update", {"clock_id": "nobody", "filled": 1}),
        ("clock.update", {"clock_id": "boats", "pressure": 11}),
        ("world.advance", {"duration": 0}),
        ("world.advance", {"duration": "a while"}),
        ("world.advance", {"duration": "9999999 weeks"}),
    ],
)
async def test_what_cannot_be_a_clock_is_refused_and_nothing_is_written(
    client: Client, method: str, params: dict[str, Any]
) -> None:
    await client.call("world.create", world_id="sarn", display_name="Sarn")
    for clock in (FERRIES, BOATS):
        await client.call("clock.create", world_id="sarn", **clock)
    with pytest.raises(RpcFailed):
        await client.call(method, world_id="sarn", **params)
    assert await clocks(client) == {"ferries": (0, "active"), "boats": (0, "active")}
