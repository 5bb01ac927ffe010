"""Drafts: planned, built section by section, mended, edited in between, and made a story of."""

from __future__ import annotations

import asyncio
import copy
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.live import Client, RpcFailed, live_server, sse
from tests.story_script import PLAN, StoryScript, scripted_group, sea_resource, section

from fabula.testing.model_script import CutMidStream, Fail, Pace, Say, say_json
from fabula.testing.model_server import ModelServer


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[Client]:
    async with live_server(tmp_path, model_attempts=1) as client:
        yield client


@pytest.fixture
def script() -> StoryScript:
    return StoryScript()


@pytest.fixture
async def model(script: StoryScript) -> AsyncIterator[ModelServer]:
    async with ModelServer(script) as server:
        yield server


async def built(client: Client, draft: dict[str, Any]) -> dict[str, Any]:
    while draft["status"] == "building":
        draft = await client.call("story_draft.continue", draft_id=draft["draft_id"])
    return draft


async def ids(client: Client, method: str, field: str, key: str) -> list[str]:
    return [one[key] for one in (await client.call(method))[field]]


async def test_a_plan_of_very_many_sections_is_refused_before_anything_is_built(client: Client) -> None:
    resource = await sea_resource(client)
    await client.call("story_resources.update", resource_id=resource, planned_story="One.\n\n" * 65)
    with pytest.raises(RpcFailed, match="falls into 65 sections"):
        await client.call("story_draft.start", resource_id=resource)


async def test_the_understudy_builds_a_whole_story_that_can_be_played(client: Client) -> None:
    resource = await sea_resource(client)
    draft = await client.call("story_draft.start", resource_id=resource)
    assert draft["status"] == "building" and draft["next_section_index"] == 1
    assert draft["total_sections"] == len(draft["outline_sections"]) > 2
    done = await built(client, draft)
    assert done["status"] == "ready_to_finalize" and done["lint"] == []
    story = await client.call("story_draft.finalize", draft_id=draft["draft_id"])
    assert story["type"] == "story_generated" and story["graph"] == done["partial_graph"]
    started = await client.raw("story.start_session", story_id=story["story_id"])
    frames = await client.turn(started["session_id"], "Hello?")
    assert frames[-1]["type"] == "completed"


async def test_a_story_is_built_from_the_models_answers(
    client: Client, model: ModelServer, script: StoryScript
) -> None:
    resource = await sea_resource(client, base_url=model.base_url)
    plan = await client.call("story.generate_plan", resource_id=resource)
    assert plan == {"type": "story_planned", "resource_id": resource, "story_script": PLAN.strip()}
    draft = await client.call("story_draft.start", resource_id=resource, display_name="The Door")
    assert draft["planned_story"] == PLAN.strip() and draft["introduction"] == "The sea is calm."
    done = await built(client, draft)
    assert script.asked == ["planner", "planner", "1", "2", "3"]
    assert [node["id"] for node in done["partial_graph"]["nodes"]] == ["part_1", "part_2", "part_3"]
    assert done["partial_graph"]["nodes"][0]["transitions"][0]["to"] == "part_2"
    assert done["section_summaries"] == ["Part 1 happens.", "Part 2 happens.", "Part 3 happens."]
    [summary] = (await client.call("story_draft.list"))["drafts"]
    assert summary["partial_node_count"] == 3 and summary["total_sections"] == 3
    assert summary["created_at_ms"] <= summary["updated_at_ms"]


async def test_a_plan_that_the_author_wrote_is_built_as_it_is(
    client: Client, model: ModelServer, script: StoryScript
) -> None:
    resource = await sea_resource(client, base_url=model.base_url, planned_story="First this.\n\nThen that.")
    draft = await client.call("story_draft.start", resource_id=resource)
    assert draft["outline_sections"] == ["First this.", "Then that."] and script.asked == ["1"]


async def test_schemas_are_made_for_a_draft_and_go_with_it(client: Client, model: ModelServer) -> None:
    resource = await sea_resource(client, base_url=model.base_url)
    draft = await client.call("story_draft.start", resource_id=resource)
    assert {draft["world_schema_id"], draft["player_schema_id"]} == {"schema-generated-1", "schema-generated-2"}
    world = await client.call("schema.get", schema_id=draft["world_schema_id"])
    assert world["tags"] == ["world", "generated", f"draft:{draft['draft_id']}"] and "tide" in world["fields"]
    with pytest.raises(RpcFailed) as in_use:
        await client.call("schema.delete", schema_id=draft["world_schema_id"])
    assert in_use.value.code == 40909
    deleted = await client.call("story_draft.delete", draft_id=draft["draft_id"])
    assert deleted == {"type": "story_draft_deleted", "draft_id": draft["draft_id"]}
    assert await ids(client, "schema.list", "schemas", "schema_id") == ["keeper"]


async def test_the_fields_of_seed_schemas_stay_as_their_author_wrote_them(client: Client, model: ModelServer) -> None:
    resource = await sea_resource(client)
    tide = {"tide": {"value_type": "int", "default": 7, "description": "Mine."}, "moon": {"value_type": "string"}}
    await client.call("schema.create", schema_id="seed", display_name="Seed", fields=tide)
    await client.call("story_resources.update", resource_id=resource, world_schema_id_seed="seed")
    await scripted_group(client, model.base_url)
    draft = await client.call("story_draft.start", resource_id=resource)
    world = await client.call("schema.get", schema_id=draft["world_schema_id"])
    assert world["fields"]["tide"]["default"] == 7 and set(world["fields"]) == {"tide", "moon"}


async def test_a_finalised_draft_answers_the_same_story_and_holds_nothing_back(
    client: Client, model: ModelServer
) -> None:
    resource = await sea_resource(client, base_url=model.base_url)
    draft = await built(client, await client.call("story_draft.start", resource_id=resource))
    name = draft["draft_id"]
    story = await client.call("story_draft.finalize", draft_id=name)
    assert await client.call("story_draft.finalize", draft_id=name) == story
    shown = await client.call("story_draft.get", draft_id=name)
    assert shown["status"] == "finalized" and shown["final_story_id"] == story["story_id"]
    for method, params in (("continue", {}), ("update_graph", {"partial_graph": draft["partial_graph"]})):
        with pytest.raises(RpcFailed) as refused:
            await client.call(f"story_draft.{method}", draft_id=name, **params)
        assert refused.value.code == -32600
    assert (await client.call("api_group.delete", api_group_id="scripted"))["type"] == "api_group_deleted"
    await client.call("story_draft.delete", draft_id=name)
    assert (await client.call("schema.get", schema_id=story["world_schema_id"]))["fields"]


async def test_a_draft_that_misses_sections_cannot_be_finalised(client: Client, model: ModelServer) -> None:
    draft = await client.call("story_draft.start", resource_id=await sea_resource(client, base_url=model.base_url))
    with pytest.raises(RpcFailed) as refused:
        await client.call("story_draft.finalize", draft_id=draft["draft_id"])
    assert refused.value.code == -32600 and "2 of 3 sections" in refused.value.message


async def test_the_next_section_is_built_upon_the_authors_edits(
    client: Client, model: ModelServer, script: StoryScript
) -> None:
    draft = await client.call("story_draft.start", resource_id=await sea_resource(client, base_url=model.base_url))
    graph = draft["partial_graph"]
    graph["nodes"][0]["scene"] = "A submarine chapel, lit by eels."
    edited = await client.call("story_draft.update_graph", draft_id=draft["draft_id"], partial_graph=graph)
    assert edited["partial_graph"]["nodes"][0]["scene"] == "A submarine chapel, lit by eels."
    after = await client.call("story_draft.continue", draft_id=draft["draft_id"])
    assert "A submarine chapel, lit by eels." in script.prompts[-1]
    assert after["partial_graph"]["nodes"][0]["scene"] == "A submarine chapel, lit by eels."


async def test_a_graph_that_leads_nowhere_is_refused_by_name(client: Client) -> None:
    draft = await client.call("story_draft.start", resource_id=await sea_resource(client))
    graph = copy.deepcopy(draft["partial_graph"])
    graph["nodes"][0]["transitions"] = [{"to": "nowhere", "condition": None}]
    with pytest.raises(RpcFailed) as refused:
        await client.call("story_draft.update_graph", draft_id=draft["draft_id"], partial_graph=graph)
    assert refused.value.code == -32600 and "nowhere" in refused.value.message
    assert await client.call("story_draft.get", draft_id=draft["draft_id"]) == draft


async def test_an_answer_that_cannot_be_read_goes_back_with_its_problems(
    client: Client, model: ModelServer, script: StoryScript
) -> None:
    wrong = section(1, start_node="elsewhere")
    script.instead["1"] = [Say(text="Here is your graph: {nodes: oops"), say_json(wrong)]
    draft = await client.call("story_draft.start", resource_id=await sea_resource(client, base_url=model.base_url))
    assert draft["partial_graph"]["start_node"] == "part_1" and script.asked == ["planner", "1", "1", "1"]
    assert "the start node 'elsewhere' is not among the nodes" in script.prompts[-1]


@pytest.mark.parametrize(
    "broken",
    [
        section(2, nodes=[]),
        section(2, transition_patches=[{"node_id": "nobody", "add_transitions": []}]),
        section(2, nodes=section(1)["nodes"]),
        {**section(2), "introduction": "Not again."},
    ],
    ids=["no nodes", "unknown node", "an id twice", "a second introduction"],
)
async def test_a_section_that_stays_unusable_fails_whole_and_is_asked_for_anew(
    client: Client, model: ModelServer, script: StoryScript, broken: dict[str, Any]
) -> None:
    draft = await client.call("story_draft.start", resource_id=await sea_resource(client, base_url=model.base_url))
    script.instead["2"] = [say_json(broken)] * 3
    with pytest.raises(RpcFailed) as failed:
        await client.call("story_draft.continue", draft_id=draft["draft_id"])
    assert failed.value.code == 50001 and script.instead["2"] == []
    assert await client.call("story_draft.get", draft_id=draft["draft_id"]) == draft
    after = await client.call("story_draft.continue", draft_id=draft["draft_id"])
    assert after["next_section_index"] == 2


@pytest.mark.parametrize("fault", [Fail(status=503), CutMidStream()], ids=["down", "cut off"])
async def test_a_model_that_fails_midway_leaves_the_draft_as_it_was_and_it_can_go_on(
    client: Client, model: ModelServer, script: StoryScript, fault: Any
) -> None:
    draft = await client.call("story_draft.start", resource_id=await sea_resource(client, base_url=model.base_url))
    script.instead["2"] = [fault]
    with pytest.raises(RpcFailed) as failed:
        await client.call("story_draft.continue", draft_id=draft["draft_id"])
    assert failed.value.code == 50001
    assert await client.call("story_draft.get", draft_id=draft["draft_id"]) == draft
    assert (await built(client, draft))["status"] == "ready_to_finalize"


async def test_a_start_that_failed_leaves_nothing_and_sent_again_keeps_its_plan(
    client: Client, model: ModelServer, script: StoryScript
) -> None:
    resource = await sea_resource(client, base_url=model.base_url)
    script.instead["1"] = [Fail(status=503)]
    with pytest.raises(RpcFailed) as failed:
        await client.call("story_draft.start", resource_id=resource)
    assert failed.value.code == 50001
    assert (await client.call("story_draft.list"))["drafts"] == []
    assert await ids(client, "schema.list", "schemas", "schema_id") == ["keeper"]
    await client.call("story_draft.start", resource_id=resource)
    assert script.asked == ["planner", "1", "1"]
    await client.call("story_draft.start", resource_id=resource)
    assert script.asked[3:] == ["planner", "1"], "a start that succeeded is no excuse for the next one"


def unreachable(number: int, count: int) -> dict[str, Any]:
    """A section with nodes that no way leads to."""
    good = section(number)
    extra = [{**good["nodes"][0], "id": f"lost_{number}_{n}"} for n in range(count)]
    return {**good, "nodes": [*good["nodes"], *extra]}


async def test_what_lint_finds_goes_back_to_the_architect_and_is_mended(
    client: Client, model: ModelServer, script: StoryScript
) -> None:
    script.instead["1"] = [say_json(unreachable(1, 1))]
    draft = await client.call("story_draft.start", resource_id=await sea_resource(client, base_url=model.base_url))
    assert "node 'lost_1_0' cannot be reached from the start" in script.prompts[-1]
    assert draft["lint"] == [] and script.asked == ["planner", "1", "1"]


async def test_mending_is_bounded_and_what_remains_is_shown_to_the_author(
    client: Client, model: ModelServer, script: StoryScript
) -> None:
    script.instead["1"] = [say_json(unreachable(1, count)) for count in (3, 1, 2)]
    draft = await client.call("story_draft.start", resource_id=await sea_resource(client, base_url=model.base_url))
    assert script.asked == ["planner", "1", "1", "1"]
    sentence = "node 'lost_1_0' cannot be reached from the start"
    assert draft["lint"] == [{"kind": "unreachable", "node_id": "lost_1_0", "message": sentence}]
    await client.call("story_draft.continue", draft_id=draft["draft_id"])
    assert script.asked[4:] == ["2"], "an old fault is not the new section's"


async def test_a_mending_that_fails_leaves_the_section_that_was_there(
    client: Client, model: ModelServer, script: StoryScript
) -> None:
    script.instead["1"] = [say_json(unreachable(1, 1)), Fail(status=503)]
    draft = await client.call("story_draft.start", resource_id=await sea_resource(client, base_url=model.base_url))
    assert [finding["node_id"] for finding in draft["lint"]] == ["lost_1_0"]


async def test_two_continues_at_once_are_one_section_and_a_refusal(
    client: Client, model: ModelServer, script: StoryScript
) -> None:
    draft = await client.call("story_draft.start", resource_id=await sea_resource(client, base_url=model.base_url))
    script.instead["2"] = [Say(text=json.dumps(section(2)), pace=Pace(first_token_ms=400))]
    name = draft["draft_id"]
    answers = await asyncio.gather(*(client.raw("story_draft.continue", draft_id=name) for _ in range(2)))
    codes = sorted(answer["error"]["code"] if "error" in answer else 0 for answer in answers)
    assert codes == [0, 40909]
    assert (await client.call("story_draft.get", draft_id=name))["next_section_index"] == 2


async def test_two_starts_at_once_are_two_drafts(client: Client, model: ModelServer, script: StoryScript) -> None:
    resource = await sea_resource(client, base_url=model.base_url)
    script.instead["planner"] = [Say(text=PLAN, pace=Pace(first_token_ms=300))] * 2
    drafts = await asyncio.gather(*(client.call("story_draft.start", resource_id=resource) for _ in range(2)))
    assert drafts[0]["draft_id"] != drafts[1]["draft_id"]
    assert len({draft[key] for draft in drafts for key in ("world_schema_id", "player_schema_id")}) == 4


async def test_while_a_section_is_built_its_draft_is_neither_edited_nor_deleted(
    client: Client, model: ModelServer, script: StoryScript
) -> None:
    draft = await client.call("story_draft.start", resource_id=await sea_resource(client, base_url=model.base_url))
    name, graph = draft["draft_id"], draft["partial_graph"]
    script.instead["2"] = [Say(text=json.dumps(section(2)), pace=Pace(first_token_ms=1500))]
    building = asyncio.create_task(client.call("story_draft.continue", draft_id=name))
    while script.asked[-1] != "2":
        await asyncio.sleep(0.01)
    edited = await client.raw("story_draft.update_graph", draft_id=name, partial_graph=graph)
    deleted = await client.raw("story_draft.delete", draft_id=name)
    assert edited["error"]["code"] == deleted["error"]["code"] == 40909
    assert (await building)["next_section_index"] == 2


async def test_whoever_leaves_a_watched_section_does_not_stop_it(
    client: Client, model: ModelServer, script: StoryScript
) -> None:
    draft = await client.call("story_draft.start", resource_id=await sea_resource(client, base_url=model.base_url))
    name = draft["draft_id"]
    script.instead["2"] = [Say(text=json.dumps(section(2)), pace=Pace(first_token_ms=500))]
    request = client.request("story_draft.continue", draft_id=name, stream=True)
    async with client.http.stream("POST", "/rpc", json=request) as response:
        await anext(response.aiter_lines())
    while (await client.call("story_draft.get", draft_id=name))["next_section_index"] == 1:
        await asyncio.sleep(0.05)
    assert script.asked == ["planner", "1", "2"]


async def test_an_import_can_be_watched(client: Client) -> None:
    await sea_resource(client)
    export = await client.call("data_package.export_prepare", character_ids=["mara"])
    place = f"/{export['archive']['resource_id']}/{export['archive']['file_id']}"
    archive = (await client.http.get(f"/download{place}")).content
    prepared = await client.call("data_package.import_prepare")
    target = prepared["archive"]
    await client.http.post(f"/upload/{target['resource_id']}/{target['file_id']}", content=archive)
    params = {"import_id": prepared["import_id"], "on_conflict": "rename", "stream": True}
    response = await client.http.post("/rpc", json=client.request("data_package.import_commit", **params))
    *told, last = sse(response.text)
    bodies = [event["data"]["frame"]["body"] for event in told]
    # Each of two things is looked through, and then added.
    assert [(body["done"], body["total"]) for body in bodies] == [(done, 4) for done in range(4)]
    assert last["event"] == "result" and last["data"]["result"]["type"] == "data_package_import_committed"


async def test_a_whole_story_is_generated_in_one_call_and_its_draft_is_gone(client: Client, model: ModelServer) -> None:
    resource = await sea_resource(client, base_url=model.base_url)
    pinned = [{"scope": "world", "key": "tide", "display_name": "Tide"}]
    story = await client.call("story.generate", resource_id=resource, display_name="Door", common_variables=pinned)
    assert story["type"] == "story_generated" and len(story["graph"]["nodes"]) == 3
    assert story["common_variables"][0]["key"] == "tide" and story["display_name"] == "Door"
    assert (await client.call("story_draft.list"))["drafts"] == []
    assert (await client.call("schema.get", schema_id=story["world_schema_id"]))["tags"][0] == "world"


async def test_a_generation_that_fails_leaves_nothing_and_sent_again_asks_only_for_what_is_missing(
    client: Client, model: ModelServer, script: StoryScript
) -> None:
    resource = await sea_resource(client, base_url=model.base_url)
    script.instead["3"] = [Fail(status=503)]
    with pytest.raises(RpcFailed) as failed:
        await client.call("story.generate", resource_id=resource)
    assert failed.value.code == 50001
    assert (await client.call("story_draft.list"))["drafts"] == []
    assert await ids(client, "schema.list", "schemas", "schema_id") == ["keeper"]
    assert (await client.call("story.list"))["stories"] == []
    await client.call("story.generate", resource_id=resource)
    assert script.asked == ["planner", "1", "2", "3", "3"]


async def test_variables_that_cannot_be_pinned_are_refused_and_putting_them_right_asks_no_model_again(
    client: Client, model: ModelServer, script: StoryScript
) -> None:
    resource = await sea_resource(client, base_url=model.base_url)
    stranger = [{"scope": "character", "key": "mood", "display_name": "Mood", "character_id": "nobody"}]
    with pytest.raises(RpcFailed) as refused:
        await client.call("story_draft.start", resource_id=resource, common_variables=stranger)
    assert refused.value.code == -32600 and script.asked == []
    unknown = [{"scope": "world", "key": "moon", "display_name": "Moon"}]
    with pytest.raises(RpcFailed) as refused:
        await client.call("story_draft.start", resource_id=resource, common_variables=unknown)
    assert refused.value.code == -32600 and "moon" in refused.value.message
    assert await ids(client, "schema.list", "schemas", "schema_id") == ["keeper"]
    await client.call("story_draft.start", resource_id=resource)
    assert script.asked == ["planner", "1"]


@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        ("story_draft.get", {"draft_id": "nobody"}, 40404),
        ("story_draft.continue", {"draft_id": "nobody"}, 40404),
        ("story_draft.finalize", {"draft_id": "nobody"}, 40404),
        ("story_draft.delete", {"draft_id": ""}, -32600),
        ("story_draft.start", {"resource_id": "nobody"}, 40404),
        ("story.generate", {"resource_id": "nobody", "stream": True}, 40404),
        ("story.generate_plan", {"resource_id": "nobody"}, 40404),
        ("story_draft.start", {"resource_id": "nobody", "pace": 1}, -32602),
    ],
)
async def test_what_is_not_there_is_named(client: Client, method: str, params: dict[str, Any], code: int) -> None:
    answer = await client.raw(method, **params)
    assert answer["error"]["code"] == code


async def test_without_a_model_set_up_building_is_refused(client: Client) -> None:
    resource = await sea_resource(client)
    async with client.house.store.writing() as unit:
        await unit.resources.remove("api_group", "builtin")
    for method in ("story.generate_plan", "story.generate", "story_draft.start"):
        assert (await client.raw(method, resource_id=resource))["error"]["code"] == 40909


async def test_progress_is_told_before_the_result(client: Client, model: ModelServer) -> None:
    resource = await sea_resource(client, base_url=model.base_url)
    request = client.request("story.generate", resource_id=resource, stream=True)
    response = await client.http.post("/rpc", json=request)
    assert response.headers["content-type"].startswith("text/event-stream")
    assert b"\r" not in response.content and response.content.endswith(b"\n\n")
    *told, last = sse(response.text)
    assert [event["event"] for event in told] == ["message"] * len(told) and last["event"] == "result"
    assert [event["data"]["sequence"] for event in told] == list(range(len(told)))
    assert {(event["data"]["message_type"], event["data"]["request_id"]) for event in told} == {("stream", "1")}
    bodies = [event["data"]["frame"]["body"] for event in told]
    assert {body["type"] for body in bodies} == {"progress"}
    assert (bodies[0]["total"], bodies[-1]["done"], bodies[-1]["total"]) == (0, 3, 3)
    assert last["data"]["result"]["type"] == "story_generated" and last["data"]["id"] == "1"


async def test_a_failure_while_watched_ends_the_stream_with_the_error(
    client: Client, model: ModelServer, script: StoryScript
) -> None:
    resource = await sea_resource(client, base_url=model.base_url)
    script.instead["1"] = [Fail(status=503)]
    response = await client.http.post(
        "/rpc", json=client.request("story_draft.start", resource_id=resource, stream=True)
    )
    assert sse(response.text)[-1]["data"]["error"]["code"] == 50001


async def test_the_calls_of_a_draft_are_listed_under_its_id(client: Client, model: ModelServer) -> None:
    draft = await client.call("story_draft.start", resource_id=await sea_resource(client, base_url=model.base_url))
    for _ in range(100):
        usage = await client.call("usage.list", story_id=draft["draft_id"])
        if usage["totals"]["calls"] == 2:
            break
        await asyncio.sleep(0.05)
    assert [call["agent"] for call in usage["calls"]] == ["planner", "architect"]
    assert usage["totals"]["total_tokens"] == sum(call["total_tokens"] for call in usage["calls"]) > 0
    first = await client.call("usage.list", story_id=draft["draft_id"], limit=1)
    assert [call["agent"] for call in first["calls"]] == ["planner"] and first["totals"] == usage["totals"]
    rest = await client.call("usage.list", story_id=draft["draft_id"], limit=5, cursor=first["next_cursor"])
    assert [call["agent"] for call in rest["calls"]] == ["architect"] and "next_cursor" not in rest


async def test_each_plan_is_another_one_and_the_same_seed_brings_the_same_again(client: Client) -> None:
    resource = await sea_resource(client)
    plans = [(await client.call("story.generate_plan", resource_id=resource))["story_script"] for _ in range(3)]
    assert len(set(plans)) > 1
    seeded = [(await client.call("story.generate_plan", resource_id=resource, seed=7))["story_script"] for _ in "ab"]
    assert seeded[0] == seeded[1]


async def test_a_story_without_a_name_is_called_after_its_concept(client: Client) -> None:
    cast = (await client.call("story_resources.get", resource_id=await sea_resource(client)))["character_ids"]
    concept = "A fishing boat comes home with nobody aboard but a dog."
    made = await client.call("story_resources.create", story_concept=concept, character_ids=cast)
    story = await client.call("story.generate", resource_id=made["resource_id"])
    assert story["display_name"] == "The Fishing Boat"
