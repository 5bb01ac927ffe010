"""Tool results become an event that the NPC can react to, told in words."""

from __future__ import annotations

from collections.abc import Sequence

import orjson

from fabula.story.npc import GameEvent, Someone, ToolResult

TOOL_RESULTS = "tool_results"


def tool_event(results: Sequence[ToolResult], *, turn_id: str) -> GameEvent:
    """What came of the tools; it waits for its turn and never interrupts."""
    return GameEvent(
        event_type=TOOL_RESULTS,
        source=Someone(name="the game", kind="system"),
        text="\n".join(map(_line, results)),
        data={"turn_id": turn_id, "results": [result.as_json() for result in results]},
        interrupt=False,
    )


def _line(result: ToolResult) -> str:
    name = result.name or result.call_id
    if not result.ok:
        return f"{name} failed: {result.error or 'no reason given'}"
    return f"{name}: {orjson.dumps(result.result).decode()}"
