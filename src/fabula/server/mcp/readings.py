"""What resources and prompts say, read with the tools of the caller: nobody reads here what a tool would refuse."""

from __future__ import annotations

from typing import Final

import orjson

from fabula.actions.house import House
from fabula.actions.tools.call_tool import call_tool
from fabula.actions.tools.callers import Caller, who_is
from fabula.actions.tools.registry import all_tools
from fabula.ports.errors import InvalidRequest, NotFound
from fabula.server.mcp.descriptions import PLACES, PROMPTS, Place, PromptText, address, place_of
from fabula.story.values import Json, JsonObject

LISTED = 50
LINES = 50
_LISTS: Final[tuple[tuple[Place, str, str], ...]] = (
    ("stories", "list_stories", "story_id"),
    ("worlds", "list_worlds", "world_id"),
    ("sessions", "list_sessions", "session_id"),
)


async def list_readings(house: House, caller: Caller) -> list[tuple[str, str, str]]:
    """The first stories, worlds and plays of a caller: address, name and what it is."""
    found = []
    for place, tool, field in _LISTS:
        if not all_tools().allows(tool, who_is(caller)):
            continue
        lines = (await _asked(house, caller, tool, limit=LISTED)).get(place)
        for line in lines if isinstance(lines, list) else []:
            if isinstance(line, dict):
                id = str(line.get(field))
                found.append((address(place, id), str(line.get("display_name") or id), PLACES[place]))
    return found


async def read_address(house: House, caller: Caller, uri: str) -> tuple[str, str]:
    """What stands at an address: its media type and its text."""
    named = place_of(uri)
    if named is None:
        raise NotFound("Nothing has this address. Resources are stories, worlds and sessions of this server.")
    return await _read(house, caller, *named)


async def prompt_text(house: House, caller: Caller, name: str, arguments: dict[str, str]) -> tuple[PromptText, str]:
    """A prompt, and what it says with what was given."""
    prompt = next((one for one in PROMPTS if one.name == name), None)
    if prompt is None:
        raise NotFound(f"There is no prompt named '{name[:100]}'.")
    id = arguments.get(prompt.argument, "")
    if not id:
        raise InvalidRequest(f"The prompt {prompt.name} wants `{prompt.argument}`.")
    place: Place = "stories" if prompt.argument == "story_id" else "worlds"
    _, text = await _read(house, caller, place, id)
    return prompt, f"{prompt.tells}\n\n{prompt.argument}: {id}\n\n{text}"


async def _read(house: House, caller: Caller, place: Place, id: str) -> tuple[str, str]:
    match place:
        case "stories":
            page = await _asked(house, caller, "get_story", story_id=id)
            return "application/json", orjson.dumps(page, option=orjson.OPT_INDENT_2).decode()
        case "worlds":
            written = await _asked(house, caller, "export_world", world_id=id, format="markdown")
            return "text/markdown", str(written["text"])
        case "sessions":
            listed = await _asked(house, caller, "read_transcript", session_id=id, order="newest", limit=LINES)
            lines = listed.get("messages")
            told = [_line(one) for one in lines if isinstance(one, dict)] if isinstance(lines, list) else []
            return "text/plain", "\n".join(reversed(told))


def _line(line: JsonObject) -> str:
    return f"{line.get('speaker_name')}: {line.get('text')}"


async def _asked(house: House, caller: Caller, tool: str, **arguments: Json) -> JsonObject:
    answer: JsonObject = orjson.loads(await call_tool(house, all_tools(), caller, tool, arguments))
    return answer
