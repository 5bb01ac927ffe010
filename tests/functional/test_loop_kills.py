"""SIGKILL at every step of turns, talks, building a world, and between the turns of a campaign: once, or not at all.

A process of its own answers one request and dies at one of its steps: between two statements, on either side of a
commit, and so on both sides of every node of its loop. Then the server takes up what was left. `some` steps are tried
in each run, `every` one in `make test-all`.
"""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.conftest import Place
from tests.fork_server import ForkServer, script
from tests.free_world import FORD, MILL, free_session, free_world
from tests.functional.test_conversations import with_company
from tests.functional.test_followers import all_done
from tests.functional.test_free_play import scenes
from tests.functional.test_story_kills import seen
from tests.live import Client, RpcFailed, live_server
from tests.scripted import ROLES, bind_troupe
from tests.turn_kills import Victim, victim

from fabula.actions.campaigns.story_loop import lead_on
from fabula.actions.plays.play_states import head_state
from fabula.ports.actors import OPERATOR
from fabula.story.state_hash import state_hash
from fabula.testing.model_server import ModelServer
from fabula.testing.troupe import Troupe

CALLER = script(Path(__file__).with_name("method_caller.py"))
TAKEN_UP = ("turn", "conversation_close", "building")
MOST_STEPS = 150
every = pytest.mark.parametrize(
    "steps", [pytest.param((), id="some"), pytest.param(range(MOST_STEPS), id="every", marks=pytest.mark.all)]
)
Request = dict[str, Any]


@pytest.fixture
async def models() -> AsyncIterator[ModelServer]:
    async with ModelServer(Troupe()) as models:
        yield models


@pytest.fixture
async def client(place: Place) -> AsyncIterator[Client]:
    place.settings.data_folder.mkdir(exist_ok=True)
    async with live_server(place.settings.data_folder, database_url=place.settings.database_url) as client:
        yield client


async def caller_killed(client: Client, request: Request, *, after: int) -> bool:
    """Whether a process that answered a request died, which it does after so many steps; what it left is done then."""
    settings = client.house.settings.model_dump_json()
    process = await asyncio.create_subprocess_exec(*CALLER, settings, str(after), json.dumps(request))
    code = await process.wait()
    assert code in (0, -signal.SIGKILL)
    await all_done(client, TAKEN_UP)
    await all_done(client)
    return code != 0


async def answered(client: Client, request: Request) -> None:
    """Has the server answer a request, to the end of its stream."""
    text = (await client.http.post("/rpc", json=request)).text
    assert '"error"' not in text, text
    await all_done(client)


async def stands(client: Client, session: str) -> dict[str, Any]:
    """What is true of a play, and what is proposed as canon of it, whatever its turns are called."""
    changes = (await client.call("canon.list", session))["changes"]
    told = [(json.dumps(one["content"], sort_keys=True), one["status"]) for one in changes]
    async with client.house.store.reading() as unit:
        _, state = await head_state(unit, OPERATOR, session)
    if state.conversation is not None:
        named = state.conversation.model_copy(update={"conversation_id": "the-talk"})
        state = state.model_copy(update={"conversation": named})
    return {**await seen(client, session), "hash": state_hash(state), "changes": sorted(told)}


async def killed_in_play(client: Client, session: str, request: Request, steps: Iterable[int]) -> int:
    """Has a request answered again and again, each time by a process that dies; answers how often one died."""
    head, before = (await client.call("session.get", session))["head_turn_id"], await stands(client, session)
    await answered(client, request)
    wanted, died = await stands(client, session), 0
    for after in steps:
        await client.call("session.switch_branch", session, turn_id=head)
        is_dead = await caller_killed(client, request, after=after)
        if (found := await stands(client, session)) == before:
            # It died before anything was promised: whoever asked has had no answer, and asks again.
            await answered(client, request)
            found = await stands(client, session)
        assert found == wanted, f"killed after {after} steps"
        died += is_dead
        if not is_dead:
            break
    return died


async def threatened(client: Client, models: ModelServer) -> str:
    """A free play in which Orr is talked with, and fears the player; a scripted model speaks."""
    await bind_troupe(client, models.base_url)
    session = await free_session(client, api_group_id="troupe", preset_id="ensemble")
    await client.call("conversation.open", session, character_ids=["orr"])
    await client.turn(session, "I will break your neck if you lie to me, Orr.")
    await all_done(client)
    return session


IN_PLAY: dict[str, Request] = {
    "conversation.open": {"character_ids": ["orr"]},
    "session.end_scene": {},
    "session.flashback": {"text": "Two days ago I stood at the ford."},
    "session_zero.update": {"premise": "A wet autumn.", "boundaries": "No spiders. Torture off screen."},
    "world.advance": {"duration": "5 hours"},
}


@pytest.mark.parametrize(
    ("method", "steps"),
    [
        pytest.param("session.end_scene", (4, 9, 14), id="some"),
        *(pytest.param(method, range(MOST_STEPS), id=method, marks=pytest.mark.all) for method in IN_PLAY),
    ],
)
async def test_what_is_done_between_turns_is_done_once_wherever_it_was_killed(
    client: Client, method: str, steps: Iterable[int]
) -> None:
    session = await free_session(client)
    await client.call("clock.create", session, clock_id="flood", name="The flood", segments=4, pressure=3, every=30)
    await client.turn(session, "I look around.")
    await all_done(client)
    request = client.request(method, session, **IN_PLAY[method])
    assert await killed_in_play(client, session, request, steps) >= 3


@every
async def test_a_campaign_begins_once_wherever_its_beginning_was_killed(client: Client, steps: Iterable[int]) -> None:
    await free_world(client)
    request, died = client.request("story.start_session", world_id="vale", seed=5), 0
    known, wanted = set[str](), None
    for after in (MOST_STEPS, *(steps or (2, 6))):
        is_dead = await caller_killed(client, request, after=after)
        new = {one["session_id"] for one in (await client.call("session.list"))["sessions"]} - known
        if not new:
            new = {str((await client.raw("story.start_session", **request["params"]))["session_id"])}
        (session,) = new
        known |= new
        await lead_on(client.house, session)
        (loop,) = (await client.call("loop.state", session))["loops"]
        assert (loop["status"], loop["node"]) == ("sleeping", "run_scene")
        found = await stands(client, session)
        wanted = wanted or found
        assert found == wanted, f"killed after {after} steps"
        died += is_dead
        if not is_dead and after < MOST_STEPS:
            break
    assert died >= (5 if steps else 2)


@every
async def test_a_turn_that_ends_a_scene_is_played_once_and_leads_on_wherever_it_was_killed(
    client: Client, models: ModelServer, steps: Iterable[int]
) -> None:
    await bind_troupe(client, models.base_url)
    session = await free_session(client, api_group_id="troupe", preset_id="ensemble")
    await client.turn(session, "I look around.")
    await all_done(client)
    request = client.request("session.run_turn", session, player_input="go on")
    died = await killed_in_play(client, session, request, steps or (2, 7, 12))
    assert died >= (15 if steps else 3)
    assert await scenes(client, session) == [(MILL, "met"), (FORD, None)]


@every
async def test_what_is_said_in_a_talk_is_answered_once_wherever_its_turn_was_killed(
    client: Client, models: ModelServer, steps: Iterable[int]
) -> None:
    session = await threatened(client, models)
    request = client.request("conversation.say", session, text="Thank you, Orr. You are kind.")
    died = await killed_in_play(client, session, request, steps or (2, 7, 12))
    assert died >= (15 if steps else 3)


@every
async def test_a_talk_is_left_once_and_proposes_once_wherever_leaving_it_was_killed(
    client: Client, models: ModelServer, steps: Iterable[int]
) -> None:
    session = await threatened(client, models)
    died = await killed_in_play(client, session, client.request("conversation.close", session), steps or (3, 8, 13))
    assert died >= (12 if steps else 3)
    changes = [json.loads(content) for content, _ in (await stands(client, session))["changes"]]
    assert [one["predicate"] for one in changes].count("fears") == 1


TOWN = "There is a town called Portabel."


async def a_building(client: Client, world_id: str) -> str:
    await client.call("world.create", world_id=world_id, display_name="Salt")
    return str((await client.call("building.open", world_id=world_id))["building_id"])


async def added(client: Client, building_id: str) -> list[str]:
    """What was added in a building; nothing else is true in its world, and nothing is so twice."""
    closed = await client.call("building.close", building_id=building_id)
    changes = (await client.call("canon.list", world_id=closed["world_id"]))["changes"]
    sentences = [one["sentence"] for one in closed["added"]]
    assert sum(one["status"] in ("accepted", "committed") for one in changes) == len(sentences)
    assert len(changes) <= 1
    return sentences


@every
async def test_what_an_author_says_is_added_once_wherever_taking_it_down_was_killed(
    client: Client, steps: Iterable[int]
) -> None:
    died = 0
    for after in steps or (2, 7, 12):
        building_id = await a_building(client, f"salt-{after}")
        request = client.request("building.say", building_id=building_id, text=TOWN)
        is_dead = await caller_killed(client, request, after=after)
        if not await added(client, building_id):
            await answered(client, request)
        assert await added(client, building_id) == ["There is Portabel, a place."], f"killed after {after} steps"
        died += is_dead
        if not is_dead:
            break
    assert died >= (12 if steps else 3)


@every
async def test_a_building_is_opened_and_an_item_undone_whole_wherever_that_was_killed(
    client: Client, steps: Iterable[int]
) -> None:
    died = [0, 0]
    for after in steps or (1, 3):
        building_id = await a_building(client, f"salt-{after}")
        opening = client.request("building.open", world_id=f"salt-{after}")
        died[0] += await caller_killed(client, opening, after=after)
        assert await added(client, building_id) == []
        said = await client.call("building.say", building_id=building_id, text=TOWN)
        undoing = client.request("building.undo", item_id=said["added"][0]["item_id"])
        is_dead = await caller_killed(client, undoing, after=after)
        if await added(client, building_id):
            await answered(client, undoing)
        assert await added(client, building_id) == [], f"killed after {after} steps"
        died[1] += is_dead
        if after > 30:
            break
    assert died[0] >= 2 and died[1] >= 1


@pytest.fixture
async def killed(fork_server: ForkServer, place: Place, tmp_path: Path) -> AsyncIterator[Victim]:
    environment = {**place.environment, "FABULA_SUMMARIES": "model"}
    async with victim(fork_server, tmp_path, environment=environment) as it:
        yield it


async def asked_and_killed(it: Victim, request: Request, *, call: int) -> None:
    """Has a server answer a request that kills it inside this model call; the next server is up when this returns."""
    it.kill_at_call(call)
    with suppress(httpx.HTTPError):
        await it.client.http.post("/rpc", json=request)
    await it.start()


async def until(it: Victim, looked: Callable[[], Awaitable[bool]]) -> None:
    """Waits for the next server to go on with what the killed one left."""
    for _ in range(600):
        if await looked():
            return
        await asyncio.sleep(0.05)
    raise AssertionError("nobody goes on with it")


async def test_a_talk_that_is_killed_inside_its_summary_is_left_by_the_next_server(killed: Victim) -> None:
    session = await killed.session("ensemble")
    await killed.client.call("conversation.open", session, character_ids=["mara"])
    await killed.client.turn(session, "I will break your neck if you lie to me, Mara.")
    await asked_and_killed(killed, killed.client.request("conversation.close", session), call=0)

    async def is_left() -> bool:
        return "conversation" not in await killed.client.call("session.get", session)

    await until(killed, is_left)
    changes = (await killed.client.call("canon.list", session))["changes"]
    assert [one["content"]["predicate"] for one in changes].count("fears") == 1 and killed.kills == 1
    turns = (await killed.client.call("session.branches", session))["turns"]
    assert [turn["label"] for turn in turns].count("a talk was left") == 1
    with pytest.raises(RpcFailed, match="conversation"):
        await killed.client.call("conversation.close", session)


@pytest.mark.all
async def test_a_talk_with_several_is_killed_inside_each_of_their_model_calls(killed: Victim) -> None:
    await with_company(killed.client)
    everyone = ["mara", "orr", "ilse"]
    session = await killed.session("ensemble")
    await killed.client.call("conversation.open", session, character_ids=everyone)
    for number in range(len(everyone)):
        request = killed.client.request("conversation.say", session, text=f"Who closed the gate? Number {number}.")
        await asked_and_killed(killed, request, call=number)
        shown = await killed.rested(session)
        assert shown["conversation"]["turns"] == number + 1
        spoken = [line["speaker_id"] for line in shown["history"] if line["kind"] == "dialogue"]
        assert spoken == everyone * (number + 1)
    assert killed.kills == len(everyone)


@pytest.mark.all
async def test_what_an_author_says_is_added_once_when_the_architects_model_calls_are_killed(killed: Victim) -> None:
    bindings = {f"{role}_api_id": "troupe" for role in ROLES}
    await killed.client.call("api_group.create", api_group_id="default", display_name="Default", bindings=bindings)
    building_id = await a_building(killed.client, "salt")
    await asked_and_killed(killed, killed.client.request("building.open", world_id="salt"), call=0)
    for call in range(2):
        text = f"There is a town called Port{'abc'[call]}."
        request = killed.client.request("building.say", building_id=building_id, text=text)
        await asked_and_killed(killed, request, call=call)

        async def is_added(number: int = call + 1) -> bool:
            return len((await killed.client.call("building.close", building_id=building_id))["added"]) >= number

        await until(killed, is_added)
    assert len((await killed.client.call("canon.list", world_id="salt"))["changes"]) == 2 and killed.kills == 3
