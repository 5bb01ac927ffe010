"""Sudden death while a story is built: the same call goes on, and asks no model twice for what it answered."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.conftest import Place
from tests.fork_server import script as forked_script
from tests.live import live_server
from tests.story_script import StoryScript, sea_resource, section

from fabula.actions.house import House
from fabula.ports.work import Lease
from fabula.testing.model_script import Pace, Say, say_json
from fabula.testing.model_server import ModelServer

pytestmark = pytest.mark.all

BUILDER = forked_script(Path(__file__).with_name("draft_builder.py"))
NEVER = Say(text="", pace=Pace(first_token_ms=600_000))


@pytest.fixture
def script() -> StoryScript:
    return StoryScript()


@pytest.fixture
async def model(script: StoryScript) -> AsyncIterator[ModelServer]:
    async with ModelServer(script) as server:
        yield server


async def killed_while(house: House, verb: str, name: str, script: StoryScript, asked: list[str]) -> None:
    """Starts the call in a process of its own and kills it as soon as the model was asked for all this."""
    process = await asyncio.create_subprocess_exec(
        *BUILDER, house.settings.model_dump_json(), verb, name, stderr=asyncio.subprocess.PIPE
    )
    assert process.stderr is not None
    while script.asked != asked:
        assert process.returncode is None, (await process.stderr.read()).decode()
        await asyncio.sleep(0.02)
    process.kill()
    await process.communicate()
    # The fork server ends the command when its caller has gone, which may take a moment.
    async with house.store.reading() as unit:
        owners = await unit.work.owners()
    while not owners <= {house.owner, *await house.work.gone()}:
        await asyncio.sleep(0.01)


async def test_a_killed_section_is_built_by_the_same_call(
    place: Place, model: ModelServer, script: StoryScript
) -> None:
    place.settings.data_folder.mkdir(exist_ok=True)
    given = {"model_attempts": 1, "database_url": place.settings.database_url}
    async with live_server(place.settings.data_folder, **given) as client:
        draft = await client.call("story_draft.start", resource_id=await sea_resource(client, base_url=model.base_url))
        name = draft["draft_id"]
        script.instead["2"] = [NEVER]
        await killed_while(client.house, "story_draft.continue", name, script, ["planner", "1", "2"])
        assert await client.call("story_draft.get", draft_id=name) == draft
        after = await client.call("story_draft.continue", draft_id=name)
    assert after["next_section_index"] == 2 and script.asked == ["planner", "1", "2", "2"]
    assert [node["id"] for node in after["partial_graph"]["nodes"]] == ["part_1", "part_2"]


async def test_a_start_killed_after_its_plan_keeps_the_plan(
    tmp_path: Path, model: ModelServer, script: StoryScript
) -> None:
    async with live_server(tmp_path, model_attempts=1) as client:
        resource = await sea_resource(client, base_url=model.base_url)
        script.instead["1"] = [NEVER]
        await killed_while(client.house, "story_draft.start", resource, script, ["planner", "1"])
        assert (await client.call("story_draft.list"))["drafts"] == []
        await client.call("story_draft.start", resource_id=resource)
        assert script.asked == ["planner", "1", "1"]
        assert len((await client.call("story_draft.list"))["drafts"]) == 1


async def test_a_generation_killed_at_its_last_section_asks_only_for_that(
    tmp_path: Path, model: ModelServer, script: StoryScript
) -> None:
    async with live_server(tmp_path, model_attempts=1) as client:
        resource = await sea_resource(client, base_url=model.base_url)
        script.instead["3"] = [NEVER]
        await killed_while(client.house, "story.generate", resource, script, ["planner", "1", "2", "3"])
        story = await client.call("story.generate", resource_id=resource)
        assert len(story["graph"]["nodes"]) == 3 and script.asked == ["planner", "1", "2", "3", "3"]
        assert (await client.call("story_draft.list"))["drafts"] == []
        schemas = [one["schema_id"] for one in (await client.call("schema.list"))["schemas"]]
        assert schemas == ["keeper", "schema-generated-1", "schema-generated-2"]


async def test_a_killed_generation_may_be_finished_by_hand(
    tmp_path: Path, model: ModelServer, script: StoryScript
) -> None:
    async with live_server(tmp_path, model_attempts=1) as client:
        resource = await sea_resource(client, base_url=model.base_url)
        script.instead["3"] = [NEVER]
        await killed_while(client.house, "story.generate", resource, script, ["planner", "1", "2", "3"])
        [draft] = (await client.call("story_draft.list"))["drafts"]
        await client.call("story_draft.continue", draft_id=draft["draft_id"])
        first = await client.call("story_draft.finalize", draft_id=draft["draft_id"])
        second = await client.call("story.generate", resource_id=resource)
        assert first["story_id"] != second["story_id"]
        assert (await client.call("story_draft.get", draft_id=draft["draft_id"]))["status"] == "finalized"


async def test_a_section_killed_while_it_is_mended_is_not_drawn_from_the_beginning(
    tmp_path: Path, model: ModelServer, script: StoryScript
) -> None:
    lost = {**section(2)["nodes"][0], "id": "lost"}
    flawed = section(2, nodes=[*section(2)["nodes"], lost])
    async with live_server(tmp_path, model_attempts=1) as client:
        draft = await client.call("story_draft.start", resource_id=await sea_resource(client, base_url=model.base_url))
        script.instead["2"] = [say_json(flawed), NEVER]
        asked = ["planner", "1", "2", "2"]
        await killed_while(client.house, "story_draft.continue", draft["draft_id"], script, asked)
        after = await client.call("story_draft.continue", draft_id=draft["draft_id"])
    assert script.asked == [*asked, "2"] and after["lint"] == []
    assert "'lost' cannot be reached" in script.prompts[-1]


async def test_an_edit_after_a_kill_is_what_the_section_is_built_upon(
    tmp_path: Path, model: ModelServer, script: StoryScript
) -> None:
    async with live_server(tmp_path, model_attempts=1) as client:
        draft = await client.call("story_draft.start", resource_id=await sea_resource(client, base_url=model.base_url))
        script.instead["2"] = [NEVER]
        asked = ["planner", "1", "2"]
        await killed_while(client.house, "story_draft.continue", draft["draft_id"], script, asked)
        graph = json.loads(json.dumps(draft["partial_graph"]).replace("The sea is at its", "The moon is at its"))
        await client.call("story_draft.update_graph", draft_id=draft["draft_id"], partial_graph=graph)
        await client.call("story_draft.continue", draft_id=draft["draft_id"])
    assert "The moon is at its 1. hour." in script.prompts[-1]


async def test_a_section_of_a_process_that_died_under_another_host_name_goes_on_after_its_lease(
    place: Place, model: ModelServer, script: StoryScript
) -> None:
    place.settings.data_folder.mkdir(exist_ok=True)
    given = {"model_attempts": 1, "database_url": place.settings.database_url}
    async with live_server(place.settings.data_folder, **given) as client:
        draft = await client.call("story_draft.start", resource_id=await sea_resource(client, base_url=model.base_url))
        name, house = draft["draft_id"], client.house
        script.instead["2"] = [NEVER]
        await killed_while(house, "story_draft.continue", name, script, ["planner", "1", "2"])
        elsewhere = Lease(owner="another-machine/1/1", until_ms=house.clock.now_ms() + 2000)
        while not (gone := await house.work.gone()):
            await asyncio.sleep(0.02)
        async with house.store.writing() as unit:
            [work] = await unit.work.of_subject(name)
            assert await unit.work.hold(work.work_id, elsewhere, gone=gone)
        assert (await client.raw("story_draft.continue", draft_id=name))["error"]["code"] == 40909
        while "error" in (after := await client.raw("story_draft.continue", draft_id=name)):
            await asyncio.sleep(0.1)
    assert after["result"]["next_section_index"] == 2 and script.asked == ["planner", "1", "2", "2"]
