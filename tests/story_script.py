"""A scripted planner and architect: answers like a good model, unless a test told it to misbehave at some section."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from typing import Any

from tests.live import Client

from fabula.story.values import JsonObject
from fabula.testing.model_script import Behaviour, Say

PLAN = """Title:
The Drowned Door

Opening Situation:
Mara finds a door under the sea.

Suggested Beats:
- The door opens a hand wide.
- Someone knocks from the other side.
"""
_SECTION = re.compile(r"Build section (\d+) of (\d+) now")


class StoryScript:
    """`asked` lists who was asked for what, in order; `instead` maps a section number to answers that come first."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.prompts: list[str] = []
        self.instead: dict[str, list[Behaviour]] = defaultdict(list)

    def __call__(self, request: JsonObject) -> Behaviour:
        messages: Any = request["messages"]
        prompt = "\n".join(message["content"] for message in messages)
        name = who_is_asked(prompt)
        self.asked.append(name)
        self.prompts.append(prompt)
        if self.instead[name]:
            return self.instead[name].pop(0)
        return Say(text=PLAN if name == "planner" else json.dumps(section(int(name))))


def who_is_asked(prompt: str) -> str:
    """`planner`, or the number of the section that the architect is asked for."""
    found = _SECTION.search(prompt)
    return "planner" if found is None else found.group(1)


def section(number: int, **changes: Any) -> dict[str, Any]:
    """The architect's good answer for a section of the plan."""
    here = {
        "id": f"part_{number}",
        "title": f"Part {number}",
        "scene": f"The sea is at its {number}. hour.",
        "goal": "Go on.",
        "characters": ["mara"],
        "transitions": [],
        "on_enter_updates": [],
    }
    answer: dict[str, Any] = {
        "nodes": [here],
        "transition_patches": [],
        "section_summary": f"Part {number} happens.",
    }
    if number == 1:
        opening = {
            "start_node": "part_1",
            "world_state_schema": {"fields": {"tide": {"value_type": "int", "default": 0, "description": "The tide."}}},
            "player_state_schema": {"fields": {}},
            "introduction": "The sea is calm.",
        }
        return {**answer, **opening, **changes}
    way = {"to": f"part_{number}", "condition": {"key": "tide", "op": "gte", "value": number}}
    return {**answer, "transition_patches": [{"node_id": f"part_{number - 1}", "add_transitions": [way]}], **changes}


async def sea_resource(client: Client, *, base_url: str | None = None, **changes: Any) -> str:
    """A resource with one character, and with `base_url` a model that plays all roles; answers the resource's id."""
    await client.call("schema.create", schema_id="keeper", display_name="Keeper", fields={})
    mara = {"id": "mara", "name": "Mara", "personality": "Wary.", "style": "dry", "schema_id": "keeper"}
    await client.call("character.create", content={**mara, "system_prompt": ""})
    if base_url is not None:
        await scripted_group(client, base_url)
    given = {"story_concept": "A lighthouse keeper finds a door under the sea.", "character_ids": ["mara"], **changes}
    resource = await client.call("story_resources.create", **given)
    return str(resource["resource_id"])


async def scripted_group(client: Client, base_url: str) -> None:
    api = {"api_id": "scripted", "display_name": "Scripted", "provider": "open_ai", "base_url": base_url}
    await client.call("api.create", **api, api_key="sk-none", model="scripted-small")
    roles = ("planner", "architect", "director", "actor", "narrator", "keeper", "replyer")
    bindings = {f"{role}_api_id": "scripted" for role in roles}
    await client.call("api_group.create", api_group_id="scripted", display_name="Scripted", bindings=bindings)
