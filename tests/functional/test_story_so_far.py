"""The story so far: in a model's words where there is one, corrected with its lines, and told in prompts."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from tests.functional.test_followers import all_done, ladder_at, played
from tests.live import Client, gate_session, live_server
from tests.scripted import theatre

from fabula.story.followers import SUMMARY_EVERY
from fabula.story.resources import ROLES
from fabula.testing.model_script import Fail

PATIENCE_S = 120.0


async def test_a_model_sums_up_in_its_own_words(tmp_path: Path) -> None:
    async with theatre(tmp_path, summaries="auto") as stage:
        session_id = await stage.session("swift")
        await played(stage.client, session_id, SUMMARY_EVERY)
        await all_done(stage.client)
        ladder = await ladder_at(stage.client, session_id)
        assert ladder is not None and ladder.text.startswith("You came to the gate. It was the hour of")
        assert stage.troupe.calls == ["swift"] * SUMMARY_EVERY
        async with asyncio.timeout(PATIENCE_S):
            while not (calls := await summaries_asked(stage.client, session_id)):
                await asyncio.sleep(0.02)  # records of calls are written a moment later
        assert calls == 1


async def summaries_asked(client: Client, session_id: str) -> int:
    async with client.house.store.reading() as unit:
        calls = [record.origin.agent for _, record in await unit.calls.page(session_id=session_id)]
    return calls.count("summariser")


async def test_where_its_model_fails_a_play_is_summed_up_by_rule(tmp_path: Path) -> None:
    async with theatre(tmp_path, summaries="auto") as stage:
        session_id = await stage.session("swift")
        await played(stage.client, session_id, SUMMARY_EVERY - 1)
        stage.troupe.summary = Fail(status=400)
        await played(stage.client, session_id, 1)
        await all_done(stage.client)
        ladder = await ladder_at(stage.client, session_id)
        assert ladder is not None and "You look at the gate, number" in ladder.text


@pytest.fixture
async def client(tmp_path: Path) -> Any:
    async with live_server(tmp_path) as client:
        yield client


async def spoken(client: Client, session_id: str, words: str) -> str:
    """The id of the line that says this."""
    history = (await client.call("session.get", session_id))["history"]
    [found] = [line["message_id"] for line in history if words in line["text"]]
    return str(found)


async def test_a_line_that_was_corrected_or_struck_out_is_summed_up_as_it_reads_now(client: Client) -> None:
    session_id = await gate_session(client)
    await client.turn(session_id, "I look up.")
    line = {"kind": "narration", "speaker_id": "narrator", "speaker_name": "Narrator"}
    told = "Queen Adela persuades Mara to open the gate for the Ruby of Sarn."
    await client.call("session_message.create", session_id, **line, text=told)
    await played(client, session_id, SUMMARY_EVERY - 1, "I look at the gate, number {}.")
    await all_done(client)
    before = await ladder_at(client, session_id)
    assert before is not None and "Ruby of Sarn" in before.text
    ruby = await spoken(client, session_id, told)
    corrected = told.replace("Ruby", "Emerald")
    await client.call("session_message.update", session_id, message_id=ruby, **line, text=corrected)
    await all_done(client)
    after = await ladder_at(client, session_id)
    assert after is not None and "Emerald of Sarn" in after.text and "Ruby" not in after.text
    assert after.last_turn == before.last_turn
    await client.call("session_message.delete", session_id, message_id=ruby)
    await all_done(client)
    struck = await ladder_at(client, session_id)
    assert struck is not None and "Emerald" not in struck.text
    await client.call("session.backtrack", session_id, turns=1)
    played_on = await ladder_at(client, session_id)
    assert played_on is None, "the turn before the summary has none"


async def test_what_was_told_long_ago_stands_in_prompts_as_a_summary(client: Client) -> None:
    session_id = await gate_session(client)
    agents = {role: {"extra": {"history": 40}} for role in ROLES}
    await client.call("preset.create", preset_id="short", display_name="Short", agents=agents)
    await client.call("session.update_config", session_id, preset_id="short")
    await played(client, session_id, 2 * SUMMARY_EVERY, "I count the bars of the gate, number {}.")
    await all_done(client)
    await played(client, session_id, 1, "I count the roses, number {}.")
    shown = await client.call("preset_preview.runtime", session_id, preset_id="short", agent="narrator")
    text = "\n".join(part["compiled_text"] for part in entries_of(shown))
    assert "## The story before that\nYou count the bars of the gate, number" in text
    assert text.index("The story before that") < text.index("What happened in it")


def entries_of(preview: dict[str, Any]) -> list[dict[str, Any]]:
    modules = [module for message in preview["messages"] for module in message["modules"]]
    return [entry for module in modules for entry in module["entries"]]
