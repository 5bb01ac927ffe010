"""What is said and felt where a player comes: prepared after the turn before, and exactly the same if it is not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.functional.test_followers import all_done
from tests.live import Client, live_server

from fabula.actions.library.samples import install_samples, sample_folder

STORY, TOWN = "kettle-a-season-on-the-hill", sample_folder() / "kettle-hill"
WALK = ["I go to the well house.", "I go back to the square.", "I go to the inn."]


async def opened(client: Client) -> str:
    await install_samples(client.house, TOWN)
    return str((await client.call("story.start_session", story_id=STORY, seed=11))["session_id"])


async def go(client: Client, session: str, line: str) -> dict[str, Any]:
    """Plays a turn; answers the lore of the scene, once all that follows the turn is done."""
    assert (await client.turn(session, line))[-1]["type"] == "completed"
    await all_done(client)
    return await client.call("session.scene_lore", session)


async def test_lore_is_prepared_for_where_the_scene_leads_and_going_back_finds_it(tmp_path: Path) -> None:
    async with live_server(tmp_path) as client:
        session = await opened(client)
        well, square, inn = [await go(client, session, line) for line in WALK]
        assert [one["title"] for one in (well, square, inn)] == ["The Well House", "The Square", "The Three Kettles"]
        assert well["prepared"] and square["prepared"] and inn["prepared"]
        assert {place["place"] for place in square["ahead"]} >= {"the-inn", "the-mill", "the-well"}
        by_kind = {one["kind"]: one for one in well["pieces"]}
        assert by_kind["access"]["text"].startswith("The well is forty fathoms deep")
        assert by_kind["access"]["why"] == "a lore entry that everybody may know now says it"
        told = await client.call("session.explain_context", session)
        await client.call("session.backtrack", session, turns=2)
        assert await client.call("session.scene_lore", session) == {**well, "type": "scene_lore"}
    sections = {prompt["agent"]: {one["name"]: one for one in prompt["sections"]} for prompt in told["prompts"]}
    assert sections["narrator"]["scene_lore"]["kind"] == "lore" and "scene_lore" not in sections["keeper"]


@pytest.mark.all
async def test_whoever_finds_nothing_prepared_works_out_the_same(tmp_path: Path) -> None:
    (tmp_path / "prepared").mkdir()
    (tmp_path / "alone").mkdir()
    async with live_server(tmp_path / "prepared") as client:
        session = await opened(client)
        prepared = [(await go(client, session, line))["pieces"] for line in WALK]
    async with live_server(tmp_path / "alone") as client:
        session = await opened(client)
    worked_out = []
    for line in WALK:
        # Another process each time, which knows nothing, and finds nothing in the store.
        async with live_server(tmp_path / "alone") as client:
            await client.house.store.write(lambda unit: unit.lore_bundles.prune(keep=0))
            worked_out.append((await go(client, session, line))["pieces"])
    assert worked_out == prepared and all(prepared)
