"""Ink stories over the wire: published, looked through, listed, edited, removed, and moved between servers."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from jsonschema_rs import Draft202012Validator
from tests.ink_live import GATE, begin, play, publish
from tests.live import RpcFailed, gate_story, live_server

from fabula.actions.repositories import INK_STORIES
from fabula.story.ink_stories import InkStory


async def test_a_published_story_is_shown_with_its_source_and_files(tmp_path: Path) -> None:
    async with live_server(tmp_path) as client:
        story_id = await publish(client, "INCLUDE more.ink\nHello.\n-> more", **{"more.ink": "== more\nBye.\n-> END"})
        story = await client.call("story.get", story_id=story_id)
        assert (story["kind"], story["files"]) == ("ink", {"more.ink": "== more\nBye.\n-> END"})
        assert story["introduction"] == "Hello."


async def test_a_story_with_errors_is_refused_with_the_authors_own_lines(tmp_path: Path) -> None:
    async with live_server(tmp_path) as client:
        with pytest.raises(RpcFailed) as refused:
            await publish(client, "Hello.\n-> agent(-> nobody, -> nowhere)")
        assert refused.value.code == -32600
        assert refused.value.data["problems"][0]["line"] == 2


async def test_a_story_that_an_earlier_version_published_is_still_played(tmp_path: Path) -> None:
    source = "VAR lamp = 1\n{lamp.<>|dark} It burns.\n-> END\n"
    async with live_server(tmp_path) as client:
        with pytest.raises(RpcFailed, match="right side of '<' expression"):
            await publish(client, source)
        async with client.house.store.writing() as unit:
            old = InkStory(story_id="old", display_name="Old", source=source)
            await INK_STORIES.add(unit, "old", old)
        started = await client.call("story.start_session", story_id="old")
        assert started["history"][0]["text"] == "lamp. It burns."


async def test_a_stored_story_that_nothing_can_compile_is_refused_with_what_is_wrong(tmp_path: Path) -> None:
    async with live_server(tmp_path) as client, asyncio.timeout(30):
        session, started = await begin(client, "Rain.\n* [Go] Went.\n-> END\n")
        story_id = started["story_id"]
        async with client.house.store.writing() as unit:
            broken = (await INK_STORIES.get(unit, story_id)).model_copy(update={"source": "-> nowhere\n"})
            await INK_STORIES.put(unit, story_id, broken)
        for _ in range(2):
            with pytest.raises(RpcFailed, match="cannot be played any more: line 1: Divert target not found"):
                await client.call("story.start_session", story_id=story_id)
        with pytest.raises(RpcFailed, match="cannot be played any more"):
            await play(client, session, choice=1)


ERRORS = {
    "in the main file": ("-> rood", {}, "line 1: Divert target not found: '-> rood'. Did you mean 'road'?"),
    "in an included file": (
        "INCLUDE more.ink\n-> road",
        {"more.ink": "\n-> nowhere_at_all"},
        "'more.ink' line 2: Divert target not found: '-> nowhere_at_all'.",
    ),
    "in two places": (
        "-> rood\n-> raod",
        {},
        "line 1: Divert target not found: '-> rood'. Did you mean 'road'? 1 more error stands in `problems`.",
    ),
    "in three places": (
        "-> nowhere_at_all\n-> nowhere_at_all\n-> nowhere_at_all",
        {},
        "line 1: Divert target not found: '-> nowhere_at_all'. 2 more errors stand in `problems`.",
    ),
}


@pytest.mark.parametrize("place", ERRORS)
async def test_a_refused_story_tells_its_first_error_and_how_many_follow(tmp_path: Path, place: str) -> None:
    source, files, sentence = ERRORS[place]
    async with live_server(tmp_path) as client:
        with pytest.raises(RpcFailed) as refused:
            await publish(client, source + "\n== road\nDust.\n-> END\n", **files)
        assert refused.value.message == f"The story cannot be published: {sentence}"


async def test_what_an_author_may_want_to_look_at_comes_with_the_published_story(tmp_path: Path) -> None:
    source = "-> agent(-> cook, -> yard)\n== cook\n-> DONE\n== yard\nThe yard.\n-> END"
    async with live_server(tmp_path) as client:
        story = await client.call("story.create_ink", display_name="The yard", source=source)
        found = await client.call("ink.check", source=source)
        assert story["problems"] == found["problems"] and found["ok"]
        assert [(one["severity"], one["line"]) for one in found["problems"]] == [("WARNING", 2)]
        assert "The character 'cook' has no line to speak from" in found["problems"][0]["message"]
        assert found["statistics"]["endings"] == 1


async def test_the_talks_of_a_story_are_named_by_their_whole_names(tmp_path: Path) -> None:
    source = "-> inn\n== inn\n-> agent(-> cook, -> on)\n= cook\nSoup.\n- (on) On.\n-> END"
    async with live_server(tmp_path) as client:
        found = await client.call("ink.check", source=source)
        assert found["talks"] == [{"character": "inn.cook", "target": "inn.cook.on"}]


async def test_lists_and_the_dashboard_show_both_kinds_of_stories(tmp_path: Path) -> None:
    async with live_server(tmp_path) as client:
        graph, ink = await gate_story(client), await publish(client)
        listed = {one["story_id"]: one for one in (await client.call("story.list"))["stories"]}
        assert (listed[graph]["kind"], listed[ink]["kind"]) == ("graph", "ink")
        assert "kind" not in await client.call("story.get", story_id=graph)
        recent = (await client.call("dashboard.get"))["recent_stories"]
        assert {one["story_id"] for one in recent} == {graph, ink}


async def test_checking_a_source_names_problems_knots_and_what_is_never_reached(tmp_path: Path) -> None:
    async with live_server(tmp_path) as client:
        found = await client.call("ink.check", source=GATE + "\n== attic\nDust.\n-> END\n")
        assert found["ok"] and found["unreachable"] == ["attic"]
        assert found["talks"] == [{"character": "guard", "target": "gate_opens"}]
        assert [one["name"] for one in found["variables"]] == ["asked"]
        assert found["statistics"]["knots"] == 5
        broken = await client.call("ink.check", source="-> nowhere")
        assert not broken["ok"] and broken["problems"][0]["severity"] == "ERROR"


async def test_a_graph_cannot_be_drawn_into_an_ink_story(tmp_path: Path) -> None:
    async with live_server(tmp_path) as client:
        ink, graph = await publish(client), await gate_story(client)
        shape = {
            "start_node": "a",
            "nodes": [{"id": "a", "title": "", "scene": "", "goal": "", "characters": [], "transitions": []}],
        }
        with pytest.raises(RpcFailed, match="kind 'ink'"):
            await client.call("story.update_graph", story_id=ink, graph=shape)
        with pytest.raises(RpcFailed, match="kind 'graph'"):
            await client.call("story.update_ink", story_id=graph, source="Hello.")


async def test_a_story_that_is_played_is_not_deleted_and_one_that_is_not_is(tmp_path: Path) -> None:
    async with live_server(tmp_path) as client:
        session, _ = await begin(client)
        story = (await client.call("session.get", session))["story_id"]
        with pytest.raises(RpcFailed) as refused:
            await client.call("story.delete", story_id=story)
        assert refused.value.code == 40909
        await client.call("session.delete", session)
        assert (await client.call("story.delete", story_id=story))["type"] == "story_deleted"


async def test_an_ink_story_travels_in_a_data_package(tmp_path: Path) -> None:
    async with live_server(tmp_path / "a") as client:
        story_id = await publish(client)
        prepared = await client.call("data_package.export_prepare", story_ids=[story_id])
        place = prepared["archive"]
        archive = (await client.http.get(f"/download/{place['resource_id']}/{place['file_id']}")).content
    async with live_server(tmp_path / "b") as client:
        place = await client.call("data_package.import_prepare")
        await client.http.post(f"/upload/{place['archive']['resource_id']}/archive", content=archive)
        await client.call("data_package.import_commit", import_id=place["import_id"])
        assert (await client.call("story.get", story_id=story_id))["source"] == GATE


async def test_a_knot_that_needs_arguments_cannot_be_a_target(tmp_path: Path) -> None:
    async with live_server(tmp_path) as client:
        source = "-> agent(-> a, -> b)\n== a\nHi.\n-> END\n== b(x)\nBye {x}.\n-> END"
        found = await client.call("ink.check", source=source)
        assert [(one["line"], one["message"]) for one in found["problems"]] == [
            (1, "'b' needs arguments, so agent cannot go to it")
        ]


async def test_a_storys_own_knot_of_a_built_in_name_is_kept_with_a_warning(tmp_path: Path) -> None:
    async with live_server(tmp_path) as client:
        _, started = await begin(client, "-> agent\n== agent\nMy own agent.\n-> END")
        assert started["history"][0]["text"] == "My own agent."
        found = await client.call("ink.check", source="-> agent\n== agent\nMy own agent.\n-> END")
        assert found["problems"][0]["severity"] == "WARNING"


async def test_an_agent_inside_a_function_is_a_compile_problem(tmp_path: Path) -> None:
    async with live_server(tmp_path) as client:
        source = "{f()}\n== function f()\n-> agent(-> a, -> b)\n~ return 1\n== a\nHi.\n-> END\n== b\nBye.\n-> END"
        found = await client.call("ink.check", source=source)
        assert not found["ok"] and "Functions may not contain diverts" in found["problems"][0]["message"]


async def test_the_documents_shape_of_a_story_fits_both_kinds(tmp_path: Path) -> None:
    async with live_server(tmp_path) as client:
        document = (await client.http.get("/openrpc.json")).json()
        shape = next(one for one in document["methods"] if one["name"] == "story.get")["result"]["schema"]
        fits = Draft202012Validator({**shape, "components": document["components"]})
        for story_id in (await publish(client), await gate_story(client)):
            fits.validate(await client.call("story.get", story_id=story_id))


WAITS_IN_TEXT = {
    "a choice's text": 'Hello.\n* [{generate("a door")}] -> END',
    "a choice's text by a function": 'Hello.\n* [Go {f()}] -> END\n== function f()\n~ return input("Where?")',
    "a string": 'VAR a = ""\n~ a = "so {generate("a door")}"\n{a}\n-> END',
}


@pytest.mark.parametrize("place", WAITS_IN_TEXT)
async def test_asking_inside_a_text_is_a_problem_that_says_what_to_do(tmp_path: Path, place: str) -> None:
    async with live_server(tmp_path) as client:
        with pytest.raises(RpcFailed) as refused:
            await publish(client, WAITS_IN_TEXT[place])
        problem = refused.value.data["problems"][0]
        assert problem["line"] == 2 and "Keep its answer first, with ~ temp answer = " in problem["message"]


async def test_a_kept_text_may_stand_in_a_choice(tmp_path: Path) -> None:
    async with live_server(tmp_path) as client:
        source = '~ temp answer = generate("a door")\nHello.\n* [Look: {answer}] -> END'
        _, started = await begin(client, source)
        assert "a door" in started["ink"]["choices"][0]["text"]
