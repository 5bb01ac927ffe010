"""A transcript is read in parts that cost what they show, however long it is and whatever became of its lines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.live import Client, RpcFailed, gate_session, live_server

from fabula.actions.plays import sessions


async def said(client: Client, session: str, text: str) -> str:
    spoken = {"kind": "narration", "speaker_id": "narrator", "speaker_name": "Narrator", "text": text}
    return str((await client.call("session_message.create", session, **spoken))["message_id"])


async def pages(client: Client, session: str, limit: int) -> list[dict[str, Any]]:
    """All lines, read page by page."""
    found: list[dict[str, Any]] = []
    cursor: dict[str, str] = {}
    while True:
        page = await client.call("session_message.list", session, limit=limit, **cursor)
        assert len(page["messages"]) <= limit
        found += page["messages"]
        if "next_cursor" not in page:
            return found
        cursor = {"cursor": page["next_cursor"]}


async def test_pages_together_are_the_transcript_also_where_lines_were_struck_out(tmp_path: Path) -> None:
    async with live_server(tmp_path) as client:
        session = await gate_session(client)
        ids = [await said(client, session, f"Line {n}.") for n in range(9)]
        for struck in (ids[1], ids[2], ids[3], ids[8]):
            await client.call("session_message.delete", session, message_id=struck)
        whole = (await client.call("session_message.list", session))["messages"]
        assert [line["text"] for line in whole] == [f"Line {n}." for n in (0, 4, 5, 6, 7)]
        for limit in (1, 2, 5, 6):
            assert await pages(client, session, limit) == whole
        rest = await client.call("session_message.list", session, cursor=ids[4])
        assert rest["messages"] == whole[2:]
        for gone in (ids[2], "message_x"):
            with pytest.raises(RpcFailed) as refused:
                await client.call("session_message.list", session, cursor=gone)
            assert refused.value.code == -32600


@pytest.mark.all
async def test_a_long_transcript_is_shown_whole(tmp_path: Path) -> None:
    async with live_server(tmp_path) as client:
        session = await gate_session(client)
        lines = [f"Line {n}." for n in range(sessions.SHORT_TRANSCRIPT + 5)]
        for line in lines:
            await said(client, session, line)
        shown = await client.call("session.get", session)
        assert [line["text"] for line in shown["history"]] == lines
        assert len((await client.call("session.branches", session))["turns"]) == len(lines) + 1
