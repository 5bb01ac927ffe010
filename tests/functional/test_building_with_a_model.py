"""A model helps to build a world: it finds what it can quote from the author, and adds no truth of its own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.scripted import ROLES, theatre

from fabula.testing.model_script import Fail

FOUND = [
    {"kind": "entity", "entity_id": "ada", "entity_kind": "character", "name": "Ada", "quote": "my old friend Ada"},
    {"kind": "entity", "entity_id": "dragon", "entity_kind": "character", "name": "Smaug", "quote": "a dragon of gold"},
]


async def test_only_what_the_author_said_is_added_and_a_model_that_fails_is_done_without(tmp_path: Path) -> None:
    async with theatre(tmp_path, model_attempts=1) as stage:
        call = stage.client.call
        bindings = {f"{role}_api_id": "troupe" for role in ROLES}
        await call("api_group.create", api_group_id="default", display_name="Default", bindings=bindings)
        await call("world.create", world_id="salt", display_name="Salt")
        asked: list[Any] = []

        def respond(request: Any) -> str:
            asked.append(request)
            extracts = "What the author has just said" not in json.dumps(request)
            return json.dumps(FOUND) if extracts else "Ada sounds lonely. Who still writes to her?"

        stage.models.script = respond
        building = await call("building.open", world_id="salt")
        assert building["reply"] == "Ada sounds lonely. Who still writes to her?"
        told = await call(
            "building.say", building_id=building["building_id"], text="The light was kept by my old friend Ada alone."
        )
        assert "There is Ada, a character." in [one["sentence"] for one in told["added"]]
        assert not any("Smaug" in one["sentence"] for one in told["added"])
        stage.models.script = lambda request: Fail(status=500)
        told = await call("building.say", building_id=building["building_id"], text="Nobody can leave the island.")
        assert [one["kind"] for one in told["added"]] == ["axiom"] and "?" in told["reply"]
