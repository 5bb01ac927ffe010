"""Plays, stories and everything else are found again: by their order, by their words, in parts that go on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.doors import doors
from tests.live import Client, RpcFailed, gate_session, gate_story, live_server


async def ids_of(client: Client, **params: Any) -> list[str]:
    return [one["session_id"] for one in (await client.call("session.list", **params))["sessions"]]


async def started(client: Client, story_id: str, name: str) -> str:
    """A session under a name; its id."""
    answer = await client.raw("story.start_session", story_id=story_id, display_name=name)
    return str(answer["session_id"])


async def said(client: Client, session: str, text: str, kind: str = "narration") -> str:
    spoken = {"kind": kind, "speaker_id": "mara", "speaker_name": "Mara", "text": text}
    return str((await client.call("session_message.create", session, **spoken))["message_id"])


async def all_parts(client: Client, limit: int, **params: Any) -> list[str]:
    found: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        page = await client.call("session.list", limit=limit, **params, **cursor)
        found += [one["session_id"] for one in page["sessions"]]
        if "next_cursor" not in page:
            return found
        cursor = {"cursor": page["next_cursor"]}


async def test_a_list_of_plays_tells_story_and_last_line(tmp_path: Path) -> None:
    async with live_server(tmp_path) as client:
        session = await gate_session(client)
        (fresh,) = (await client.call("session.list"))["sessions"]
        assert (fresh["story_name"], fresh["last_line"]) == ("The Gate", "")
        line = await said(client, session, "It rains.\n  It pours.")
        spoken = await said(client, session, "Who is there?" + " It is late." * 40, kind="dialogue")
        (shown,) = (await client.call("session.list"))["sessions"]
        assert shown["last_line"].startswith("Mara: Who is there? It is late.") and len(shown["last_line"]) <= 160
        assert shown["last_line"].endswith("…")
        await client.call("session_message.delete", session, message_id=spoken)
        (shown,) = (await client.call("session.list"))["sessions"]
        assert shown["last_line"] == "It rains. It pours."
        await client.call("session_message.delete", session, message_id=line)
        (shown,) = (await client.call("session.list"))["sessions"]
        assert shown["last_line"] == ""


async def test_plays_are_listed_by_last_change_by_creation_and_by_name(tmp_path: Path) -> None:
    async with live_server(tmp_path) as client:
        story = await gate_story(client)
        a, b, c = [await started(client, story, name) for name in ("Zoë", "amber", "Ébène")]
        assert await ids_of(client) == [a, b, c]
        assert await ids_of(client, order="created") == [c, b, a]
        assert await ids_of(client, order="name") == [b, c, a]
        await said(client, b, "Hello.")
        await client.call("session.update", a, display_name="Zoe again")
        assert await ids_of(client, order="updated") == [a, b, c]
        listed = (await client.call("session.list", order="updated"))["sessions"]
        times = [one["updated_at_ms"] for one in listed]
        assert times == sorted(times, reverse=True)
        for order in ("updated", "created", "name"):
            for limit in (1, 2, 3):
                assert await all_parts(client, limit, order=order) == await ids_of(client, order=order)


async def test_plays_are_found_by_words_of_their_name_and_of_their_story(tmp_path: Path) -> None:
    async with live_server(tmp_path) as client:
        story = await gate_story(client)
        ink = (await client.call("story.create_ink", display_name="The Mill", source="Wheat.\n-> END\n"))["story_id"]
        a, b = await started(client, story, "Rainy evening"), await started(client, ink, "Rainy morning")
        assert await ids_of(client, query="rain") == [a, b]
        assert await ids_of(client, query="RÀINY mor") == [b]
        assert await ids_of(client, query="mill") == [b]
        assert await ids_of(client, query="gate eve", order="updated") == [a]
        assert await ids_of(client, query="ainy") == []
        assert await ids_of(client, query="!?") == []
        assert await ids_of(client, query="   ", story_id=ink) == [b]
        assert await ids_of(client, story_id="nowhere") == []
        assert await ids_of(client, status="ended") == [b] and await ids_of(client, status="open", order="name") == [a]


async def test_a_part_of_a_list_goes_on_whatever_happened_meanwhile(tmp_path: Path) -> None:
    async with live_server(tmp_path) as client:
        story = await gate_story(client)
        a, b, c, d = [await started(client, story, name) for name in "abcd"]
        first = await client.call("session.list", order="updated", limit=2)
        assert [one["session_id"] for one in first["sessions"]] == [d, c]
        await said(client, c, "Played again.")
        await client.call("session.delete", d)
        rest = await client.call("session.list", order="updated", limit=2, cursor=first["next_cursor"])
        assert [one["session_id"] for one in rest["sessions"]] == [b, a] and "next_cursor" not in rest


async def test_a_cursor_of_another_list_or_order_is_refused(tmp_path: Path) -> None:
    async with live_server(tmp_path) as client:
        story = await gate_story(client)
        for name in ("a", "b/c", "d"):
            await started(client, story, name)
        cursors = {
            order: (await client.call("session.list", limit=1, **({"order": order} if order else {})))["next_cursor"]
            for order in ("", "updated", "created", "name")
        }
        wrong = [(order, cursor) for order in cursors for other, cursor in cursors.items() if other != order]
        wrong += [("updated", text) for text in ("session.updated:x/a", "session.updated:1", "session.updated:١/a")]
        wrong += [("name", text) for text in ("session.name:a", "session.name:a/", "story.name:a/b", "session.name:")]
        for order, cursor in wrong:
            with pytest.raises(RpcFailed, match="`cursor` names nothing in this list"):
                await client.call("session.list", cursor=cursor, **({"order": order} if order else {}))
        for params in ({"order": "size"}, {"status": "lost"}, {"query": "x" * 201}, {"limit": 0}):
            with pytest.raises(RpcFailed) as refused:
                await client.call("session.list", **params)
            assert refused.value.code in (-32600, -32602)


async def test_stories_are_listed_with_their_length_and_the_callers_plays(tmp_path: Path) -> None:
    async with live_server(tmp_path) as client:
        gate = await gate_story(client)
        untold = "TODO: a boat, and who rows it\nVAR boats = 2\n// nobody yet\n"
        source = f"{untold}-> bank\n== bank ==\n= by_the_water\nFog has come up the river.\n-> END\n"
        fog = (await client.call("story.create_ink", display_name="Älter Nebel", source=source))["story_id"]
        for name in ("one", "two"):
            await started(client, gate, name)
        first, second = (await client.call("story.list", order="name"))["stories"]
        assert [(one["story_id"], one["plays"], one["kind"]) for one in (first, second)] == [
            (fog, 0, "ink"),
            (gate, 2, "graph"),
        ]
        assert first["words"] == 6 and second["words"] > 3 and "graph" not in second
        assert first["created_at_ms"] >= second["created_at_ms"] > 0
        assert await story_ids(client, query="alter ne") == [fog] == await story_ids(client, query="river")
        await client.call("story.update", story_id=gate, display_name="The Old Gate")
        assert await story_ids(client, order="updated") == [gate, fog]
        assert await story_ids(client, query="gate old", order="created", limit=1) == [gate]


async def story_ids(client: Client, **params: Any) -> list[str]:
    return [one["story_id"] for one in (await client.call("story.list", **params))["stories"]]


async def test_a_title_page_tells_a_player_what_they_may_know(tmp_path: Path) -> None:
    async with live_server(tmp_path) as client:
        gate = await gate_story(client)
        await started(client, gate, "one")
        page = await client.call("story.summary", story_id=gate)
        assert (page["display_name"], page["introduction"]) == ("The Gate", "Rain falls on the old road.")
        assert page["cast"] == [{"character_id": "mara", "name": "Mara", "has_cover": False}]
        assert (page["scenes"], page["endings"], page["plays"], page["kind"]) == (2, 1, 1, "graph")
        assert page["pinned"] == [one["display_name"] for one in await pinned(client, gate)]
        story = await client.call("story.get", story_id=gate)
        hidden = [
            node[field] for node in story["graph"]["nodes"] for field in ("title", "scene", "goal") if node[field]
        ]
        assert [text for text in hidden if text in str(page)] == ["The Gate"]
        ink = await client.call("story.create_ink", display_name="Fog", source="Fog.\n-> END\n")
        page = await client.call("story.summary", story_id=ink["story_id"])
        assert (page["cast"], page["kind"], page["words"]) == ([], "ink", 1) and "scenes" not in page
        with pytest.raises(RpcFailed, match="There is no story named 'nowhere'"):
            await client.call("story.summary", story_id="nowhere")


async def pinned(client: Client, story_id: str) -> list[dict[str, Any]]:
    return [one for one in (await client.call("story.get", story_id=story_id))["common_variables"] if one["pinned"]]


async def test_everything_that_authors_keep_is_found_by_words_and_in_an_order(tmp_path: Path) -> None:
    async with live_server(tmp_path) as client:
        texts = {"personality": "Gruff.", "style": "", "system_prompt": "", "schema_id": "weather"}
        for id, name in (("weather", "Wetter"), ("tides", "Gezeiten")):
            await client.call("schema.create", schema_id=id, display_name=name, fields={"wind": {"value_type": "int"}})
        for id, name, tags in (("jo", "Jörn", ["keeper"]), ("ada", "Ada", [])):
            await client.call("character.create", content={"id": id, "name": name, "tags": tags, **texts})
        entry = {"entry_id": "reef", "title": "The Reef", "content": "Ships ran aground."}
        await client.call("lorebook.create", lorebook_id="sarn", display_name="Sarn", entries=[entry])
        await client.call("lorebook.create", lorebook_id="vesk", display_name="Court of Vesk")
        made = await client.call("story_resources.create", story_concept="A lamp goes out.", character_ids=["jo"])
        builtin = await client.call("preset.get", preset_id="builtin")
        await client.call("preset.create", preset_id="dry", display_name="Dry voice", agents=builtin["agents"])

        async def found(method: str, items: str, name: str, **params: Any) -> list[str]:
            return [one[name] for one in (await client.call(method, **params))[items]]

        assert await found("schema.list", "schemas", "schema_id", query="wind", order="name") == ["tides", "weather"]
        assert await found("schema.list", "schemas", "schema_id", query="wett") == ["weather"]
        assert await found("character.list", "characters", "character_id", query="jorn keep") == ["jo"]
        assert await found("character.list", "characters", "character_id", query="gruf", order="updated") == [
            "ada",
            "jo",
        ]
        assert await found("lorebook.list", "lorebooks", "lorebook_id", query="reef") == ["sarn"]
        assert await found("lorebook.list", "lorebooks", "lorebook_id", order="name") == ["vesk", "sarn"]
        assert await found("story_resources.list", "resources", "resource_id", query="lamp") == [made["resource_id"]]
        assert await found("preset.list", "presets", "preset_id", query="dry v") == ["dry"]
        assert (await found("preset.list", "presets", "preset_id", order="created"))[0] == "dry"
        draft = await client.call("story_draft.start", resource_id=made["resource_id"], display_name="Lampe")
        assert await found("story_draft.list", "drafts", "draft_id", query="LAMPE", order="name") == [draft["draft_id"]]
        assert await found("story_draft.list", "drafts", "draft_id", query="nothing") == []


LISTS = ("story", "character", "lorebook", "schema", "preset", "story_resources", "story_draft")


async def test_every_list_refuses_the_cursor_of_another_order(tmp_path: Path) -> None:
    async with live_server(tmp_path) as client:
        for kind in LISTS:
            for order, cursor in (
                ("updated", f"{kind}.created:5/a"),
                ("name", f"{kind}:a"),
                ("created", f"{kind}.created:a"),
                ("updated", "session.updated:5/a"),
            ):
                with pytest.raises(RpcFailed, match="`cursor` names nothing in this list"):
                    await client.call(f"{kind}.list", order=order, cursor=cursor)
            with pytest.raises(RpcFailed, match="`cursor` names nothing in this list"):
                await client.call(f"{kind}.list", query="a", cursor=f"{kind}.name:a/b")


async def hits(client: Client, query: str, **params: Any) -> list[tuple[str, str]]:
    found = await client.call("search.find", query=query, **params)
    return [(one["kind"], one["id"]) for one in found["hits"]]


async def test_anything_is_found_by_a_few_letters_the_best_first(tmp_path: Path) -> None:
    async with live_server(tmp_path) as client:
        gate = await gate_story(client)
        evening = await started(client, gate, "Gatekeepers")
        other = await started(client, gate, "At the gate")
        await said(client, evening, "It rains.")
        await client.call("schema.create", schema_id="gates", display_name="Weather", fields={})
        entry = {"entry_id": "iron", "title": "The iron gate", "content": "Rust."}
        await client.call("lorebook.create", lorebook_id="road", display_name="The Road", entries=[entry])
        head = (await client.call("session.get", evening))["head_turn_id"]
        await client.call("session_turn.update", evening, turn_id=head, name="Gáte of rust", bookmarked=True)

        assert await hits(client, "the gate", kinds=["lorebook_entry", "session", "story"]) == [
            ("story", gate),
            ("session", other),
            ("lorebook_entry", "iron"),
        ]
        assert (await hits(client, "gat", limit=2)) == [("session", evening), ("turn", head)]
        assert ("schema", "gates") in await hits(client, "gates") and len(await hits(client, "gat")) > 4
        assert await hits(client, "GATE rus", kinds=["turn", "schema"]) == [("turn", head)]
        assert await hits(client, "gate", kinds=[]) == await hits(client, "  ") == await hits(client, "?!") == []
        assert await hits(client, "iron", kinds=["lorebook_entry", "session"]) == [("lorebook_entry", "iron")]
        found = {one["kind"]: one for one in reversed((await client.call("search.find", query="gat"))["hits"])}
        assert found["session"] == {
            "type": "search_hit",
            "kind": "session",
            "id": evening,
            "title": "Gatekeepers",
            "excerpt": "It rains.",
            "story_id": gate,
        }
        assert (found["turn"]["session_id"], found["turn"]["excerpt"]) == (evening, "It rains.")
        assert found["lorebook_entry"]["lorebook_id"] == "road" and found["lorebook_entry"]["excerpt"] == "Rust."
        for params in ({"query": "x" * 201}, {"query": "a", "limit": 51}, {"query": "a", "kinds": ["api"]}, {}):
            with pytest.raises(RpcFailed):
                await client.call("search.find", **params)


async def test_what_is_gone_is_not_found(tmp_path: Path) -> None:
    async with live_server(tmp_path) as client:
        session = await gate_session(client)
        await client.call("session.update", session, display_name="Evening")
        head = (await client.call("session.get", session))["head_turn_id"]
        await client.call("session_turn.update", session, turn_id=head, name="Evening star")
        assert await hits(client, "even") == [("session", session), ("turn", head)]
        await client.call("session.delete", session)
        assert await hits(client, "even") == []


async def test_a_player_finds_nothing_that_the_story_has_not_told() -> None:
    async with doors() as house:
        author, owner, other = (house[name].client for name in ("author", "owner", "other"))
        secret = {"entry_id": "murderer", "title": "Zanzibar", "content": "Mara did it.", "secret": True}
        await author.call("lorebook.create", lorebook_id="secrets", display_name="Zanzibar", entries=[secret])
        own, others = await house["owner"].play(house.story_id), await house["other"].play(house.story_id)
        for person, session in ((owner, own), (other, others)):
            await person.call("session.update", session, display_name="Zanzibar evening")
            head = (await person.call("session.get", session))["head_turn_id"]
            await person.call("session_turn.update", session, turn_id=head, name=f"Zanzibar of {session}")
        assert [one[1] for one in await hits(owner, "zanz") if one[0] == "session"] == [own]
        assert {kind for kind, _ in await hits(owner, "zanz")} == {"session", "turn"}
        (turn,) = (await owner.call("search.find", query="zanz", kinds=["turn"]))["hits"]
        assert turn["session_id"] == own
        assert ("lorebook_entry", "murderer") in await hits(author, "zanz")
        assert await hits(owner, "zanz", kinds=["lorebook", "lorebook_entry"]) == []
        story = await author.call("story.get", story_id=house.story_id)
        title = story["display_name"]
        scenes = [node for node in story["graph"]["nodes"] if node["title"] != title]
        for node in scenes:
            assert await hits(owner, node["title"]) == await hits(author, node["title"], kinds=["story"]) == []
        for nobody in ("mara", "gate-world", "builtin"):
            assert {kind for kind, _ in await hits(owner, nobody)} <= {"story", "session"}
        everyones = {id for kind, id in await hits(house["admin"].client, "zanz", kinds=["session"])}
        assert everyones == {own, others}
