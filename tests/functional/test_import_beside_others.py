"""Others write while a package is looked through, however long that takes."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from tests.live import RpcFailed, live_server

from fabula.actions.library.packages import CommitImport, commit_import
from fabula.formats.packages import DataPackage, PackagePart, write_package
from fabula.ports.actors import OPERATOR
from fabula.story.events import Progress
from fabula.story.values import Json, JsonObject

SLOW = "VAR x = 1\n" + "~ x = x + 1 * x - 3\n" * 3_000 + "-> END\n"
"""It takes about a second to compile."""


def packed(part: PackagePart, documents: dict[str, JsonObject]) -> bytes:
    archive, problems = write_package(DataPackage(created_at_ms=0, documents={part: documents}))
    assert archive is not None, problems
    return archive


async def test_others_write_while_a_package_is_looked_through(tmp_path: Path) -> None:
    stories: dict[str, JsonObject] = {
        f"s{n}": {"kind": "ink", "story_id": f"s{n}", "display_name": "S", "source": SLOW} for n in range(2)
    }
    async with live_server(tmp_path) as client:
        import_id = (await client.call("data_package.import_prepare"))["import_id"]
        await client.http.post(f"/upload/package_import:{import_id}/archive", content=packed("stories", stories))
        looked_at = asyncio.Event()

        def hear(progress: Progress) -> None:
            looked_at.set()

        command = CommitImport(import_id=import_id)
        taking_in = asyncio.create_task(commit_import(client.house, OPERATOR, command, hear))
        await looked_at.wait()
        await client.call("player_profile.create", player_profile_id="p", display_name="P", description="x")
        assert (await client.call("story.list"))["stories"] == [], "the profile was written first"
        await taking_in
        assert len((await client.call("story.list"))["stories"]) == 2


async def test_the_worlds_of_a_package_have_so_many_truths_together(tmp_path: Path) -> None:
    def world(name: str) -> JsonObject:
        person: JsonObject = {"kind": "entity", "entity_kind": "character"}
        canon: list[Json] = [{**person, "entity_id": f"{name}{n}", "name": f"{name} {n}"} for n in range(7_000)]
        return {"world_id": name, "display_name": name, "canon": canon}

    async with live_server(tmp_path) as client:
        import_id = (await client.call("data_package.import_prepare"))["import_id"]
        package = packed("worlds", {name: world(name) for name in ("a", "b", "c")})
        await client.http.post(f"/upload/package_import:{import_id}/archive", content=package)
        with pytest.raises(RpcFailed, match="21000 truths together, and 20000 are the most"):
            await client.call("data_package.import_commit", import_id=import_id)
        assert (await client.call("world.list"))["worlds"] == []
