"""What is imported is held against the lines of the worlds here, and the answer says what would cross one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.functional.test_secrets_kept import exported, imported_answer, picture
from tests.live import Client, gate_story, live_server

from fabula.actions.library import boundary_warnings

INK = "Rain falls on the road.\nA spider sits on the gate.\n* [Feed the spider] -> END\n"


async def draw_line(client: Client) -> None:
    await client.call("world.create", world_id="salt", display_name="Salt")
    await client.call("boundary.update", world_id="salt", lines=["spiders"])


def warned(answer: dict[str, Any]) -> list[tuple[str, str, str]]:
    return [(one["where"], one["world_id"], one["line"]) for one in answer.get("warnings", [])]


async def test_a_package_says_what_of_it_would_cross_a_line_of_a_world_and_is_taken_in(tmp_path: Path) -> None:
    async with live_server(tmp_path / "one") as client:
        story = await gate_story(client)
        content = (await client.call("character.get", character_id="mara"))["content"]
        spoken = {**content, "personality": "She keeps a spider in a jar. She likes riddles."}
        await client.call("character.update", character_id="mara", content=spoken)
        package = await exported(client, story)
        await client.http.post("/upload/character:mara/cover", content=picture())
        card = (await client.http.get("/download/character:mara/archive")).content
    async with live_server(tmp_path / "two") as other:
        await draw_line(other)
        answer = await imported_answer(other, package)
        assert warned(answer) == [("characters/mara", "salt", "spiders")]
        assert answer["warnings"][0]["words"] == "She keeps a spider in a jar."
        assert "mara" in answer["contents"]["characters"]["ids"]
    async with live_server(tmp_path / "three") as third:
        await third.call("schema.create", schema_id="gate-keeper", display_name="Keeper", fields={})
        taken = await third.http.post("/upload/character:mara/archive", content=card)
        assert "warnings" not in taken.json(), "no world here draws a line"
        await third.call("character.delete", character_id="mara")
        await draw_line(third)
        taken = await third.http.post("/upload/character:mara/archive", content=card)
        assert warned(taken.json()) == [("characters/mara", "salt", "spiders")]


async def test_an_ink_story_and_a_world_are_warned_of_and_a_world_not_of_its_own_lines(tmp_path: Path) -> None:
    async with live_server(tmp_path / "one") as client:
        await draw_line(client)
        published = await client.call("story.create_ink", display_name="Gate", source=INK, files={})
        assert warned(published) == [(f"stories/{published['story_id']}", "salt", "spiders")]
        changed = await client.call("story.update_ink", story_id=published["story_id"], source="Rain.\n-> END\n")
        assert warned(changed) == []
        export = (await client.call("data_package.export_prepare", world_ids=["salt"]))["archive"]
        package = (await client.http.get(f"/download/{export['resource_id']}/{export['file_id']}")).content
    async with live_server(tmp_path / "two") as other:
        assert warned(await imported_answer(other, package)) == []
        assert (await other.call("boundary.get", world_id="salt"))["own"]["lines"] == ["spiders"]


async def test_many_worlds_together_have_so_much_of_an_import_looked_through(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(boundary_warnings, "MOST_LETTERS_IN_ALL", 2 * len(INK))
    async with live_server(tmp_path) as client:
        for world in ("salt", "sand"):
            await client.call("world.create", world_id=world, display_name=world)
            await client.call("boundary.update", world_id=world, lines=["spiders"])
        near = await client.call("story.create_ink", display_name="Gate", source=INK, files={})
        assert len(warned(near)) == 2
        far = await client.call("story.create_ink", display_name="Gate", source="Rain falls.\n" * 9 + INK, files={})
        assert warned(far) == []
