"""Plays, stories and everything else are found again: by their order, by their words, in parts that go on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
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
